// Two elements become one, of any type that has room in `Bits`: they are the lowest bits of left_i and right_i, and the
// result those of result_o, six steps later. What is above it means nothing. Sums and products of integers wrap.
module rl_collective_element
  import rl_collective_pkg::*;
#(
  parameter int unsigned Bits = 64  // 8, 16, 32 or 64.
) (
  input  logic             clk_i,
  input  logic             step_i,      // Nothing moves without.
  input  op_e              op_i,        // Steady, as is:
  input  datatype_e        datatype_i,
  input  logic [Bits-1:0]  left_i,
  input  logic [Bits-1:0]  right_i,
  output logic [Bits-1:0]  result_o
);
  if (!(Bits inside {8, 16, 32, 64})) begin : gen_check
    $fatal(0, "rl_collective_element: Bits must be 8, 16, 32 or 64 (%m)");
  end
  typedef logic [Bits-1:0] value_t;
  localparam int unsigned Half = Bits / 2;
  function automatic logic signed [63:0] number(value_t bits);
    automatic logic [63:0] wide = 64'(bits);
    case (size_of(
        datatype_i
    ))
      2'd0: return 64'($signed(wide[7:0]));
      2'd1: return 64'($signed(wide[15:0]));
      2'd2: return 64'($signed(wide[31:0]));
      default: return $signed(wide);
    endcase
  endfunction

  // -- 1: all of integers but their product
  logic is_less;
  value_t value, greater, lesser, value1_q, greater1_q, lesser1_q;
  assign is_less = number(right_i) < number(left_i);
  always_comb begin
    case (op_i)
      Sum: value = left_i + right_i;
      Min: value = is_less ? right_i : left_i;
      Max: value = is_less ? left_i : right_i;
      And: value = left_i & right_i;
      Or: value = left_i | right_i;
      default: value = left_i ^ right_i;
    endcase
  end

  // -- 2 and 3: the product of integers or of significands, from those of halves
  logic is_real;
  logic [Bits-1:0] low2_q, first2_q, second2_q, high2_q;
  logic [2*Bits-1:0] product3_q;
  value_t value2_q, value3_q, value4_q, value5_q, real_result;
  always_ff @(posedge clk_i) begin
    if (step_i) begin
      value1_q <= value;
      greater1_q <= is_real ? greater : left_i;
      lesser1_q <= is_real ? lesser : right_i;
      value2_q <= value1_q;
      low2_q <= Bits'(greater1_q[Half-1:0]) * Bits'(lesser1_q[Half-1:0]);
      first2_q <= Bits'(greater1_q[Bits-1:Half]) * Bits'(lesser1_q[Half-1:0]);
      second2_q <= Bits'(greater1_q[Half-1:0]) * Bits'(lesser1_q[Bits-1:Half]);
      value3_q <= value2_q;
      product3_q <= {high2_q, low2_q} + ((2 * Bits)'({1'b0, first2_q} + {1'b0, second2_q}) << Half);
      value4_q <= op_i == Prod ? product3_q[Bits-1:0] : value3_q;
      value5_q <= value4_q;
      result_o <= is_real ? real_result : value5_q;
    end
  end

  if (Bits == 8) begin : gen_integer
    assign is_real = 1'b0;
    assign high2_q = '0;  // Nobody reads the upper half of its product.
    assign {greater, lesser, real_result} = '0;
    logic unused;
    assign unused = ^product3_q;
  end else begin : gen_float
    localparam int unsigned Places = Bits == 64 ? 53 : Bits == 32 ? 24 : 11;
    localparam int unsigned Upper = Places - Half;
    logic [Places-1:0] greater_places, lesser_places;
    assign is_real = is_float(datatype_i);
    assign greater = Bits'(greater_places);
    assign lesser = Bits'(lesser_places);
    // Of integers no more than the lower half of a product is wanted.
    always_ff @(posedge clk_i) begin
      if (step_i) high2_q <= Bits'(greater1_q[Half+:Upper]) * Bits'(lesser1_q[Half+:Upper]);
    end
    rl_collective_float #(
      .Bits(Bits)
    ) u_float (
      .clk_i,
      .step_i,
      .op_i,
      .datatype_i,
      .left_i,
      .right_i,
      .greater_o(greater_places),
      .lesser_o(lesser_places),
      .greater_i(greater1_q[Places-1:0]),
      .lesser_i(lesser1_q[Places-1:0]),
      .product_i(product3_q[2*Places-1:0]),
      .result_o(real_result)
    );
    logic unused;
    assign unused = ^product3_q[2*Bits-1:2*Places];
  end
endmodule
