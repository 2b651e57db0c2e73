// Cuts written bursts into pieces: runs of bytes without a hole between them, each within a longest message. All of a
// piece's words are stored when it is shown, so that a request never waits for its manager.
//
// A piece goes on in the burst that continues its own (rl_bridge_chain). It waits for that one, and for its beats, only
// while there is something else to send: a manager may send none of them before it has the answer to the first.
//
// Bursts that there cannot be, and those of no region, are a piece that is bad. A burst without a single byte is one of
// length 0. A piece says how many bursts end in it.
module rl_bridge_pieces
  import rl_bridge_node_pkg::*;
#(
  parameter int unsigned DataW = 512,
  parameter int unsigned AddrW = 48,
  parameter int unsigned IdW = 6,
  parameter int unsigned Longest = 4096,
  parameter int unsigned Words = 256,     // Of the store, a power of two: two longest messages or more.
  parameter int unsigned Pieces = 16,     // A power of two.
  parameter bit          Joins = 1'b0,
  parameter int unsigned EndsW = 1,
  localparam int unsigned Bytes = DataW / 8,
  localparam int unsigned BeatW = $clog2(Longest / Bytes + 1)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              moved_i,         // A region changes.
  input  logic              busy_i,          // No piece would be taken now.
  input  logic              awvalid_i,
  output logic              awready_o,
  input  logic [IdW-1:0]    awid_i,
  input  logic [AddrW-1:0]  awaddr_i,
  input  logic [7:0]        awlen_i,
  input  logic [2:0]        awsize_i,
  input  logic [1:0]        awburst_i,
  input  logic              wvalid_i,
  output logic              wready_o,
  input  logic [DataW-1:0]  wdata_i,
  input  logic [Bytes-1:0]  wstrb_i,
  input  logic              wlast_i,

  // -- rl_bridge_map
  output logic              map_valid_o,
  output logic [AddrW-1:0]  map_addr_o,
  input  logic              map_done_i,
  input  logic              map_hit_i,
  input  node_t             map_node_i,
  input  logic [63:0]       map_remote_i,

  output logic              piece_valid_o,
  input  logic              piece_take_i,
  output node_t             piece_node_o,
  output logic [63:0]       piece_addr_o,
  output logic [15:0]       piece_length_o,  // Bytes.
  output logic [BeatW-1:0]  piece_beats_o,   // Words that hold them.
  output logic [IdW-1:0]    piece_id_o,
  output logic [EndsW-1:0]  piece_ends_o,    // Bursts that end in it,
  output logic              piece_last_o,    // with nothing of another one behind.
  output logic              piece_bad_o,
  output logic              word_valid_o,
  input  logic              word_take_i,
  output logic [DataW-1:0]  word_o,
  output logic              holds_o          // A burst that leads to a node has not left as pieces.
);
  localparam int unsigned FineW = $clog2(Bytes);
  localparam int unsigned Most = Longest / Bytes;
  typedef logic [BeatW-1:0] beats_t;
  typedef logic [EndsW-1:0] ends_t;
  typedef struct packed {
    node_t          node;
    logic [63:0]    addr;
    logic [15:0]    length;
    beats_t         beats;
    logic [IdW-1:0] id;
    ends_t          ends;
    logic           last;
    logic           bad;
  } piece_t;

  typedef enum logic [1:0] {
    Rests,
    Maps,
    Runs,   // Its beats come.
    Spoils  // They come, and go nowhere.
  } state_e;
  state_e state_q;
  logic aw_take, bad, follows;
  logic [AddrW-1:0] addr_q;
  logic [IdW-1:0] id_q;
  node_t node_q;
  logic [63:FineW] beat_q;  // Of the node's memory: the beat that is looked at.
  rl_bridge_chain #(
    .DataW(DataW),
    .AddrW(AddrW),
    .IdW(IdW),
    .Joins(Joins)
  ) u_chain (
    .clk_i,
    .rst_ni,
    .moved_i,
    .take_i(aw_take),
    .id_i(awid_i),
    .addr_i(awaddr_i),
    .len_i(awlen_i),
    .size_i(awsize_i),
    .burst_i(awburst_i),
    .bad_o(bad),
    .follows_o(follows)
  );
  assign aw_take = awvalid_i && awready_o;
  assign map_valid_o = state_q == Maps;
  assign map_addr_o = addr_q;

  // -- a beat, run by run
  logic held_q, last_q, fresh_q, done, steps;
  logic [DataW-1:0] data_q;
  logic [Bytes-1:0] left_q, rest;
  logic [FineW-1:0] from;
  logic [FineW:0] count;
  logic top;
  rl_bridge_runs #(
    .Width(Bytes)
  ) u_runs (
    .mask_i(left_q),
    .from_o(from),
    .count_o(count),
    .top_o(top),
    .rest_o(rest)
  );

  // -- the piece that grows
  logic
      open_q,
      joins,
      begins,
      ends_burst,
      stays,
      closes_old,
      closes_new,
      closes_idle,
      keeps,
      push,
      pushes_word,
      piece_ready,
      word_ready;
  piece_t grown_q, grown, pushed;
  // A burst that ends the piece is not the end of it if another continues it, or may while nothing waits for the piece.
  assign stays = Joins && ((awvalid_i && follows) || busy_i || piece_valid_o);
  always_comb begin
    joins = held_q && open_q && fresh_q && count != 0 && from == 0;
    begins = held_q && !open_q && count != 0;
    // What cannot go on ends; then the beat is looked at again.
    closes_old = held_q && open_q && !joins;
    ends_burst = held_q && last_q && (closes_old ? count == 0 : rest == '0);
    grown = grown_q;
    if (joins) begin
      grown.length = grown_q.length + 16'(count);
      grown.beats = grown_q.beats + 1'b1;
    end else if (begins)
      grown = '{
          node: node_q,
          addr: {beat_q, from},
          length: 16'(count),
          beats: beats_t'(1),
          id: id_q,
          ends: '0,
          last: 1'b0,
          bad: 1'b0
      };
    grown.ends = grown.ends + ends_t'(ends_burst);
    grown.last = ends_burst || (grown_q.last && !joins && !begins);
    // It goes on if it reaches the beat's end, and neither the burst nor a message ends here.
    keeps = top && (!last_q || stays) && 32'(grown.beats) != Most && (!Joins || grown.ends != '1);
    closes_new = (joins || begins) && !keeps;
    pushed = grown;
    // A burst whose end brings nothing, and for which nothing waits.
    if (state_q == Spoils || (!open_q && count == 0))
      pushed = '{
          node: node_q,
          addr: '0,
          length: '0,
          beats: '0,
          id: id_q,
          ends: ends_t'(1),
          last: 1'b1,
          bad: state_q == Spoils
      };
  end
  // Of what has ended, no answer waits for a burst or a beat that is not there, unless it would wait anyway.
  always_comb begin
    closes_idle = Joins && open_q && !held_q && grown_q.ends != '0 && piece_ready;
    if (state_q == Rests && awvalid_i) closes_idle &= !follows;
    else if (busy_i || piece_valid_o || (state_q == Runs && wvalid_i)) closes_idle = 1'b0;
  end
  assign awready_o = state_q == Rests && (!open_q || piece_ready);
  logic says_empty, spoils_end;
  assign says_empty = held_q && !open_q && count == 0 && last_q && state_q == Runs;
  assign spoils_end = state_q == Spoils && wvalid_i && wready_o && wlast_i;
  assign pushes_word = (joins || begins) && steps;
  assign push = (state_q == Runs && (closes_old || closes_new || says_empty) && steps) || closes_idle ||
      spoils_end;
  assign steps = held_q && piece_ready && word_ready;
  // The beat is done: nothing is left of it, or only what has just been closed.
  assign done = steps && (closes_old ? count == 0 : rest == '0);
  assign wready_o = state_q == Spoils ? piece_ready : state_q == Runs && (!held_q || (done && !last_q));

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Rests;
      held_q <= 1'b0;
      open_q <= 1'b0;
    end else begin
      case (state_q)
        Rests: if (aw_take) state_q <= bad ? Spoils : open_q && follows ? Runs : Maps;
        Maps: if (map_done_i) state_q <= map_hit_i ? Runs : Spoils;
        Runs: if (done && last_q) state_q <= Rests;
        default: if (spoils_end) state_q <= Rests;
      endcase
      if (state_q == Runs && wvalid_i && wready_o) held_q <= 1'b1;
      else if (done) held_q <= 1'b0;
      if (steps) open_q <= (joins || begins) && keeps;
      else if (closes_idle) open_q <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (state_q == Rests) begin
      addr_q <= awaddr_i;
      id_q <= awid_i;
    end
    if (state_q == Maps && map_done_i) begin
      node_q <= map_node_i;
      beat_q <= map_remote_i[63:FineW];
    end else if (done) beat_q <= beat_q + 1'b1;
    if (state_q == Runs && wvalid_i && wready_o) begin
      data_q <= wdata_i;
      left_q <= wstrb_i;
      last_q <= wlast_i;
      fresh_q <= 1'b1;
    end else if (steps && !closes_old) begin
      left_q <= rest;
      fresh_q <= 1'b0;
    end
    if (steps) grown_q <= grown;
  end

  piece_t piece;
  logic [$clog2(Pieces):0] unused_pieces, good_q;
  assign holds_o = state_q == Runs || open_q || good_q != '0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) good_q <= '0;
    else
      good_q <= good_q + ($clog2(
          Pieces
      ) + 1)'(push && !pushed.bad) - ($clog2(
          Pieces
      ) + 1)'(piece_valid_o && piece_take_i && !piece.bad);
  end
  logic [$clog2(Words):0] unused_words;
  rl_fifo #(
    .Width($bits(piece_t)),
    .Depth(Pieces)
  ) u_pieces (
    .clk_i,
    .rst_ni,
    .wvalid_i(push),
    .wready_o(piece_ready),
    .wdata_i(pushed),
    .rvalid_o(piece_valid_o),
    .rready_i(piece_take_i),
    .rdata_o(piece),
    .count_o(unused_pieces)
  );
  rl_fifo #(
    .Width(DataW),
    .Depth(Words),
    .Block(1'b1)
  ) u_words (
    .clk_i,
    .rst_ni,
    .wvalid_i(pushes_word),
    .wready_o(word_ready),
    .wdata_i(data_q),
    .rvalid_o(word_valid_o),
    .rready_i(word_take_i),
    .rdata_o(word_o),
    .count_o(unused_words)
  );
  assign piece_node_o = piece.node;
  assign piece_addr_o = piece.addr;
  assign piece_length_o = piece.length;
  assign piece_beats_o = piece.beats;
  assign piece_id_o = piece.id;
  assign piece_ends_o = piece.ends;
  assign piece_last_o = piece.last;
  assign piece_bad_o = piece.bad;
  logic unused;
  assign unused = ^{unused_pieces, unused_words, map_remote_i[FineW-1:0]};
endmodule
