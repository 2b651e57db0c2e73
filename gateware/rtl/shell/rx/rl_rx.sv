// The receiving side: what waits between MAC and analyzer, and the analyzer, which shows frames to all blocks.
module rl_rx
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
#(
  parameter int unsigned Bulk = 32'(BulkStandard),
  parameter int unsigned Words = 2048
) (
  input  logic           clk_net_i,
  input  logic           rst_net_ni,

  input  logic           rx_valid_i,
  input  logic [63:0]    rx_data_i,
  input  logic [7:0]     rx_keep_i,
  input  logic           rx_last_i,
  input  logic           rx_bad_i,
  output logic           overflow_o,     // A frame found no room, or not enough.

  input  filter_t        filter_i,
  input  session_t       session_i,
  input  logic           barrier_busy_i,
  input  logic           control_busy_i,
  input  room_t          room_i,
  output rx_beat_t       rx_beat_o,
  output logic           hosts_o,
  output logic           last_page_o,
  output divert_reason_e reason_o,
  input  logic           divert_i,
  output logic           heard_o,
  output rx_event_t      event_o,
  output logic           busy_o          // Something of a frame is here or on its way to the blocks.
);
  rx_word_t word;
  logic word_valid, word_ready;
  rl_rx_fifo #(
    .Words(Words)
  ) u_fifo (
    .clk_net_i,
    .rst_net_ni,
    .rx_valid_i,
    .rx_data_i,
    .rx_keep_i,
    .rx_last_i,
    .rx_bad_i,
    .word_valid_o(word_valid),
    .word_ready_i(word_ready),
    .word_o(word),
    .overflow_o
  );
  rl_analyzer #(
    .Bulk(Bulk)
  ) u_analyzer (
    .clk_net_i,
    .rst_net_ni,
    .word_valid_i(word_valid),
    .word_ready_o(word_ready),
    .word_i(word),
    .filter_i,
    .session_i,
    .barrier_busy_i,
    .control_busy_i,
    .room_i,
    .rx_beat_o,
    .hosts_o,
    .last_page_o,
    .reason_o,
    .divert_i,
    .heard_o,
    .event_o
  );
  assign busy_o = rx_valid_i || word_valid || rx_beat_o.word || rx_beat_o.done;
endmodule
