// The source's frames on their way in: heads ahead, of which one is judged while the words of the frame before still
// come, and then word by word into the retransmission memory.
//
// A frame whose way to the link is free asks to be sent on its way in. If that is granted it is held from then on, and
// its words go to the link as they come. Any other is stored first, which takes no judgement, and is held as soon as
// it is there (`commit`). A frame is taken when there is room for all of it, so that nothing inside waits for room.
module rl_transport_source #(
  parameter int unsigned Peers = 256,
  parameter int unsigned DescW = 48,
  parameter int unsigned Slots = 32,
  localparam int unsigned PeerW = $clog2(Peers),
  localparam type index_t = logic [PeerW-1:0],
  localparam type place_t = logic [$clog2(Slots)-1:0]
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  // -- the source
  input  logic             head_valid_i,
  output logic             head_ready_o,
  input  index_t           head_peer_i,
  input  logic [DescW-1:0] head_desc_i,
  input  logic             valid_i,
  output logic             ready_o,
  input  logic             last_i,

  // -- the state
  output logic             push_valid_o,
  input  logic             push_taken_i,
  output index_t           push_peer_o,
  output logic             push_alone_o,
  input  logic             judged_push_i,
  input  logic             sends_i,
  input  place_t           slot_i,
  output logic             commit_valid_o,
  output index_t           commit_peer_o,
  input  logic             judged_commit_i,

  // -- the retransmission memory
  input  logic             room_i,        // For any frame of head_peer_i.
  output logic             take_o,        // A head is taken.
  output logic             put_enters_o,  // A frame will be written and is held already,
  output index_t           put_peer_o,    // of this peer,
  output place_t           put_slot_o,    // in this slot.
  input  logic             put_ready_i,   // A word can be written,
  input  logic             put_may_end_i, // and if it is the last one of a frame that is held already.
  output logic             put_o,         // One is,
  output logic             put_held_o,    // of a frame that is held already or not,
  output index_t           put_now_peer_o,
  output place_t           put_now_slot_o,

  // -- the link
  input  logic             out_alone_i,   // No frame waits for it that was stored.
  input  logic             out_moves_i,   // A frame that is sent on its way in has its turn, and can move.
  output logic             out_valid_o,   // Its next word is there,
  output logic [DescW-1:0] desc_o         // of a frame with this descriptor.
);
  // -- heads
  logic ask_valid_q, asked_q, heads_room, now_there, word, ends;
  logic [2:0] pause_q;
  index_t ask_peer_q;
  logic [2:0] unused_count;
  assign head_ready_o = room_i && heads_room && pause_q == 0 && (!ask_valid_q || judged_push_i);
  assign take_o = head_valid_i && head_ready_o;
  rl_fifo #(
    .Width(PeerW + DescW),
    .Depth(4)
  ) u_heads (
    .clk_i,
    .rst_ni,
    .wvalid_i(take_o),
    .wready_o(heads_room),
    .wdata_i({head_peer_i, head_desc_i}),
    .rvalid_o(now_there),
    .rready_i(ends),
    .rdata_o({put_now_peer_o, desc_o}),
    .count_o(unused_count)
  );

  // -- which way it goes
  typedef struct packed {
    logic   held;
    place_t slot;
  } way_t;
  logic now_valid_q, next_valid_q, way_valid, stores, is_alone, now_free;
  way_t now_q, next_q, way;
  // Frames keep their order: none is sent on its way in while one before it is not held.
  assign is_alone = out_alone_i && !(now_valid_q && !now_q.held) && !commit_valid_o;
  assign push_valid_o = ask_valid_q && !asked_q && !next_valid_q && is_alone;
  assign push_peer_o = ask_peer_q;
  assign push_alone_o = is_alone;
  assign stores = ask_valid_q && !asked_q && !next_valid_q && !is_alone;
  assign way_valid = stores || judged_push_i;
  assign way = '{held: judged_push_i && sends_i, slot: slot_i};
  assign put_enters_o = judged_push_i && sends_i;
  assign put_peer_o = ask_peer_q;
  assign put_slot_o = way.slot;
  assign now_free = !now_valid_q || ends;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      ask_valid_q <= 1'b0;
      asked_q <= 1'b0;
      pause_q <= '0;
      now_valid_q <= 1'b0;
      next_valid_q <= 1'b0;
    end else begin
      ask_valid_q <= take_o || (ask_valid_q && !way_valid);
      asked_q <= push_taken_i || (asked_q && !judged_push_i);
      // What is taken shows in what room is left after three cycles.
      pause_q <= {pause_q[1:0], take_o};
      now_valid_q <= next_valid_q || way_valid || !now_free;
      next_valid_q <= !now_free && (next_valid_q || way_valid);
    end
  end
  always_ff @(posedge clk_i) begin
    if (take_o) ask_peer_q <= head_peer_i;
    if (now_free) now_q <= next_valid_q ? next_q : way;
    if (way_valid) next_q <= way;
  end

  // -- words
  logic is_free;
  // Who frees a frame that has ended before may still be busy with it.
  assign is_free = now_valid_q && put_ready_i && (!last_i || (now_q.held ? put_may_end_i : !commit_valid_o));
  assign ready_o = is_free && (!now_q.held || out_moves_i);
  assign word = valid_i && ready_o;
  assign ends = word && last_i;
  assign put_o = word;
  assign put_held_o = now_q.held;
  assign put_now_slot_o = now_q.slot;
  assign out_valid_o = is_free && now_q.held && valid_i;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) commit_valid_o <= 1'b0;
    else commit_valid_o <= (ends && !now_q.held) || (commit_valid_o && !judged_commit_i);
  end
  always_ff @(posedge clk_i) if (ends && !now_q.held) commit_peer_o <= put_now_peer_o;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (now_valid_q) HasItsHead_A : assert (now_there);
      if (next_valid_q) NextIsBehind_A : assert (now_valid_q && !way_valid);
    end
  end
`endif
endmodule
