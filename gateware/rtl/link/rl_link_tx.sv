// Segments of the transport to the cable, each as a frame: the head, which follows from segment, message and this
// port's address, and behind it the words of the payload. A head is 64 bytes, which are whole words at each width.
module rl_link_tx
  import rl_link_pkg::*;
  import rl_link_wire_pkg::*;
  import rl_transport_pkg::segment_t;
#(
  parameter int unsigned DataW = 64,  // 64, 128, 256 or 512.
  localparam int unsigned KeepW = DataW / 8
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  mac_addr_t        mac_i,      // This port's, steady. No group's.

  // -- segments: all but the words is steady during one
  input  logic             valid_i,
  output logic             ready_o,
  input  segment_t         segment_i,
  input  message_t         message_i,  // Of KindData; as many words as its length says, and one for none.
  input  logic [DataW-1:0] data_i,
  input  logic             last_i,

  // -- frames
  output logic             valid_o,
  input  logic             ready_i,
  output logic [DataW-1:0] data_o,     // Byte 0 of the frame is [7:0] of the first word.
  output logic [KeepW-1:0] keep_o,     // Ones from bit 0 on; all but in the last word.
  output logic             last_o
);
  logic unused_begins, unused_sent, unused;
  rl_wire_tx #(
    .DataW(DataW),
    .HeadBytes(HeadBytes)
  ) u_tx (
    .clk_i,
    .rst_ni,
    .valid_i,
    .ready_o,
    .begins_o(unused_begins),
    .head_i(head_of(mac_i, segment_i, message_i)),
    .length_i(length_of(segment_i, message_i)),
    .data_i,
    .last_i,
    .valid_o,
    .ready_i,
    .data_o,
    .keep_o,
    .last_o,
    .sent_o(unused_sent)
  );
  assign unused = ^{unused_begins, unused_sent};
endmodule
