// A word out of two that follow one another: byte i of the output is byte i + shift of both. With eight bytes, for each
// of a byte's bits a multiplier of 16 by 9 bits shifts that bit of all bytes: a multiplication by 2^n moves by n, and
// devices have multipliers to spare where they lack LUTs. Wider words would take too wide ones.
module rl_funnel #(
  parameter int unsigned Bytes = 8  // Of a word, a power of two.
) (
  input  logic [8*Bytes-1:0] low_i,   // The first word,
  input  logic [8*Bytes-1:0] high_i,  // and the one behind it.
  input  logic [Bytes:0]     back_i,  // 2^(Bytes - shift); the shift is 0 to Bytes.
  output logic [8*Bytes-1:0] data_o   // In the same cycle.
);
  if (Bytes == 8) begin : gen_multiply
    for (genvar b = 0; b < 8; b++) begin : gen_bit
      logic [15:0] bits;
      logic [24:0] moved;
      logic unused;
      for (genvar i = 0; i < 8; i++) begin : gen_byte
        assign bits[i] = low_i[8*i+b];
        assign bits[8+i] = high_i[8*i+b];
        assign data_o[8*i+b] = moved[8+i];
      end
      assign moved = 25'(bits) * 25'(back_i);
      assign unused = ^{moved[24:16], moved[7:0]};
    end
  end else begin : gen_shift
    localparam int unsigned ShiftW = $clog2(Bytes) + 1;
    logic [ShiftW-1:0] shift;
    logic [16*Bytes-1:0] moved;
    logic unused;
    always_comb begin
      shift = '0;
      for (int unsigned i = 0; i <= Bytes; i++) if (back_i[i]) shift |= ShiftW'(Bytes - i);
    end
    assign moved = {high_i, low_i} >> {shift, 3'd0};
    assign data_o = moved[8*Bytes-1:0];
    assign unused = ^moved[16*Bytes-1:8*Bytes];
  end
endmodule
