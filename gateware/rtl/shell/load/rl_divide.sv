// Divides, a bit a cycle.
module rl_divide #(
  parameter int unsigned Width = 22,       // Bits of the dividend and the quotient.
  parameter int unsigned DivisorW = 8
) (
  input  logic                clk_i,
  input  logic                load_i,      // Take the dividend.
  input  logic [Width-1:0]    dividend_i,
  input  logic                step_i,      // Not with load_i. When it is done, a step changes nothing.
  input  logic [DivisorW-1:0] divisor_i,   // Holds; not 0.
  output logic                done_o,      // The next two hold until the next load.
  output logic [Width-1:0]    quotient_o,  // Without a step it is still the dividend.
  output logic [DivisorW-1:0] rest_o
);
  logic [Width-1:0] steps_q;    // A one for each: cheaper than to count.
  logic [DivisorW:0] shifted;   // The rest so far, and one bit more of the dividend.
  logic [DivisorW+1:0] reduced; // Less the divisor; negative if that is more.
  logic step;
  assign shifted = {rest_o, quotient_o[Width-1]};
  assign reduced = {1'b0, shifted} - (DivisorW + 2)'(divisor_i);
  assign done_o = steps_q[Width-1];
  assign step = step_i && !done_o;

  always_ff @(posedge clk_i) begin
    if (load_i) begin
      steps_q <= '0;
      rest_o <= '0;
    end else if (step) begin
      steps_q <= {steps_q[Width-2:0], 1'b1};
      rest_o <= reduced[DivisorW+1] ? shifted[DivisorW-1:0] : reduced[DivisorW-1:0];
    end
    if (load_i || step) begin
      quotient_o <= load_i ? dividend_i : {quotient_o[Width-2:0], !reduced[DivisorW+1]};
    end
  end

  logic unused;
  assign unused = reduced[DivisorW];
endmodule
