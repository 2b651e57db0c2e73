// Messages of other nodes until the streams' sinks take them: a store for each node, out of which whole messages go,
// each when its stream's sink has room. What a sink does not take holds up the nodes that send to it, and nobody else.
//
// Words go in as rl_bridge_take has judged them, when there is room. A message for a stream that nobody takes is read
// and goes nowhere. Every piece that is read gives its credit back, unless the life in which it came has ended.
module rl_bridge_inbox
  import rl_bridge_node_pkg::*;
#(
  parameter int unsigned Nodes = 8,
  parameter int unsigned DataW = 64,
  parameter int unsigned FrameWords = 256,  // Of a longest piece.
  parameter int unsigned Words = 4096,      // For each node, a power of two: its credit in longest pieces.
  parameter int unsigned Sinks = 2,         // Streams 0 to Sinks - 1 have one.
  localparam int unsigned Bytes = DataW / 8,
  localparam int unsigned CountW = $clog2(Bytes) + 1,
  localparam int unsigned NodeW = $clog2(Nodes),
  localparam int unsigned PtrW = $clog2(Words) + 1,
  localparam int unsigned SinkW = $clog2(Sinks + 1)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              clear_i,        // All that is here goes nowhere.
  input  logic [Nodes-1:0]  renew_i,        // A life of this node's ends: what is here of it gives no credit any more.

  input  logic              push_i,
  input  logic [NodeW-1:0]  node_i,
  input  logic [DataW-1:0]  data_i,
  input  logic [CountW-1:0] bytes_i,
  input  logic              last_i,
  input  logic              ends_i,         // A piece's last word.
  input  logic              void_i,         // With push_i or without: node_i's message at hand is for nobody.
  input  logic [15:0]       stream_i,
  input  logic              undo_i,         // The message of this node's that has no end yet never will.
  input  logic [NodeW-1:0]  undo_node_i,
  output logic              room_o,         // For a longest piece of node_i.

  input  logic [Sinks-1:0]  open_i,         // The sink takes messages,
  input  logic [Sinks-1:0]  room_i,         // and has room for a word now and until it gets one.
  output logic              valid_o,
  output logic [SinkW-1:0]  sink_o,
  output logic [DataW-1:0]  data_o,
  output logic [CountW-1:0] bytes_o,
  output logic              last_o,
  output logic [NodeW-1:0]  node_o,
  output logic              lost_o,         // A message was for nobody.
  output logic              consumed_o,     // A piece of node_o's gives credit back.
  output logic              moves_o         // A word is read.
);
  localparam int unsigned LifeW = 4;
  // A message goes to one of the sinks, or nowhere.
  localparam int unsigned Ways = Sinks + 1;
  localparam logic [SinkW-1:0] Nowhere = SinkW'(Sinks);
  typedef logic [NodeW-1:0] index_t;
  typedef logic [SinkW-1:0] way_t;
  typedef logic [PtrW-1:0] ptr_t;
  typedef logic [LifeW-1:0] life_t;
  typedef struct packed {
    logic [DataW-1:0]  data;
    logic [CountW-1:0] bytes;
    logic              last;
    logic              ends;
    way_t              way;
    life_t             life;
  } word_t;

  // -- in: of each node's words, those up to base_q belong to whole messages
  ptr_t [Nodes-1:0] wptr_q, base_q, rptr_q;
  life_t [Nodes-1:0] life_q;
  life_t life_in, life_in_q;
  logic inside_q;
  // Of the message at hand's first word: it says whom the message is for, which may change.
  logic [Nodes-1:0] head_ends_q;
  life_t [Nodes-1:0] head_life_q;
  word_t pushed, word;
  assign room_o = 32'(ptr_t'(wptr_q[node_i] - rptr_q[node_i])) + FrameWords <= Words;
  assign life_in = inside_q ? life_in_q : life_q[node_i];
  assign pushed = '{
          data: data_i,
          bytes: bytes_i,
          last: last_i && push_i,
          ends: push_i ? ends_i : head_ends_q[node_i],
          way: void_i || 32'(stream_i) >= Sinks ? Nowhere : way_t'(stream_i),
          life: push_i ? life_in : head_life_q[node_i]
      };

  // -- out: each way carries a message of one node, and ways and the look for messages take turns at the store
  logic [Ways-1:0] active_q, able, wants;
  index_t [Ways-1:0] whose_q;
  logic [Nodes-1:0] taken, there;
  logic looks, reads, looks_q, reads_q;
  index_t look, look_q, at;
  way_t way, way_q, goes;
  always_comb begin
    taken = '0;
    for (int unsigned w = 0; w < Ways; w++) if (active_q[w]) taken[whose_q[w]] = 1'b1;
    for (int unsigned n = 0; n < Nodes; n++) there[n] = rptr_q[n] != base_q[n] && !taken[n];
    look = look_q;
    for (int unsigned i = 0; i < Nodes; i++) begin
      index_t n;
      n = look_q - index_t'(i);
      if (there[n]) look = n;
    end
    // Whether a message ends with a word is known a cycle after that is asked for.
    able = {1'b1, room_i};
    for (int unsigned w = 0; w < Ways; w++)
    wants[w] = active_q[w] && able[w] && !(reads_q && way_q == way_t'(w));
    way = way_q;
    for (int unsigned i = Ways; i > 0; i--) begin
      way_t w;
      w = way_t'((32'(way_q) + i) % Ways);
      if (wants[w]) way = w;
    end
    looks = there != '0 && !looks_q && !clear_i;
    reads = !looks && wants != '0 && !clear_i;
    at = looks ? look : whose_q[way];
  end
  logic [Ways-1:0] takers;
  assign takers = {1'b1, open_i};
  assign goes = takers[word.way] ? word.way : Nowhere;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {inside_q, looks_q, reads_q, way_q, look_q} <= '0;
      active_q <= '0;
      life_q <= '0;
      {wptr_q, base_q, rptr_q} <= '0;
    end else begin
      if (push_i) inside_q <= !ends_i && !last_i;
      looks_q <= looks;
      reads_q <= reads;
      if (looks) look_q <= look;
      if (reads) way_q <= way;
      if (looks_q && !active_q[goes]) active_q[goes] <= 1'b1;
      if (reads_q && word.last) active_q[way_q] <= 1'b0;
      if (reads) rptr_q[at] <= rptr_q[at] + 1'b1;
      if (push_i) begin
        wptr_q[node_i] <= wptr_q[node_i] + 1'b1;
        if (last_i) base_q[node_i] <= wptr_q[node_i] + 1'b1;
      end
      if (undo_i) wptr_q[undo_node_i] <= base_q[undo_node_i];
      for (int unsigned n = 0; n < Nodes; n++) if (renew_i[n]) life_q[n] <= life_q[n] + 1'b1;
      if (clear_i) begin
        inside_q <= 1'b0;
        active_q <= '0;
        {wptr_q, base_q, rptr_q} <= '0;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (push_i) life_in_q <= life_in;
    if (push_i && wptr_q[node_i] == base_q[node_i]) begin
      head_ends_q[node_i] <= ends_i;
      head_life_q[node_i] <= life_in;
    end
    if (looks_q && !active_q[goes]) whose_q[goes] <= look_q;
    if (reads) node_o <= at;
  end
  rl_ram #(
    .Width($bits(word_t)),
    .Depth(Nodes * Words)
  ) u_words (
    .clk_wr_i(clk_i),
    .we_i(push_i || void_i),
    .waddr_i({node_i, push_i ? wptr_q[node_i][PtrW-2:0] : base_q[node_i][PtrW-2:0]}),
    .wdata_i(pushed),
    .clk_rd_i(clk_i),
    .re_i(1'b1),
    .raddr_i({at, rptr_q[at][PtrW-2:0]}),
    .rdata_o(word)
  );
  assign valid_o = reads_q && way_q != Nowhere && !clear_i;
  assign sink_o = way_q;
  assign {data_o, bytes_o, last_o} = {word.data, word.bytes, word.last};
  assign lost_o = reads_q && way_q == Nowhere && word.last;
  assign consumed_o = reads_q && word.ends && word.life == life_q[node_o];
  assign moves_o = reads_q;
`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni && push_i)
      NoOverrun_A : assert (ptr_t'(wptr_q[node_i] - rptr_q[node_i]) != ptr_t'(Words));
  end
`endif
endmodule
