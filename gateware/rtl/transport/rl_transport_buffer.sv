// The retransmission memory: frames of all peers, from their first word until the peer has acknowledged them.
//
// Memory is given out in blocks of a few words, which a frame links as it grows; a table says for each of a peer's
// slots where its frame begins. So memory is taken by what is in flight, whoever it is for, and not by how many peers
// there are: 256 KiB serve one peer with 32 frames of 4 KiB in flight as well as 256 peers with four short ones each.
// What grows with peers is the table alone, some 10 bits for a slot. Any frame is found in two cycles by its number,
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
  input  index_t           put_peer_i,    // Steady during a frame, as are slot and descriptor.
  output logic             put_room_o,    // A frame of this peer may begin.
  output logic             put_free_o,    // Any frame may.
  input  logic             put_busy_i,    // One is under way.
  input  place_t           put_slot_i,
  input  logic [DescW-1:0] put_desc_i,
  output logic             put_ready_o,
  input  logic             put_i,         // This word goes in, if put_ready_o.
  input  logic [DataW-1:0] put_data_i,
  input  logic             put_last_i,

  // -- frames that go out
  output logic             get_free_o,    // The next may begin.
  input  logic             get_begins_i,  // One does, in its first cycle under way,
  input  logic             get_busy_i,    // until its last word was taken.
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

  // -- in
  logic first_q, opens, spare_valid;
  at_t put_at_q;
  block_t spare, put_block, put_block_q, put_first_q;
  assign opens = first_q || offset_t'(put_at_q) == 0;
  assign put_ready_o = !opens || spare_valid;
  assign put_block = opens ? spare : put_block_q;
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
    if (put_i) put_block_q <= put_block;
    if (put_i && first_q) put_first_q <= put_block;
  end

  // -- out: the slot, its first block, then a word a cycle
  logic found_q, shows_q, fetch, turns;
  at_t get_at_q;
  block_t first_block, get_block, get_block_q, linked;
  offset_t get_offset;
  head_t get_head;
  always_comb begin
    // The next word to be read is the frame's first, or the one after that which shows.
    get_offset = found_q ? '0 : offset_t'(get_at_q) + 1'b1;
    turns = get_offset == 0;
    get_block = found_q ? first_block : turns ? linked : get_block_q;
    fetch = found_q || (get_take_i && !get_last_o);
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      found_q <= 1'b0;
      shows_q <= 1'b0;
    end else begin
      found_q <= get_begins_i;
      shows_q <= fetch || (shows_q && !get_take_i);
    end
  end
  always_ff @(posedge clk_i) begin
    if (fetch) begin
      get_block_q <= get_block;
      get_at_q <= found_q ? '0 : get_at_q + 1'b1;
    end
  end
  assign get_valid_o = shows_q;
  assign get_last_o = get_at_q == get_head.last;
  assign get_desc_o = get_head.desc;

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
    .waddr_i(first_q ? put_block : put_first_q),
    .wdata_i({put_at_q, put_desc_i}),
    .clk_rd_i(clk_i),
    .re_i(found_q),
    .raddr_i(first_block),
    .rdata_o(get_head)
  );

  // -- which block follows: for who sends, and for who frees
  logic links, follow, followed_last, find, find_ready;
  block_t follow_block, followed;
  index_t find_peer;
  place_t find_slot;
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
  assign find_ready = !get_begins_i;
  rl_ram #(
    .Width(BlockW),
    .Depth(Peers * Slots)
  ) u_slots (
    .clk_wr_i(clk_i),
    .we_i(put_i && first_q),
    .waddr_i({put_peer_i, put_slot_i}),
    .wdata_i(put_block),
    .clk_rd_i(clk_i),
    .re_i(get_begins_i || find),
    .raddr_i(get_begins_i ? {get_peer_i, get_slot_i} : {find_peer, find_slot}),
    .rdata_o(first_block)
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
    .put_peer_i,
    .put_room_o,
    .block_valid_o(spare_valid),
    .block_o(spare),
    .take_i(put_i && opens),
    .take_first_i(first_q),
    .put_busy_i,
    .put_slot_i,
    .put_free_o,
    .get_busy_i,
    .get_peer_i,
    .get_slot_i,
    .get_free_o,
    .release_i,
    .release_peer_i,
    .release_slot_i,
    .release_count_i,
    .release_free_o,
    .find_o(find),
    .find_ready_i(find_ready),
    .find_peer_o(find_peer),
    .find_slot_o(find_slot),
    .found_i(first_block),
    .follow_o(follow),
    .follow_block_o(follow_block),
    .followed_i(followed),
    .followed_last_i(followed_last)
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (put_i) PutIsReady_A : assert (put_ready_o && put_busy_i);
      if (put_i && put_at_q == at_t'(FrameWords - 1)) FrameIsNotTooLong_A : assert (put_last_i);
      if (get_begins_i) GetMayBegin_A : assert (get_busy_i && !shows_q && !found_q);
      if (get_take_i) TakenShows_A : assert (get_valid_o);
    end
  end
`endif
endmodule
