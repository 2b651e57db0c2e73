// Messages to streams of other nodes: an AXI-Stream with its destination beside it, cut into pieces of a longest
// message each. A piece goes when all of it is here.
//
// Words are whole but for a message's last. A message for a node or a stream that there cannot be goes nowhere and is
// counted; so does what is longer than a message may be, whose first 64 KiB arrive. When the owner ends the connection
// to a node, what is here for it goes nowhere: its place may be another node's next.
module rl_bridge_send
  import rl_bridge_pkg::*;
  import rl_bridge_node_pkg::*;
#(
  parameter int unsigned Nodes = 8,
  parameter int unsigned DataW = 512,
  parameter int unsigned Longest = 4096,
  parameter int unsigned Words = 256,      // Of the store, a power of two: two pieces or more.
  localparam int unsigned Bytes = DataW / 8
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              s_valid_i,
  output logic              s_ready_o,
  input  logic [DataW-1:0]  s_data_i,
  input  logic [Bytes-1:0]  s_keep_i,    // Ones from bit 0 on.
  input  logic              s_last_i,
  input  node_t             s_node_i,    // Whose stream it is for, and which: looked at with the first word.
  input  logic [15:0]       s_stream_i,
  input  logic              drop_i,      // The owner ends our connection to this node.
  input  node_t             drop_node_i,

  output logic              q_valid_o,
  input  logic              q_ready_i,
  input  logic              q_refused_i,
  output node_t             q_node_o,
  output head_t             q_head_o,
  output logic              w_valid_o,
  input  logic              w_ready_i,
  output logic [DataW-1:0]  w_data_o,
  output logic              w_last_o,
  output logic              refused_o    // A message, or the rest of one, went nowhere.
);
  localparam int unsigned FineW = $clog2(Bytes);
  localparam int unsigned Most = Longest / Bytes;
  localparam int unsigned MostWords = (64 << 10) / Bytes;  // Of a message.
  localparam int unsigned PlaceW = $clog2(MostWords) + 1;
  localparam int unsigned LifeW = 4;
  localparam int unsigned NodeW = $clog2(Nodes);
  typedef logic [LifeW-1:0] life_t;
  typedef struct packed {
    node_t             node;
    life_t             life;    // Of our connection to it, when the message began.
    logic [15:0]       stream;
    logic [PlaceW-1:0] at;      // Words of the message before it.
    logic [15:0]       length;
    logic [PlaceW-1:0] words;
    logic              last;
  } piece_t;

  logic
      inside_q,
      drops_q,
      drops,
      takes,
      ends,
      cuts,
      cuts_off,
      empty,
      piece_ready,
      word_ready,
      pushes_word;
  node_t node_q, node;
  life_t [Nodes-1:0] life_q;
  life_t begun_q, begun;
  logic [15:0] stream_q, stream, length_q, length;
  logic [PlaceW-1:0] at_q, words_q, words;
  logic [FineW:0] bytes;
  assign node = inside_q ? node_q : s_node_i;
  assign stream = inside_q ? stream_q : s_stream_i;
  assign begun = inside_q ? begun_q : life_q[node[NodeW-1:0]];
  assign drops = inside_q ? drops_q : s_node_i >= node_t'(Nodes) || s_stream_i >= Streams;
  assign s_ready_o = piece_ready && word_ready;
  assign takes = s_valid_i && s_ready_o;
  always_comb begin
    bytes = '0;
    for (int unsigned i = 0; i < Bytes; i++) if (s_keep_i[i]) bytes = (FineW + 1)'(i + 1);
  end
  assign empty = bytes == 0 && words_q != 0;
  assign words = words_q + PlaceW'(!empty);
  assign length = length_q + 16'(bytes);
  assign ends = s_last_i;
  assign cuts_off = !ends && at_q + words == PlaceW'(MostWords);
  assign cuts = ends || cuts_off || words == PlaceW'(Most);
  assign pushes_word = takes && !drops && !empty;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      inside_q <= 1'b0;
      at_q <= '0;
      words_q <= '0;
      length_q <= '0;
      refused_o <= 1'b0;
      life_q <= '0;
    end else begin
      if (drop_i) life_q[drop_node_i[NodeW-1:0]] <= life_q[drop_node_i[NodeW-1:0]] + 1'b1;
      refused_o <= takes && ((drops && !inside_q) || (cuts_off && !drops));
      if (takes) begin
        inside_q <= !s_last_i;
        if (s_last_i || drops) begin
          at_q <= '0;
          words_q <= '0;
          length_q <= '0;
        end else begin
          at_q <= cuts ? at_q + words : at_q;
          words_q <= cuts ? '0 : words;
          length_q <= cuts ? '0 : length;
        end
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (takes) begin
      node_q <= node;
      begun_q <= begun;
      stream_q <= stream;
      drops_q <= drops || cuts_off;
    end
  end

  piece_t pushed, piece;
  // A piece that is offered stays until it is taken or refused.
  logic piece_valid, word_valid, sends_q, offers_q, void_q, stale, begins, ends_piece, pops;
  logic [2:0] unused_pieces;
  logic [$clog2(Words):0] unused_words;
  assign pushed = '{
          node: node,
          life: begun,
          stream: stream,
          at: at_q,
          length: length,
          words: words,
          last: ends || cuts_off
      };
  rl_fifo #(
    .Width($bits(piece_t)),
    .Depth(4)
  ) u_pieces (
    .clk_i,
    .rst_ni,
    .wvalid_i(takes && !drops && cuts),
    .wready_o(piece_ready),
    .wdata_i(pushed),
    .rvalid_o(piece_valid),
    .rready_i(begins),
    .rdata_o(piece),
    .count_o(unused_pieces)
  );
  assign stale = piece.life != life_q[piece.node[NodeW-1:0]] && !offers_q;
  assign begins = piece_valid && !sends_q && (stale || q_ready_i);
  assign pops = sends_q && word_valid && (void_q || w_ready_i);
  assign ends_piece = pops && w_last_o;
  logic [PlaceW-1:0] left_q;
  rl_fifo #(
    .Width(DataW),
    .Depth(Words),
    .Block(1'b1)
  ) u_words (
    .clk_i,
    .rst_ni,
    .wvalid_i(pushes_word),
    .wready_o(word_ready),
    .wdata_i(s_data_i),
    .rvalid_o(word_valid),
    .rready_i(pops),
    .rdata_o(w_data_o),
    .count_o(unused_words)
  );
  assign q_valid_o = piece_valid && !sends_q && !stale;
  assign q_node_o = piece.node;
  always_comb begin
    q_head_o = '0;
    q_head_o.kind = short_of(KindStream);
    q_head_o.last = piece.last;
    q_head_o.length = piece.length;
    q_head_o.addr = 64'({piece.at, FineW'(0)});
    q_head_o.tag = piece.stream;
  end
  assign w_valid_o = sends_q && word_valid && !void_q;
  assign w_last_o = left_q == PlaceW'(1);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      sends_q <= 1'b0;
      offers_q <= 1'b0;
    end else begin
      if (begins) sends_q <= 1'b1;
      else if (ends_piece) sends_q <= 1'b0;
      offers_q <= q_valid_o && !q_ready_i && !q_refused_i;
    end
  end
  always_ff @(posedge clk_i) begin
    if (begins) begin
      left_q <= piece.words;
      void_q <= stale;
    end else if (pops) left_q <= left_q - 1'b1;
  end
  logic unused;
  assign unused = ^{unused_pieces, unused_words, drop_node_i};
endmodule
