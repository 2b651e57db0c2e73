// IEEE 754 single precision: sum_o = a_i + b_i, to nearest, ties to even, with subnormals. A result that
// is not a number is the quiet NaN 7fc00000. One sum a cycle, `Latency` cycles later.
module rl_fadd #(
  localparam int unsigned Latency = 6
) (
  input  logic        clk_i,
  input  logic [31:0] a_i,
  input  logic [31:0] b_i,
  output logic [31:0] sum_o
);
  localparam logic [31:0] QuietNan = 32'h7fc0_0000;
  localparam int unsigned SumW = 28;  // Carry, 24 bits of mantissa, guard, round, sticky.

  // Results that do not come from adding.
  typedef struct packed {
    logic nan;
    logic infinite;
    logic sign;  // Of the larger operand, and so of the sum, but where it is 0.
    logic sub;   // The signs differ.
  } kind_t;

  if (Latency != 6) begin : gen_check
    $fatal(0, "rl_fadd: the pipeline has 6 stages (%m)");
  end

  // -- 1: the larger operand first.
  logic swap;
  logic [31:0] x, y;
  logic [7:0] x_exp, y_exp;  // Those of subnormals are 1.
  assign swap = b_i[30:0] > a_i[30:0];
  assign x = swap ? b_i : a_i;
  assign y = swap ? a_i : b_i;
  assign x_exp = x[30:23] == 0 ? 8'd1 : x[30:23];
  assign y_exp = y[30:23] == 0 ? 8'd1 : y[30:23];

  kind_t kind1_q;
  logic [7:0] exp1_q, shift1_q;
  logic [23:0] x1_q, y1_q;
  logic x_nan, y_nan;
  assign x_nan = x[30:23] == '1 && x[22:0] != 0;
  assign y_nan = y[30:23] == '1 && y[22:0] != 0;
  always_ff @(posedge clk_i) begin
    kind1_q.nan <= x_nan || y_nan || (x[30:23] == '1 && y[30:23] == '1 && x[31] != y[31]);
    kind1_q.infinite <= x[30:23] == '1;
    kind1_q.sign <= x[31];
    kind1_q.sub <= x[31] != y[31];
    exp1_q <= x_exp;
    shift1_q <= x_exp - y_exp;
    x1_q <= {x[30:23] != 0, x[22:0]};
    y1_q <= {y[30:23] != 0, y[22:0]};
  end

  // -- 2: the smaller is shifted; what falls out stays as sticky.
  kind_t kind2_q;
  logic [7:0] exp2_q;
  logic [23:0] x2_q;
  logic [26:0] y2_q, wide, kept, lost;
  assign wide = {y1_q, 3'b0};
  assign kept = shift1_q > 8'd26 ? '0 : wide >> shift1_q[4:0];
  assign lost = shift1_q > 8'd26 ? wide : wide & ~({27{1'b1}} << shift1_q[4:0]);
  always_ff @(posedge clk_i) begin
    kind2_q <= kind1_q;
    exp2_q <= exp1_q;
    x2_q <= x1_q;
    y2_q <= kept | 27'(lost != 0);
  end

  // -- 3: added or subtracted; the larger is not less than the smaller.
  kind_t kind3_q;
  logic [7:0] exp3_q;
  logic [SumW-1:0] sum3_q;
  always_ff @(posedge clk_i) begin
    kind3_q <= kind2_q;
    exp3_q <= exp2_q;
    sum3_q <= kind2_q.sub ? {1'b0, x2_q, 3'b0} - {1'b0, y2_q} : {1'b0, x2_q, 3'b0} + {1'b0, y2_q};
  end

  // -- 4: how far it goes to the left: until its first bit is in front, or the exponent is 1.
  kind_t kind4_q;
  logic [7:0] exp4_q;
  logic [SumW-1:0] sum4_q;
  logic [4:0] zeros, shift4_q;
  always_comb begin
    zeros = 5'd27;
    for (int i = 0; i < SumW - 1; i++) if (sum3_q[i]) zeros = 5'(SumW - 2 - i);
  end
  always_ff @(posedge clk_i) begin
    kind4_q <= kind3_q;
    exp4_q <= exp3_q;
    sum4_q <= sum3_q;
    shift4_q <= {3'd0, zeros} < exp3_q ? zeros : 5'(exp3_q - 8'd1);
  end

  // -- 5: shifted. The exponent of a number without a first bit is 0.
  kind_t kind5_q;
  logic [8:0] exp5_q;
  logic [25:0] sum5_q;  // Without the first bit, which the exponent tells.
  logic [26:0] left;
  logic zero5_q;
  assign left = sum4_q[26:0] << shift4_q;
  always_ff @(posedge clk_i) begin
    kind5_q <= kind4_q;
    zero5_q <= sum4_q == 0;
    if (sum4_q[SumW-1]) begin
      sum5_q <= {sum4_q[SumW-2:2], |sum4_q[1:0]};
      exp5_q <= {1'b0, exp4_q} + 9'd1;
    end else begin
      sum5_q <= left[25:0];
      exp5_q <= left[26] ? {1'b0, exp4_q} - 9'(shift4_q) : '0;
    end
  end

  // -- 6: rounded. A carry goes into the exponent, where it belongs.
  logic up;
  logic [31:0] rounded;  // Exponent of 9 bits, mantissa of 23.
  assign up = sum5_q[2] && (sum5_q[1:0] != 0 || sum5_q[3]);
  assign rounded = {exp5_q, sum5_q[25:3]} + 32'(up);
  always_ff @(posedge clk_i) begin
    if (kind5_q.nan) sum_o <= QuietNan;
    else if (kind5_q.infinite || rounded[31:23] >= 9'd255) sum_o <= {kind5_q.sign, 8'hff, 23'd0};
    else sum_o <= {kind5_q.sign && !(zero5_q && kind5_q.sub), rounded[30:0]};
  end
endmodule
