// For simulation: which of the bits that cross into a clock domain arrive a cycle later. None, unless the
// simulator is given +rl_late=SEED; then each does or does not, at random. The seed and the instance's place
// say how, so that a run can be repeated and no two crossings are alike.
module rl_late #(
  parameter int unsigned Width = 1,
  parameter bit          Together = 1'b0  // All bits or none: else each by itself.
) (
  input  logic             clk_i,
  input  logic [Width-1:0] d_i,
  output logic [Width-1:0] arrived_o  // Each bit as it is, or as it was at the last edge.
);
`ifdef SYNTHESIS
  logic unused;
  assign unused = clk_i;
  assign arrived_o = d_i;
`else
  if (!Together && Width > 32) begin : gen_check
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
  logic [Width-1:0] before_q, late;
  // Without a seed it costs next to nothing.
  always_ff @(posedge clk_i) begin
    if (state_q != 0) begin
      state_q <= after(state_q);
      before_q <= d_i;
    end
  end
  if (Together) begin : gen_together
    assign late = {Width{state_q[31]}};
  end else begin : gen_alone
    assign late = state_q[31-:Width];
  end
  assign arrived_o = state_q == 0 ? d_i : (d_i & ~late) | (before_q & late);
`endif
endmodule
