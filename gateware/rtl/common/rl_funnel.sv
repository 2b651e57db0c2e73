// A 64-bit word out of two that follow one another: byte i of the output is byte i + shift of the
// sixteen. For each of a byte's bits a multiplier of 16 by 9 bits shifts that bit of all bytes:
// a multiplication by 2^n moves by n, and devices have multipliers to spare where they lack LUTs.
module rl_funnel (
  input  logic [63:0] low_i,   // Bytes 0 to 7,
  input  logic [63:0] high_i,  // and 8 to 15.
  input  logic [8:0]  back_i,  // 2^(8 - shift); the shift is 0 to 8.
  output logic [63:0] data_o   // In the same cycle.
);
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
endmodule
