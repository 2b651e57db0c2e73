// A message that came early, out of its place of the early area, to where a take wants it: one at a time, in pieces
// that are here whole before they are offered. While one is written the next ones are read. Nothing is read before
// memory has answered for what was on its way there.
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
  localparam int unsigned PieceWords = Piece / Bytes;
  localparam int unsigned Depth = 4 * PieceWords;  // Words that are asked for or here.
  localparam int unsigned DepthW = $clog2(Depth) + 1;
  few_t
      at_q,
      asked_q,
      bytes_q,
      size,
      ask;  // Bytes that were taken, those that were asked for, and all.
  logic [39:0] to_q;
  logic asks, range_ready, ends;
  logic [4:0] waits_q;
  logic [15:0]
      words, ask_words;  // Words of the piece that is next, and of the one that is asked for.
  logic [15:0] words_q;  // Of one that was taken, that are still to go.
  logic [DepthW-1:0]
      here_q, free_q;  // Words of pieces that were not taken, and those for which there is room.
  function automatic few_t piece_of(few_t left);
    return left < few_t'(Piece) ? left : few_t'(Piece);
  endfunction
  function automatic logic [15:0] words_of(few_t bytes);
    return 16'((17'(bytes) + 17'(Bytes - 1)) >> FineW);
  endfunction
  assign size = piece_of(bytes_q - at_q);
  assign ask = piece_of(bytes_q - asked_q);
  assign words = words_of(size);
  assign ask_words = words_of(ask);
  assign asks = busy_o && ask != '0 && free_q >= DepthW'(PieceWords) && waits_q == '0 && range_ready;
  assign piece_valid_o = busy_o && size != '0 && 16'(here_q) >= words;
  assign piece_to_o = to_q + 40'(at_q);
  assign piece_size_o = 16'(size);
  assign word_last_o = words_q == 16'd1;
  assign ends = word_valid_o && word_ready_i && word_last_o && at_q == bytes_q;

  logic room, unused_last;
  logic [DepthW-1:0] unused_stored;
  rl_bridge_burst #(
    .AddrW(40),
    .DataW(DataW),
    .Burst(Burst)
  ) u_range (
    .clk_i,
    .rst_ni,
    .valid_i(asks),
    .ready_o(range_ready),
    .beat_i(BeatW'((place_of(early_i, place_o) + 40'(asked_q)) >> FineW)),
    .beats_i(ask_words),
    .valid_o(ar_valid_o),
    .ready_i(ar_ready_i),
    .beat_o(ar_beat_o),
    .len_o(ar_len_o),
    .last_o(unused_last)
  );
  rl_fifo #(
    .Width(DataW),
    .Depth(Depth),
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
      here_q <= '0;
      free_q <= DepthW'(Depth);
      waits_q <= '0;
    end else begin
      if (begin_i) begin
        busy_o <= 1'b1;
        waits_q <= waits_i;
      end else begin
        if (ends) busy_o <= 1'b0;
        if (answered_i && waits_q != '0) waits_q <= waits_q - 1'b1;
      end
      here_q <= here_q + DepthW'(r_valid_i) - (piece_take_i ? DepthW'(words) : '0);
      free_q <= free_q + DepthW'(word_valid_o && word_ready_i) - (asks ? DepthW'(ask_words) : '0);
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
      asked_q <= '0;
      failed_o <= 1'b0;
    end else begin
      if (piece_take_i) at_q <= at_q + size;
      if (asks) asked_q <= asked_q + ask;
      if (r_valid_i && r_failed_i) failed_o <= 1'b1;
    end
    if (piece_take_i) words_q <= words;
    else if (word_valid_o && word_ready_i) words_q <= words_q - 1'b1;
  end
  logic unused;
  assign unused = ^{unused_last, unused_stored};
`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (rst_ni && r_valid_i) PieceHasRoom_A : assert (room);
`endif
endmodule
