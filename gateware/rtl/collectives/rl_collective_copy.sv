// A message that came early, out of its place of the early area, to where a take wants it: one at a time, in pieces
// that are here whole before they are offered. Nothing is read before memory has answered for what was on its way
// there.
module rl_collective_copy
  import rl_collective_pkg::*;
#(
  parameter int unsigned DataW = 64,
  parameter int unsigned Burst = 16,      // As rl_bridge_burst says.
  localparam int unsigned Bytes = DataW / 8,
  localparam int unsigned FineW = $clog2(Bytes),
  localparam int unsigned BeatW = 40 - FineW
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic [39:0]       early_i,         // Where the early area is.

  // -- a copy, where none is under way
  input  logic              begin_i,
  input  slot_t             place_i,         // Of the neighbour.
  input  slot_t             slot_i,          // The take's,
  input  logic [1:0]        life_i,          // and which of its lives.
  input  logic [39:0]       to_i,
  input  few_t              bytes_i,         // One at least.
  input  logic [4:0]        waits_i,         // Writes that memory must answer before any of it is read.
  input  logic              answered_i,      // It has answered one.
  output logic              busy_o,
  output slot_t             place_o,
  output slot_t             slot_o,
  output logic [1:0]        life_o,
  output logic              failed_o,        // A part of it could not be read.

  // -- a piece that is here: where it goes, and how long it is, until it is taken
  output logic              piece_valid_o,
  input  logic              piece_take_i,
  output logic [39:0]       piece_to_o,
  output logic [15:0]       piece_size_o,

  // -- words of the piece that was taken
  output logic              word_valid_o,
  input  logic              word_ready_i,
  output logic [DataW-1:0]  word_data_o,
  output logic              word_last_o,

  // -- memory
  output logic              ar_valid_o,
  input  logic              ar_ready_i,
  output logic [BeatW-1:0]  ar_beat_o,
  output logic [7:0]        ar_len_o,
  input  logic              r_valid_i,       // Taken at once.
  input  logic [DataW-1:0]  r_data_i,
  input  logic              r_failed_i
);
  if (32'(rl_link_pkg::Eager) != 1 << EagerW) begin : gen_check
    $fatal(0, "rl_collective_copy: Eager must be a power of two (%m)");
  end
  localparam int unsigned Piece = 1024;  // Bytes.
  localparam int unsigned PieceW = $clog2(Piece) + 1;
  few_t at_q, bytes_q, left;
  logic [39:0] to_q;
  logic [PieceW-1:0] piece, piece_q;
  logic asks, asked_q, range_ready, ends;
  logic [4:0] waits_q;
  logic [15:0] words, here_q;  // Words of the piece, and those that are here.
  logic [15:0] words_q;  // Of one that was taken, that are still to go.
  assign left = bytes_q - at_q;
  assign piece = left < few_t'(Piece) ? PieceW'(left) : PieceW'(Piece);
  assign asks = busy_o && !asked_q && left != '0 && waits_q == '0 && range_ready;
  assign words = 16'((17'(piece_q) + 17'(Bytes - 1)) >> FineW);
  assign piece_valid_o = asked_q && here_q == words;
  assign piece_to_o = to_q + 40'(at_q);
  assign piece_size_o = 16'(piece_q);
  assign word_last_o = words_q == 16'd1;
  assign ends = word_valid_o && word_ready_i && word_last_o && at_q == bytes_q;

  logic room, unused_last;
  logic [$clog2(2 * Piece / Bytes):0] unused_stored;
  rl_bridge_burst #(
    .AddrW(40),
    .DataW(DataW),
    .Burst(Burst)
  ) u_range (
    .clk_i,
    .rst_ni,
    .valid_i(asks),
    .ready_o(range_ready),
    .beat_i(BeatW'((place_of(early_i, place_o) + 40'(at_q)) >> FineW)),
    .beats_i(16'((17'(piece) + 17'(Bytes - 1)) >> FineW)),
    .valid_o(ar_valid_o),
    .ready_i(ar_ready_i),
    .beat_o(ar_beat_o),
    .len_o(ar_len_o),
    .last_o(unused_last)
  );
  rl_fifo #(
    .Width(DataW),
    .Depth(2 * Piece / Bytes),
    .Block(1'b1)
  ) u_piece (
    .clk_i,
    .rst_ni,
    .wvalid_i(r_valid_i),
    .wready_o(room),
    .wdata_i(r_data_i),
    .rvalid_o(word_valid_o),
    .rready_i(word_ready_i),
    .rdata_o(word_data_o),
    .count_o(unused_stored)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_o <= 1'b0;
      asked_q <= 1'b0;
      here_q <= '0;
      waits_q <= '0;
    end else begin
      if (begin_i) begin
        busy_o <= 1'b1;
        waits_q <= waits_i;
      end else begin
        if (ends) busy_o <= 1'b0;
        if (answered_i && waits_q != '0) waits_q <= waits_q - 1'b1;
      end
      if (asks) asked_q <= 1'b1;
      else if (piece_take_i) asked_q <= 1'b0;
      here_q <= piece_take_i ? '0 : here_q + 16'(r_valid_i);
    end
  end
  always_ff @(posedge clk_i) begin
    if (begin_i) begin
      place_o <= place_i;
      slot_o <= slot_i;
      life_o <= life_i;
      to_q <= to_i;
      bytes_q <= bytes_i;
      at_q <= '0;
      failed_o <= 1'b0;
    end else begin
      if (piece_take_i) at_q <= at_q + few_t'(piece_q);
      if (r_valid_i && r_failed_i) failed_o <= 1'b1;
    end
    if (asks) piece_q <= piece;
    if (piece_take_i) words_q <= words;
    else if (word_valid_o && word_ready_i) words_q <= words_q - 1'b1;
  end
  logic unused;
  assign unused = ^{unused_last, unused_stored};
`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (rst_ni && r_valid_i) PieceHasRoom_A : assert (room);
`endif
endmodule
