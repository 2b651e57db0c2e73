// Divides by a number that holds: a quotient and a rest each cycle, four cycles later. The number's reciprocal is
// worked out first, a bit a cycle.
//
// With s = Width + DivisorW bits behind the point and the reciprocal m = floor(2^s / d) + 1, m d - 2^s is 1 to d. So
// p m / 2^s is more than p / d, by p d / (d 2^s) at most, which is less than 1 / d for p < 2^Width and d < 2^DivisorW:
// it reaches no next whole number, and the quotient is exact.
module rl_quotient #(
  parameter int unsigned Width = 22,       // Bits of the dividend and the quotient.
  parameter int unsigned DivisorW = 8,
  localparam int unsigned ScaleW = Width + DivisorW
) (
  input  logic                clk_i,
  input  logic                start_i,     // Another divisor.
  input  logic [DivisorW-1:0] divisor_i,   // Holds from start_i on; not 0.
  output logic                ready_o,     // Its reciprocal is there.
  input  logic [Width-1:0]    dividend_i,
  output logic [Width-1:0]    quotient_o,  // Of the dividend four cycles before.
  output logic [DivisorW-1:0] rest_o
);
  localparam int unsigned LowW = (ScaleW + 2) / 2;
  localparam int unsigned HighW = ScaleW + 1 - LowW;
  logic [ScaleW:0] floor, reciprocal_q;
  logic done;
  logic [DivisorW-1:0] unused_rest;
  rl_divide #(
    .Width(ScaleW + 1),
    .DivisorW(DivisorW)
  ) u_reciprocal (
    .clk_i,
    .load_i(start_i),
    .dividend_i({1'b1, ScaleW'(0)}),
    .step_i(1'b1),
    .divisor_i,
    .done_o(done),
    .quotient_o(floor),
    .rest_o(unused_rest)
  );
  always_ff @(posedge clk_i) begin
    reciprocal_q <= floor + 1'b1;
    ready_o <= done && !start_i;
  end

  // Two halves of the product, their sum, the quotient's product with the divisor, and what is left.
  logic [Width+LowW-1:0] low_q;
  logic [Width+HighW-1:0] high_q;
  logic [Width+ScaleW:0] sum;
  logic [Width-1:0] quotient_2_q, quotient_3_q;
  logic [DivisorW-1:0] dividend_1_q, dividend_2_q, dividend_3_q, product_q;
  assign sum = (Width + ScaleW + 1)'(low_q) + {high_q, LowW'(0)};
  always_ff @(posedge clk_i) begin
    low_q <= (Width + LowW)'(dividend_i) * (Width + LowW)'(reciprocal_q[LowW-1:0]);
    high_q <= (Width + HighW)'(dividend_i) * (Width + HighW)'(reciprocal_q[ScaleW:LowW]);
    dividend_1_q <= dividend_i[DivisorW-1:0];
    quotient_2_q <= sum[ScaleW+:Width];
    dividend_2_q <= dividend_1_q;
    // The rest is less than the divisor: its lower bits are all.
    product_q <= quotient_2_q[DivisorW-1:0] * divisor_i;
    quotient_3_q <= quotient_2_q;
    dividend_3_q <= dividend_2_q;
    quotient_o <= quotient_3_q;
    rest_o <= dividend_3_q - product_q;
  end

  logic unused;
  assign unused = ^{unused_rest, sum[ScaleW-1:0], sum[Width+ScaleW]};
endmodule
