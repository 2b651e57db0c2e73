// Two floating-point numbers become one, as IEEE 754 has it: rounded to nearest, ties to even, with subnormals. The
// least and the greatest of a number and a NaN is the number, of two zeros the left one. A NaN that results is
// the quiet NaN without sign and payload.
//
// One source for all types: a significand stands at the left end of so many places as the widest type needs, and what
// depends on the type is where a number's parts are, and where it is rounded. It multiplies nothing itself: the same
// multiplier serves integers (rl_collective_element).
module rl_collective_float
  import rl_collective_pkg::*;
#(
  parameter int unsigned Bits = 64,  // 16, 32 or 64.
  localparam int unsigned Places = Bits == 64 ? 53 : Bits == 32 ? 24 : 11,  // Of a significand.
  localparam int unsigned Twice = 2 * Places
) (
  input  logic               clk_i,
  input  logic               step_i,      // Nothing moves without.
  input  op_e                op_i,        // Steady, as is:
  input  datatype_e          datatype_i,
  input  logic [Bits-1:0]    left_i,
  input  logic [Bits-1:0]    right_i,
  output logic [Places-1:0]  greater_o,     // Significands, that of the larger number, and of the smaller.
  output logic [Places-1:0]  lesser_o,
  input  logic [Places-1:0]  greater_i,     // The same a step later,
  input  logic [Places-1:0]  lesser_i,
  input  logic [Twice-1:0]   product_i,   // and their product after two more.
  output logic [Bits-1:0]    result_o     // Of what came five steps ago.
);
  localparam int unsigned ExpW = Bits == 64 ? 11 : 8;
  localparam int unsigned WideW = ExpW + 2;  // Of a product's exponent, which has a sign.
  localparam int unsigned SumW = Places + 4;  // A carry in front, and three places behind.
  typedef logic [Bits-1:0] value_t;
  typedef logic [Places-1:0] places_t;
  typedef logic signed [WideW-1:0] exp_t;

  // -- types
  function automatic logic [63:0] infinity(datatype_e datatype);
    case (datatype)
      F16: return 64'h7c00;
      Bf16: return 64'h7f80;
      F32: return 64'h7f80_0000;
      default: return 64'h7ff0_0000_0000_0000;
    endcase
  endfunction
  function automatic logic [63:0] quiet_nan(datatype_e datatype);
    case (datatype)
      F16: return 64'h7e00;
      Bf16: return 64'h7fc0;
      F32: return 64'h7fc0_0000;
      default: return 64'h7ff8_0000_0000_0000;
    endcase
  endfunction
  function automatic logic [63:0] sign_bit(datatype_e datatype);
    case (size_of(
        datatype
    ))
      2'd1: return 64'h8000;
      2'd2: return 64'h8000_0000;
      default: return 64'h8000_0000_0000_0000;
    endcase
  endfunction
  typedef struct packed {
    logic            sign;
    logic            nan;
    logic            infinite;
    logic            zero;
    value_t          size;  // Without its sign: greater is farther from 0.
    logic [ExpW-1:0] exp;   // Of a subnormal, 1.
    places_t         significand;
  } real_t;
  function automatic real_t parts(value_t bits, datatype_e datatype);
    automatic logic [63:0] wide = 64'(bits);
    automatic logic [63:0] rest = wide & (sign_bit(datatype) - 1);
    automatic logic [10:0] exp = '0;
    automatic logic [51:0] fraction = '0;
    case (datatype)
      F16: {exp, fraction} = {6'd0, wide[14:10], wide[9:0], 42'd0};
      Bf16: {exp, fraction} = {3'd0, wide[14:7], wide[6:0], 45'd0};
      F32: {exp, fraction} = {3'd0, wide[30:23], wide[22:0], 29'd0};
      default: if (Bits == 64) {exp, fraction} = wide[62:0];
    endcase
    parts.sign = (wide & sign_bit(datatype)) != 0;
    parts.size = Bits'(rest);
    parts.nan = rest > infinity(datatype);
    parts.infinite = rest == infinity(datatype);
    parts.zero = rest == 0;
    parts.exp = exp == '0 ? ExpW'(1) : exp[ExpW-1:0];
    parts.significand = {exp != '0, (Places - 1)'(fraction >> (53 - Places))};
  endfunction

  // -- 1: the larger number first; and results that are known already
  typedef struct packed {
    logic known;
    logic sign;   // Of the result, unless that is 0 and
    logic sub;    // the signs of the numbers of a sum differ.
  } kind_t;
  real_t a, b;
  logic swap, is_less, is_nan, is_infinite, second;
  exp_t bias;
  kind_t kind, kind1_q, kind2_q, kind3_q, kind4_q, kind5_q;
  value_t known, known1_q, known2_q, known3_q, known4_q, known5_q;
  exp_t exp1_q, exp2_q, exp3_q;
  logic [ExpW-1:0] apart1_q;
  assign a = parts(left_i, datatype_i);
  assign b = parts(right_i, datatype_i);
  assign swap = b.size > a.size;
  assign greater_o = swap ? b.significand : a.significand;
  assign lesser_o = swap ? a.significand : b.significand;
  assign bias = datatype_i == F64 ? WideW'(1023) : datatype_i == F16 ? WideW'(15) : WideW'(127);
  // The right one is less.
  assign is_less = a.sign != b.sign ? b.sign && !(a.zero && b.zero) : a.sign ? swap : !swap && a.size != b.size;
  always_comb begin
    case (op_i)
      Min: second = a.nan || (!b.nan && is_less);
      default: second = a.nan || (!b.nan && !is_less && !(a.zero && b.zero));
    endcase
    is_nan = a.nan || b.nan;
    is_infinite = a.infinite || b.infinite;
    kind = '{known: is_nan || is_infinite, sign: swap ? b.sign : a.sign, sub: a.sign != b.sign};
    case (op_i)
      Sum: is_nan |= a.infinite && b.infinite && kind.sub;
      Prod: begin
        is_nan |= is_infinite && (a.zero || b.zero);
        kind.sign = a.sign != b.sign;
        kind.sub = 1'b0;
      end
      default: {kind.known, is_nan} = {1'b1, a.nan && b.nan};
    endcase
    known = Bits'(infinity(datatype_i) | (kind.sign ? sign_bit(datatype_i) : '0));
    if (op_i == Min || op_i == Max) known = second ? right_i : left_i;
    if (is_nan) known = Bits'(quiet_nan(datatype_i));
  end

  // -- 2: the smaller is shifted until both have one exponent; what falls out stays as a place that is not 0
  places_t greater2_q;
  logic [SumW-2:0] lesser2_q, wide, kept, lost;
  logic is_far;
  assign wide = {lesser_i, 3'd0};
  assign is_far = 32'(apart1_q) > Places + 2;
  assign kept = is_far ? '0 : wide >> apart1_q;
  assign lost = is_far ? wide : wide & ~({SumW - 1{1'b1}} << apart1_q);

  // -- 3: the sum, or the product: two bits before the point
  logic [SumW-1:0] sum3_q;
  logic [Twice-1:0] total;
  assign total = op_i == Prod ? product_i : {sum3_q, (Twice - SumW)'(0)};

  // -- 4: how far it goes to the left until its first bit is in front, or the exponent is 1. A product whose exponent
  // is less goes to the right: so it begins `Places` + 2 places below the front.
  localparam int unsigned Below = Places + 2;
  localparam int unsigned ShiftW = $clog2(Below + Twice);
  logic [ShiftW-1:0] zeros, shift, shift4_q;
  logic [Twice-1:0] total4_q;
  exp_t exp, exp4_q;
  always_comb begin
    zeros = ShiftW'(Twice - 1);
    for (int unsigned i = 0; i < Twice; i++) if (total[i]) zeros = ShiftW'(Twice - 1 - i);
  end
  always_comb begin
    exp = WideW'(1);
    if (exp3_q < -exp_t'(Below)) shift = '0;
    else if (exp3_q < exp_t'(zeros)) shift = ShiftW'(exp3_q + exp_t'(Below));
    else begin
      shift = ShiftW'(Below) + zeros;
      exp = exp3_q + WideW'(1) - exp_t'(zeros);
    end
  end

  // -- 5: shifted. The exponent of a number without a first bit is 0.
  logic [Below+Twice-1:0] shifted;
  logic [Places+1:0] tail5_q;  // A place more than there is room for, and whether there is anything below.
  logic [WideW-1:0] exp5_q;
  assign shifted = {Below'(0), total4_q} << shift4_q;
  always_ff @(posedge clk_i) begin
    if (step_i) begin
      kind1_q <= kind;
      known1_q <= known;
      exp1_q <= op_i == Prod ? exp_t'({2'b0, a.exp}) + exp_t'({2'b0, b.exp}) - bias :
          exp_t'({2'b0, swap ? b.exp : a.exp});
      apart1_q <= swap ? b.exp - a.exp : a.exp - b.exp;
      kind2_q <= kind1_q;
      known2_q <= known1_q;
      exp2_q <= exp1_q;
      greater2_q <= greater_i;
      lesser2_q <= kept | (SumW - 1)'(lost != '0);
      kind3_q <= kind2_q;
      known3_q <= known2_q;
      exp3_q <= exp2_q;
      if (kind2_q.sub) sum3_q <= {1'b0, greater2_q, 3'd0} - {1'b0, lesser2_q};
      else sum3_q <= {1'b0, greater2_q, 3'd0} + {1'b0, lesser2_q};
      kind4_q <= kind3_q;
      // Numbers that cancel are a zero without sign.
      kind4_q.sign <= kind3_q.sign && !(kind3_q.sub && total == '0);
      known4_q <= known3_q;
      exp4_q <= exp;
      total4_q <= total;
      shift4_q <= shift;
      kind5_q <= kind4_q;
      known5_q <= known4_q;
      exp5_q <= shifted[Below+Twice-1] ? exp4_q : '0;
      tail5_q <= {shifted[Below+Twice-1-:Places+1], |shifted[Below+Twice-Places-2:0]};
    end
  end

  // -- 6: rounded where the type ends. A carry goes into the exponent, where it belongs.
  logic [54:0] tail;
  logic [65:0] whole, rounded;
  logic half, more;
  assign tail = 55'(tail5_q) << (53 - Places);
  always_comb begin
    case (datatype_i)
      F16: {whole, half, more} = {56'(exp5_q), tail[53:44], tail[43], |tail[42:0]};
      Bf16: {whole, half, more} = {59'(exp5_q), tail[53:47], tail[46], |tail[45:0]};
      F32: {whole, half, more} = {43'(exp5_q), tail[53:31], tail[30], |tail[29:0]};
      default: {whole, half, more} = {14'(exp5_q), tail[53:2], tail[1], tail[0]};
    endcase
    rounded = whole + 66'(half && (more || whole[0]));
    if (rounded > 66'(infinity(datatype_i))) rounded = 66'(infinity(datatype_i));
    result_o = Bits'(rounded[63:0] | (kind5_q.sign ? sign_bit(datatype_i) : '0));
    if (kind5_q.known) result_o = known5_q;
  end
  logic unused;
  assign unused = ^{rounded[65:64], kind5_q.sub, a.size, tail[54]};
endmodule
