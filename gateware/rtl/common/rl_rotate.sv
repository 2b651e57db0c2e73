// Rotates a 64-bit word by bytes: byte i of the input is byte (i + bytes_i) % 8 of the output.
module rl_rotate (
  input  logic [63:0] data_i,
  input  logic [2:0]  bytes_i,
  output logic [63:0] data_o   // In the same cycle.
);
  logic [63:0] by_4, by_6;
  assign by_4 = bytes_i[2] ? {data_i[31:0], data_i[63:32]} : data_i;
  assign by_6 = bytes_i[1] ? {by_4[47:0], by_4[63:48]} : by_4;
  assign data_o = bytes_i[0] ? {by_6[55:0], by_6[63:56]} : by_6;
endmodule
