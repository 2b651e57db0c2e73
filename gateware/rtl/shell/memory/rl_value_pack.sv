// Chaining values, which come as four words of 64 bits each, in wider words.
module rl_value_pack
  import rl_shell_pkg::*;
#(
  parameter int unsigned DataW = 128  // 128, 256 or 512: then the upper half may be anything.
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  input  logic             valid_i,
  output logic             ready_o,
  input  addr_t            addr_i,   // Holds with all four.
  input  logic [63:0]      data_i,
  input  logic             more_i,   // With the last of the four.

  output logic             valid_o,  // A value is there. Until its last word is taken.
  input  logic             take_i,
  output addr_t            addr_o,
  output logic [DataW-1:0] data_o,
  output logic             more_o
);
  localparam int unsigned Words = DataW < 256 ? 256 / DataW : 1;
  localparam int unsigned WordW = Words > 1 ? $clog2(Words) : 1;
  logic [1:0] at_q;
  logic [WordW-1:0] out_q;
  logic [3:0][63:0] value_q;
  logic push, ends;
  assign ready_o = !valid_o;
  assign push = valid_i && ready_o;
  assign ends = take_i && out_q == WordW'(Words - 1);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      at_q <= '0;
      out_q <= '0;
      valid_o <= 1'b0;
    end else begin
      if (push) at_q <= at_q + 1'b1;
      if (push && at_q == '1) valid_o <= 1'b1;
      if (ends) valid_o <= 1'b0;
      if (take_i) out_q <= ends ? '0 : out_q + 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (push) begin
      value_q[at_q] <= data_i;
      addr_o <= addr_i;
      more_o <= more_i;
    end
  end
  if (DataW < 256) begin : gen_part
    logic [Words-1:0][DataW-1:0] words;
    assign words = value_q;
    assign data_o = words[out_q];
  end else begin : gen_whole
    assign data_o = DataW'(value_q);
  end
endmodule
