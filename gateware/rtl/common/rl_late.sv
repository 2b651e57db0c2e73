// For simulation: which of the bits that cross into a clock domain arrive a cycle later. None, unless the
// simulator is given +rl_late=SEED; then each does or does not, at random. The seed and the instance's place
// say how, so that a run can be repeated and no two crossings are alike.
module rl_late #(
  parameter int unsigned Width = 1
) (
  input  logic             clk_i,
  output logic [Width-1:0] late_o
);
`ifdef SYNTHESIS
  logic unused;
  assign unused = clk_i;
  assign late_o = '0;
`else
  if (Width > 32) begin : gen_check
    $fatal(0, "rl_late: 32 bits at most (%m)");
  end

  // Marsaglia's xorshift32, which stays 0 if it begins there.
  function automatic logic [31:0] after(logic [31:0] state);
    logic [31:0] next;
    next = state ^ (state << 13);
    next ^= next >> 17;
    return next ^ (next << 5);
  endfunction
  logic [31:0] state_q;
  initial begin
    int unsigned seed;
    string place;
    state_q = '0;
    if ($value$plusargs("rl_late=%d", seed)) begin
      place = $sformatf("%m");
      state_q = seed;
      for (int i = 0; i < place.len(); i++) state_q = (state_q ^ 32'(place[i])) * 32'd16777619;
      state_q |= 32'd1;
    end
  end
  always_ff @(posedge clk_i) if (state_q != 0) state_q <= after(state_q);
  assign late_o = state_q[31-:Width];
`endif
endmodule
