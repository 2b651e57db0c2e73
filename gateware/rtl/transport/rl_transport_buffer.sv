// The retransmission memory: frames of all peers, from their first word until the peer has acknowledged them.
//
// Memory is given out in blocks of a few words, which a frame links as it grows; a table says for each of a peer's
// slots where its frame begins. So memory is taken by what is in flight, whoever it is for, and not by how many peers
// there are: 256 KiB serve one peer with 32 frames of 4 KiB in flight as well as 256 peers with four short ones each.
// What grows with peers is the table alone, some 12 bits for a slot. Any frame is found in two cycles by its number,
// and the next frame of a peer needs no pointer into the one before. Refused: a ring for each peer, which is as large
// as the longest window for each of them; one ring for all, in which a peer that is silent holds up everybody.
module rl_transport_buffer
  import rl_transport_pkg::*;
#(
  parameter int unsigned Peers = 256,
  parameter int unsigned DataW = 512,
  parameter int unsigned DescW = 48,
  parameter int unsigned Slots = 32,       // Frames of a peer, a power of two, 2 to 256.
  parameter int unsigned Words = 4096,     // A power of two.
  parameter int unsigned BlockWords = 4,   // A power of two, 2 or more.
  parameter int unsigned FrameWords = 64,  // Of the longest frame.
  localparam int unsigned PeerW = $clog2(Peers),
  localparam int unsigned SlotW = $clog2(Slots),
  localparam int unsigned Blocks = Words / BlockWords,
  localparam int unsigned BlockW = $clog2(Blocks),
  localparam int unsigned OffsetW = $clog2(BlockWords),
  localparam int unsigned AtW = FrameWords > 1 ? $clog2(FrameWords) : 1,
  localparam type index_t = logic [PeerW-1:0],
  localparam type place_t = logic [SlotW-1:0],
  localparam type block_t = logic [BlockW-1:0]
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             starts_i,      // As rl_transport_blocks says.
  input  index_t           start_peer_i,

  // -- frames that come in, word by word
  input  index_t           head_peer_i,
  output logic             head_room_o,   // As rl_transport_blocks says.
  input  logic             head_take_i,
  input  logic             put_enters_i,  // One comes, and is held already as this peer's slot.
  input  index_t           put_peer_i,
  input  place_t           put_slot_i,
  output logic             put_may_end_o, // The last word of one that is held already may go in,
  output logic             put_ready_o,   // and any word.
  input  logic             put_i,         // This word does, of such a frame
  input  logic             put_held_i,    // or another,
  input  index_t           put_now_peer_i,
  input  place_t           put_now_slot_i,
  input  logic [DescW-1:0] put_desc_i,
  input  logic [DataW-1:0] put_data_i,
  input  logic             put_last_i,
  input  logic             commit_i,      // The last one that was not held is so from now on. None ends before.
  input  index_t           commit_peer_i,
  input  place_t           commit_slot_i,

  // -- frames that go out
  output logic             get_free_o,    // There is room for one more:
  input  logic             get_enters_i,  // this one.
  input  index_t           get_peer_i,
  input  place_t           get_slot_i,
  output logic             get_valid_o,
  input  logic             get_take_i,
  output logic [DataW-1:0] get_data_o,
  output logic [DescW-1:0] get_desc_o,    // From the first word on.
  output logic             get_last_o,

  // -- frames that are no longer held
  input  logic             release_i,
  input  index_t           release_peer_i,
  input  place_t           release_slot_i,
  input  count_t           release_count_i,
  output logic             release_free_o
);
  if (Words != 1 << $clog2(Words) || BlockWords != 1 << OffsetW || BlockWords < 2) begin : gen_check
    $fatal(0, "rl_transport_buffer: Words and BlockWords must be powers of two (%m)");
  end
  if (Slots != 1 << SlotW || Slots < 2 || Slots > 256) begin : gen_check_slots
    $fatal(0, "rl_transport_buffer: Slots must be a power of two from 2 to 256 (%m)");
  end
  localparam int unsigned FrameBlocks = (FrameWords + BlockWords - 1) / BlockWords;
  if (Blocks < 2 * FrameBlocks) begin : gen_check_words
    $fatal(0, "rl_transport_buffer: Words must be enough for two of the longest frames (%m)");
  end
  typedef logic [OffsetW-1:0] offset_t;
  typedef logic [AtW-1:0] at_t;
  typedef struct packed {
    at_t              last;  // The number of the last word.
    logic [DescW-1:0] desc;
  } head_t;

  typedef struct packed {
    index_t peer;
    place_t slot;
  } frame_t;

  // -- in
  logic first_q, opens, spare_valid;
  at_t put_at_q;
  block_t spare, put_block, put_block_q, put_first_q, first_block_now, done_q;
  assign opens = first_q || offset_t'(put_at_q) == 0;
  assign put_ready_o = !opens || spare_valid;
  assign put_block = opens ? spare : put_block_q;
  assign first_block_now = first_q ? put_block : put_first_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      first_q <= 1'b1;
      put_at_q <= '0;
    end else if (put_i) begin
      first_q <= put_last_i;
      put_at_q <= put_last_i ? '0 : put_at_q + 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (put_i) begin
      put_block_q <= put_block;
      put_first_q <= first_block_now;
      if (put_last_i && !put_held_i) done_q <= first_block_now;
    end
  end

  // -- out: where the next frame begins, while the one before is read
  typedef enum logic [2:0] {
    Nothing,
    Look,   // Where is its first block?
    Found,
    Head,   // And how long is it?
    Ready
  } next_e;
  next_e next_q;
  frame_t next_frame_q;
  block_t next_first_q, first_block;
  head_t next_head;
  logic is_written, looks, moves;
  assign get_free_o = next_q == Nothing;
  assign looks = next_q == Look && !is_written;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) next_q <= Nothing;
    else begin
      case (next_q)
        Nothing: if (get_enters_i) next_q <= Look;
        Look: if (looks) next_q <= Found;
        Found: next_q <= Head;
        Head: next_q <= Ready;
        default: if (moves) next_q <= Nothing;
      endcase
    end
  end
  always_ff @(posedge clk_i) begin
    if (next_q == Nothing) next_frame_q <= {get_peer_i, get_slot_i};
    if (next_q == Found) next_first_q <= first_block;
  end

  // -- then a word a cycle
  logic busy_q, links_read_q, fetch, turns, may_end, ends;
  at_t get_at_q, last_at_q;
  block_t get_block, get_block_q, linked, linked_q;
  offset_t get_offset;
  always_comb begin
    ends = get_take_i && get_last_o;
    moves = next_q == Ready && (!busy_q || ends);
    // The next word to be read is the frame's first, or the one after that which shows.
    get_offset = moves ? '0 : offset_t'(get_at_q) + 1'b1;
    turns = get_offset == 0;
    get_block = moves ? next_first_q : turns ? linked_q : get_block_q;
    fetch = moves || (get_take_i && !get_last_o);
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) busy_q <= 1'b0;
    else busy_q <= moves || (busy_q && !ends);
  end
  always_ff @(posedge clk_i) begin
    if (fetch) begin
      get_block_q <= get_block;
      get_at_q <= moves ? '0 : get_at_q + 1'b1;
    end
    if (moves) {last_at_q, get_desc_o} <= {next_head.last, next_head.desc};
    links_read_q <= fetch && turns;
    if (links_read_q) linked_q <= linked;
  end
  assign get_valid_o = busy_q && (may_end || !get_last_o);
  assign get_last_o = get_at_q == last_at_q;

  rl_ram #(
    .Width(DataW),
    .Depth(Words),
    .Block(1'b1)
  ) u_words (
    .clk_wr_i(clk_i),
    .we_i(put_i),
    .waddr_i({put_block, offset_t'(put_at_q)}),
    .wdata_i(put_data_i),
    .clk_rd_i(clk_i),
    .re_i(fetch),
    .raddr_i({get_block, get_offset}),
    .rdata_o(get_data_o)
  );
  rl_ram #(
    .Width($bits(head_t)),
    .Depth(Blocks)
  ) u_heads (
    .clk_wr_i(clk_i),
    .we_i(put_i && put_last_i),
    .waddr_i(first_block_now),
    .wdata_i({put_at_q, put_desc_i}),
    .clk_rd_i(clk_i),
    .re_i(next_q == Head),
    .raddr_i(next_first_q),
    .rdata_o(next_head)
  );

  // -- which block follows: for who sends, and for who frees
  logic links, follow, followed_last, find;
  block_t follow_block, followed;
  assign links = put_i && opens && !first_q;
  rl_ram #(
    .Width(BlockW),
    .Depth(Blocks)
  ) u_links_out (
    .clk_wr_i(clk_i),
    .we_i(links),
    .waddr_i(put_block_q),
    .wdata_i(put_block),
    .clk_rd_i(clk_i),
    .re_i(fetch && turns),
    .raddr_i(get_block),
    .rdata_o(linked)
  );
  rl_ram #(
    .Width(BlockW),
    .Depth(Blocks)
  ) u_links_free (
    .clk_wr_i(clk_i),
    .we_i(links),
    .waddr_i(put_block_q),
    .wdata_i(put_block),
    .clk_rd_i(clk_i),
    .re_i(follow),
    .raddr_i(follow_block),
    .rdata_o(followed)
  );
  // Whether a block is the last of its frame: its last word says so.
  rl_ram #(
    .Width(1),
    .Depth(Blocks)
  ) u_ends (
    .clk_wr_i(clk_i),
    .we_i(put_i),
    .waddr_i(put_block),
    .wdata_i(put_last_i),
    .clk_rd_i(clk_i),
    .re_i(follow),
    .raddr_i(follow_block),
    .rdata_o(followed_last)
  );

  // -- where frames begin. Who sends comes first.
  frame_t asked;
  rl_ram #(
    .Width(BlockW),
    .Depth(Peers * Slots)
  ) u_slots (
    .clk_wr_i(clk_i),
    .we_i(commit_i || (put_i && first_q && put_held_i)),
    .waddr_i(commit_i ? {commit_peer_i, commit_slot_i} : {put_now_peer_i, put_now_slot_i}),
    .wdata_i(commit_i ? done_q : put_block),
    .clk_rd_i(clk_i),
    .re_i(looks || find),
    .raddr_i(looks ? next_frame_q : asked),
    .rdata_o(first_block)
  );

  // -- what must not be freed
  logic
      put_is_it,
      put_leaves,
      put_left,
      put_back,
      get_is_it,
      get_leaves,
      get_left,
      get_back,
      unused_get,
      unused_free;
  frame_t put_left_frame, get_left_frame;
  rl_transport_guard #(
    .Width($bits(frame_t))
  ) u_put_guard (
    .clk_i,
    .rst_ni,
    .enters_i(put_enters_i),
    .enters_frame_i({put_peer_i, put_slot_i}),
    .free_o(unused_free),
    .ends_i(put_i && put_last_i && put_held_i),
    .may_end_o(put_may_end_o),
    .asked_i(asked),
    .is_it_o(put_is_it),
    .leaves_i(put_leaves),
    .left_o(put_left),
    .left_frame_o(put_left_frame),
    .taken_i(put_back),
    .sent_i(next_frame_q),
    .is_sent_o(is_written)
  );
  logic unused_get_free;
  rl_transport_guard #(
    .Width($bits(frame_t))
  ) u_get_guard (
    .clk_i,
    .rst_ni,
    .enters_i(get_enters_i),
    .enters_frame_i({get_peer_i, get_slot_i}),
    .free_o(unused_get_free),
    .ends_i(ends),
    .may_end_o(may_end),
    .asked_i(asked),
    .is_it_o(get_is_it),
    .leaves_i(get_leaves),
    .left_o(get_left),
    .left_frame_o(get_left_frame),
    .taken_i(get_back),
    .sent_i(next_frame_q),
    .is_sent_o(unused_get)
  );

  rl_transport_blocks #(
    .Peers(Peers),
    .Slots(Slots),
    .Blocks(Blocks),
    .FrameBlocks(FrameBlocks)
  ) u_blocks (
    .clk_i,
    .rst_ni,
    .starts_i,
    .start_peer_i,
    .head_peer_i,
    .head_room_o,
    .head_take_i,
    .block_valid_o(spare_valid),
    .block_o(spare),
    .take_i(put_i && opens),
    .ends_i(put_i && put_last_i),
    .ends_peer_i(put_now_peer_i),
    .ask_peer_o(asked.peer),
    .ask_slot_o(asked.slot),
    .put_is_it_i(put_is_it),
    .get_is_it_i(get_is_it),
    .put_leaves_o(put_leaves),
    .get_leaves_o(get_leaves),
    .put_left_i(put_left),
    .put_left_peer_i(put_left_frame.peer),
    .put_left_slot_i(put_left_frame.slot),
    .put_back_o(put_back),
    .get_left_i(get_left),
    .get_left_peer_i(get_left_frame.peer),
    .get_left_slot_i(get_left_frame.slot),
    .get_back_o(get_back),
    .release_i,
    .release_peer_i,
    .release_slot_i,
    .release_count_i,
    .release_free_o,
    .find_o(find),
    .find_ready_i(!looks),
    .found_i(first_block),
    .follow_o(follow),
    .follow_block_o(follow_block),
    .followed_i(followed),
    .followed_last_i(followed_last)
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (put_i)
        PutIsReady_A : assert (put_ready_o && (!put_held_i || !put_last_i || put_may_end_o));
      if (put_i && put_at_q == at_t'(FrameWords - 1)) FrameIsNotTooLong_A : assert (put_last_i);
      if (get_enters_i) GetMayBegin_A : assert (get_free_o);
      if (get_take_i) TakenShows_A : assert (get_valid_o);
    end
  end
`endif
endmodule
