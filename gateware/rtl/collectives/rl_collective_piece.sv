// A piece of a range of memory: beats as they come, kept until all of them are here, and then its words, from its first
// byte on. Bytes behind its last mean nothing.
module rl_collective_piece #(
  parameter int unsigned DataW = 64,
  parameter int unsigned Depth = 256,  // Beats that there is room for: a piece at any alignment at least.
  localparam int unsigned Bytes = DataW / 8,
  localparam int unsigned FineW = $clog2(Bytes)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              forget_i,  // What is here goes nowhere.

  input  logic [FineW-1:0]  offset_i,  // Of its first byte in its first beat. Steady, as are
  input  logic [15:0]       beats_i,   // beats,
  input  logic [15:0]       words_i,   // and words.
  input  logic              valid_i,   // A beat: there is room.
  input  logic [DataW-1:0]  data_i,

  input  logic              goes_i,    // Its words are wanted, from when it is here until the last is taken.
  output logic              valid_o,
  input  logic              ready_i,
  output logic [DataW-1:0]  data_o,
  output logic              last_o
);
  logic room, beat_valid, beat_ready, takes;
  logic [DataW-1:0] beat;
  logic [15:0] out_q;  // Beats that have left.
  logic [$clog2(Depth):0] unused_stored;
  rl_fifo #(
    .Width(DataW),
    .Depth(Depth),
    .Block(1'b1)
  ) u_beats (
    .clk_i,
    .rst_ni(rst_ni && !forget_i),
    .wvalid_i(valid_i),
    .wready_o(room),
    .wdata_i(data_i),
    .rvalid_o(beat_valid),
    .rready_i(takes),
    .rdata_o(beat),
    .count_o(unused_stored)
  );
  assign takes = goes_i && beat_valid && beat_ready;
  rl_bridge_gather #(
    .DataW(DataW)
  ) u_gather (
    .clk_i,
    .rst_ni,
    .s_valid_i(goes_i && beat_valid),
    .s_ready_o(beat_ready),
    .s_offset_i(offset_i),
    .s_more_i(beats_i != words_i),
    .s_data_i(beat),
    .s_last_i(out_q == beats_i - 1'b1),
    .m_valid_o(valid_o),
    .m_ready_i(ready_i),
    .m_data_o(data_o),
    .m_last_o(last_o)
  );
  always_ff @(posedge clk_i) out_q <= goes_i ? out_q + 16'(takes) : '0;
  logic unused;
  assign unused = ^{room, unused_stored};
`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (rst_ni && valid_i) HasRoom_A : assert (room);
`endif
endmodule
