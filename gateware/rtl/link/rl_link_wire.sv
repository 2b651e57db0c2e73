// The wire side of a link: the transport's segments as frames to the cable, and the cable's frames, as far as they are
// sound and of the link family, as segments to the transport.
//
//   transport (tx) ==> rl_link_tx ==> frames out      transport (rx) <== rl_link_rx <== frames in
module rl_link_wire
  import rl_link_pkg::*;
  import rl_link_wire_pkg::*;
  import rl_transport_pkg::segment_t;
#(
  parameter int unsigned DataW = 64,         // 64, 128, 256 or 512.
  parameter int unsigned LengthMax = 1408,   // Most payload bytes that are taken.
  parameter int unsigned Words = 512,        // As rl_link_rx says.
  parameter int unsigned Heads = 16,
  localparam int unsigned KeepW = DataW / 8
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  mac_addr_t                   mac_i,              // This port's, steady. No group's.

  // -- segments from the transport: all but the words is steady during one
  input  logic                        tx_valid_i,
  output logic                        tx_ready_o,
  input  segment_t                    tx_segment_i,
  input  message_t                    tx_message_i,
  input  logic [DataW-1:0]            tx_data_i,
  input  logic                        tx_last_i,

  // -- and to it: a head for each, and its words
  output logic                        rx_head_valid_o,
  input  logic                        rx_head_ready_i,
  output segment_t                    rx_head_segment_o,
  output message_t                    rx_head_message_o,
  output logic                        rx_valid_o,
  input  logic                        rx_ready_i,
  output logic [DataW-1:0]            rx_data_o,
  output logic                        rx_last_o,

  // -- frames to the cable
  output logic                        out_valid_o,
  input  logic                        out_ready_i,
  output logic [DataW-1:0]            out_data_o,
  output logic [KeepW-1:0]            out_keep_o,
  output logic                        out_last_o,

  // -- and from it, which never waits
  input  logic                        in_valid_i,
  input  logic [DataW-1:0]            in_data_i,
  input  logic [KeepW-1:0]            in_keep_i,
  input  logic                        in_last_i,
  input  logic                        in_bad_i,

  // -- what became of frames that came: how many, for each verdict_e
  output logic                        judged_o,           // Of one: for one cycle.
  output verdict_e                    verdict_o,
  input  logic [$clog2(Verdicts)-1:0] count_of_i,
  output logic [31:0]                 count_o
);
  rl_link_tx #(
    .DataW(DataW)
  ) u_tx (
    .clk_i,
    .rst_ni,
    .mac_i,
    .valid_i(tx_valid_i),
    .ready_o(tx_ready_o),
    .segment_i(tx_segment_i),
    .message_i(tx_message_i),
    .data_i(tx_data_i),
    .last_i(tx_last_i),
    .valid_o(out_valid_o),
    .ready_i(out_ready_i),
    .data_o(out_data_o),
    .keep_o(out_keep_o),
    .last_o(out_last_o)
  );
  rl_link_rx #(
    .DataW(DataW),
    .LengthMax(LengthMax),
    .Words(Words),
    .Heads(Heads)
  ) u_rx (
    .clk_i,
    .rst_ni,
    .mac_i,
    .valid_i(in_valid_i),
    .data_i(in_data_i),
    .keep_i(in_keep_i),
    .last_i(in_last_i),
    .bad_i(in_bad_i),
    .head_valid_o(rx_head_valid_o),
    .head_ready_i(rx_head_ready_i),
    .head_segment_o(rx_head_segment_o),
    .head_message_o(rx_head_message_o),
    .valid_o(rx_valid_o),
    .ready_i(rx_ready_i),
    .data_o(rx_data_o),
    .last_o(rx_last_o),
    .judged_o,
    .verdict_o,
    .count_of_i,
    .count_o
  );
endmodule
