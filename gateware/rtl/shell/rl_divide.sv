// Divides, a bit a cycle.
module rl_divide #(
  parameter int unsigned Width = 22,       // Bits of the dividend and the quotient.
  parameter int unsigned DivisorW = 8
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                start_i,
  input  logic [Width-1:0]    dividend_i,
  input  logic [DivisorW-1:0] divisor_i,   // Holds; not 0.
  output logic                done_o,      // The next two hold from now on.
  output logic [Width-1:0]    quotient_o,
  output logic [DivisorW-1:0] rest_o
);
  localparam int unsigned CountW = $clog2(Width + 1);
  logic [CountW-1:0] left_q;
  logic [DivisorW:0] shifted;   // The rest so far, and one bit more of the dividend.
  logic [DivisorW+1:0] reduced; // Less the divisor; negative if that is more.
  assign shifted = {rest_o, quotient_o[Width-1]};
  assign reduced = {1'b0, shifted} - (DivisorW + 2)'(divisor_i);
  assign done_o = left_q == 0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) left_q <= '0;
    else if (start_i) left_q <= CountW'(Width);
    else if (!done_o) left_q <= left_q - 1'b1;
  end
  always_ff @(posedge clk_i) begin
    if (start_i) begin
      quotient_o <= dividend_i;
      rest_o <= '0;
    end else if (!done_o) begin
      quotient_o <= {quotient_o[Width-2:0], !reduced[DivisorW+1]};
      rest_o <= reduced[DivisorW+1] ? shifted[DivisorW-1:0] : reduced[DivisorW-1:0];
    end
  end

  logic unused;
  assign unused = reduced[DivisorW];
endmodule
