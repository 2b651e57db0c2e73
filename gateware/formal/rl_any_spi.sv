// In place of rl_spi: takes a byte when it likes, and is through with it when it likes, with any answer. It
// shows the bytes that go out and the end of a selection.
module rl_spi #(
  parameter int unsigned Half = 2
) (
  input  logic       clk_i,
  input  logic       rst_ni,

  input  logic       select_i,
  input  logic       valid_i,
  output logic       ready_o,
  input  logic [7:0] data_i,
  output logic       done_o,
  output logic [7:0] data_o,

  output logic       cs_no,
  output logic       sck_o,
  output logic       mosi_o,
  input  logic       miso_i
);
  (* anyseq *) logic takes;
  (* anyseq *) logic ends;
  (* anyseq *) logic [7:0] data;
  logic busy_q = 1'b0;
  assign ready_o = select_i && !busy_q && takes;
  assign done_o = busy_q && ends;
  assign data_o = data;
  assign cs_no = !select_i;
  assign sck_o = 1'b0;
  assign mosi_o = data_i[7] ^ miso_i;
  always_ff @(posedge clk_i) busy_q <= rst_ni && ((valid_i && ready_o) || (busy_q && !done_o));
endmodule
