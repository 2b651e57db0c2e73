// Which blocks of the retransmission memory are free, how many each peer has, and how they become free again.
//
// Blocks that are free stand in a queue. Frames that are no longer held come as runs of a peer's slots; each is
// followed from its first block to its last, two cycles for a block and three more for a frame. A frame that is just
// being written or sent, or is the next one, is left to its end, and then freed (rl_transport_guard): so nothing ever
// goes out that belongs to somebody else by now, and arrivals, which release frames, never wait for the link. Frames
// that came after it are freed before it, so of each slot it is known by itself whether it is free.
//
// Of each frame whose head is taken the longest's blocks are kept back until it has ended, so that words find theirs.
//
// A peer may begin a frame while it has fewer blocks than are free (the dynamic threshold of Choudhury and Hahne,
// 1998), so that one alone has half of the memory. But a quarter of it, in frames of the longest, is spared for peers
// that have nothing inside. So while fewer peers are silent than frames are spared, each of the others always finds
// room for a frame, if not for more; beyond that it is for the owner to give up those that do not answer.
module rl_transport_blocks
  import rl_transport_pkg::*;
#(
  parameter int unsigned Peers = 256,
  parameter int unsigned Slots = 32,       // Frames of a peer, a power of two.
  parameter int unsigned Blocks = 1024,    // A power of two.
  parameter int unsigned FrameBlocks = 16, // Of the longest frame.
  localparam int unsigned PeerW = $clog2(Peers),
  localparam int unsigned SlotW = $clog2(Slots),
  localparam int unsigned BlockW = $clog2(Blocks),
  localparam type index_t = logic [PeerW-1:0],
  localparam type place_t = logic [SlotW-1:0],
  localparam type block_t = logic [BlockW-1:0]
) (
  input  logic   clk_i,
  input  logic   rst_ni,
  input  logic   starts_i,      // The peers have nothing, one after the other.
  input  index_t start_peer_i,

  // -- for frames that come in
  input  index_t head_peer_i,
  output logic   head_room_o,   // A frame of this peer may begin, if none did in the three cycles before,
  input  logic   head_take_i,   // and does.
  output logic   block_valid_o,
  output block_t block_o,       // The next free one,
  input  logic   take_i,        // is taken for a frame,
  input  logic   ends_i,        // and that is its last word's.
  input  index_t ends_peer_i,

  // -- frames that must not be freed before they are written or sent
  output index_t ask_peer_o,    // Is it this one?
  output place_t ask_slot_o,
  input  logic   put_is_it_i,
  input  logic   get_is_it_i,
  output logic   put_leaves_o,  // Then it is left,
  output logic   get_leaves_o,
  input  logic   put_left_i,    // until it comes back.
  input  index_t put_left_peer_i,
  input  place_t put_left_slot_i,
  output logic   put_back_o,
  input  logic   get_left_i,
  input  index_t get_left_peer_i,
  input  place_t get_left_slot_i,
  output logic   get_back_o,

  // -- frames that are no longer held
  input  logic   release_i,
  input  index_t release_peer_i,
  input  place_t release_slot_i,
  input  count_t release_count_i,
  output logic   release_free_o,  // There is room for two more runs.

  // -- the way from a slot to its blocks: what is asked for comes a cycle later.
  output logic   find_o,        // A slot's first block, if find_ready_i: of the frame that is asked for.
  input  logic   find_ready_i,
  input  block_t found_i,
  output logic   follow_o,      // What comes after a block.
  output block_t follow_block_o,
  input  block_t followed_i,
  input  logic   followed_last_i  // Nothing of its frame.
);
  typedef struct packed {
    index_t peer;
    place_t slot;
  } frame_t;
  typedef struct packed {
    frame_t frame;
    count_t count;
  } run_t;
  typedef struct packed {
    logic [SlotW:0]  frames;
    logic [BlockW:0] blocks;
  } usage_t;
  typedef logic [BlockW:0] blocks_t;

  localparam int unsigned Spared = Blocks / (4 * FrameBlocks);  // Frames.
  // -- the free ones: after a reset, all. One is at hand.
  logic filling_q, gives, unused_wready, more, fetches;
  block_t fill_q, given_q, next;
  blocks_t unused_count;
  rl_fifo #(
    .Width(BlockW),
    .Depth(Blocks)
  ) u_free (
    .clk_i,
    .rst_ni,
    .wvalid_i(filling_q || gives),
    .wready_o(unused_wready),
    .wdata_i(filling_q ? fill_q : given_q),
    .rvalid_o(more),
    .rready_i(fetches),
    .rdata_o(next),
    .count_o(unused_count)
  );
  assign fetches = !block_valid_o || take_i;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      filling_q <= 1'b1;
      fill_q <= '0;
      block_valid_o <= 1'b0;
    end else begin
      if (filling_q) fill_q <= fill_q + 1'b1;
      if (&fill_q) filling_q <= 1'b0;
      if (fetches) block_valid_o <= more;
    end
  end
  always_ff @(posedge clk_i) if (fetches) block_o <= next;

  // -- how many are left: free, and not kept back for a frame whose head was taken. None before all peers have nothing
  logic taken_q, ended_q, more_q, any_q, plenty_q;
  blocks_t left_blocks_q, grown_q, ended_blocks_q;
  index_t ended_peer_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {taken_q, ended_q, more_q} <= '0;
      left_blocks_q <= '0;
      grown_q <= '0;
      any_q <= 1'b0;
      plenty_q <= 1'b0;
    end else begin
      taken_q <= head_take_i;
      ended_q <= ends_i;
      more_q <= filling_q || gives;
      if (take_i || ends_i) grown_q <= ends_i ? '0 : grown_q + 1'b1;
      left_blocks_q <= left_blocks_q + blocks_t'(more_q) - (taken_q ? blocks_t'(FrameBlocks) : '0) +
          (ended_q ? blocks_t'(FrameBlocks) - ended_blocks_q : '0);
      any_q <= !starts_i && left_blocks_q >= blocks_t'(FrameBlocks);
      plenty_q <= !starts_i && left_blocks_q >= blocks_t'((1 + Spared) * FrameBlocks);
    end
  end
  always_ff @(posedge clk_i) begin
    ended_blocks_q <= grown_q + blocks_t'(take_i);
    ended_peer_q <= ends_peer_i;
  end

  // -- who has how many: frames whose heads were taken, blocks of those that have ended, less what was given back.
  // A peer's frames get its slots in turn: which one and for which time, odd or even, follows from how many were taken.
  usage_t taken, returned, returned_here, has;
  logic [SlotW:0] frames;
  frame_t now_q;
  logic frame_ends;
  blocks_t walked_q;
  rl_lutram #(
    .Width(SlotW + 1),
    .Depth(Peers)
  ) u_frames (
    .clk_i,
    .we_i(head_take_i || starts_i),
    .waddr_i(starts_i ? start_peer_i : head_peer_i),
    .wdata_i(starts_i ? '0 : frames + 1'b1),
    .raddr_i(head_peer_i),
    .rdata_o(frames)
  );
  for (genvar i = 0; i < 2; i++) begin : gen_blocks
    blocks_t shown;
    rl_lutram #(
      .Width(BlockW + 1),
      .Depth(Peers)
    ) u_blocks (
      .clk_i,
      .we_i(ended_q || starts_i),
      .waddr_i(starts_i ? start_peer_i : ended_peer_q),
      .wdata_i(starts_i ? '0 : gen_blocks[1].shown + ended_blocks_q),
      .raddr_i(i == 0 ? head_peer_i : ended_peer_q),
      .rdata_o(shown)
    );
  end
  assign taken = {frames, gen_blocks[0].shown};
  usage_t returned_next;
  assign returned_next = {returned_here.frames + 1'b1, returned_here.blocks + walked_q};
  for (genvar i = 0; i < 2; i++) begin : gen_returned
    usage_t shown;
    rl_lutram #(
      .Width($bits(usage_t)),
      .Depth(Peers)
    ) u_returned (
      .clk_i,
      .we_i(frame_ends || starts_i),
      .waddr_i(starts_i ? start_peer_i : now_q.peer),
      .wdata_i(starts_i ? '0 : returned_next),
      .raddr_i(i == 0 ? head_peer_i : now_q.peer),
      .rdata_o(shown)
    );
  end
  // Of each slot, which time it was freed last; before the first, an odd one. It is free for the next time, the other.
  typedef logic [Slots-1:0] slots_t;
  for (genvar i = 0; i < 2; i++) begin : gen_freed
    slots_t shown;
    rl_lutram #(
      .Width(Slots),
      .Depth(Peers)
    ) u_freed (
      .clk_i,
      .we_i(frame_ends || starts_i),
      .waddr_i(starts_i ? start_peer_i : now_q.peer),
      .wdata_i(starts_i ? '1 : gen_freed[1].shown ^ (slots_t'(1) << now_q.slot)),
      .raddr_i(i == 0 ? head_peer_i : now_q.peer),
      .rdata_o(shown)
    );
  end
  logic slot_free;
  assign slot_free = gen_freed[0].shown[frames[SlotW-1:0]] != frames[SlotW];
  assign returned = gen_returned[0].shown;
  assign returned_here = gen_returned[1].shown;
  assign has = {taken.frames - returned.frames, taken.blocks - returned.blocks};
  // A peer that is offered learns it a cycle later: this is too long a way to decide in the same cycle.
  logic room_q;
  index_t room_peer_q;
  always_ff @(posedge clk_i) begin
    room_q <= taken.frames == returned.frames ? any_q : slot_free && has.blocks < left_blocks_q && plenty_q;
    room_peer_q <= head_peer_i;
  end
  assign head_room_o = room_q && room_peer_q == head_peer_i;

  // -- runs of slots to be freed
  run_t run;
  logic run_valid, run_taken;
  logic [3:0] runs;
  logic unused_runs;
  rl_fifo #(
    .Width($bits(run_t)),
    .Depth(8)
  ) u_runs (
    .clk_i,
    .rst_ni,
    .wvalid_i(release_i),
    .wready_o(unused_runs),
    .wdata_i({release_peer_i, release_slot_i, release_count_i}),
    .rvalid_o(run_valid),
    .rready_i(run_taken),
    .rdata_o(run),
    .count_o(runs)
  );

  assign release_free_o = runs <= 6;

  // -- what is freed now
  typedef enum logic [2:0] {
    Idle,
    Find,   // Where is its first block?
    Skip,   // It is left to its end.
    Found,
    Give,   // This block is free. Which is the next?
    Wait,
    Next    // That, or none.
  } state_e;
  state_e state_q;
  count_t left_q;
  logic last_q, skips, ends, may_take;
  assign skips = state_q == Find && (put_is_it_i || get_is_it_i);
  assign frame_ends = state_q == Next && last_q;
  assign ends = state_q == Skip || frame_ends;
  assign may_take = state_q == Idle || (ends && left_q == 1);
  assign put_back_o = may_take && put_left_i;
  assign get_back_o = may_take && get_left_i && !put_left_i;
  assign run_taken = may_take && run_valid && !put_left_i && !get_left_i;
  assign get_leaves_o = skips && get_is_it_i;
  assign put_leaves_o = skips && !get_is_it_i;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) state_q <= Idle;
    else begin
      case (state_q)
        Find: if (skips) state_q <= Skip;
        else if (find_ready_i) state_q <= Found;
        Found: state_q <= Give;
        Give: state_q <= Wait;
        Wait: state_q <= Next;
        Next: state_q <= Wait;
        default: ;
      endcase
      if (ends) state_q <= Find;
      if (may_take) state_q <= put_left_i || get_left_i || run_valid ? Find : Idle;
    end
  end
  always_ff @(posedge clk_i) begin
    if (may_take) begin
      now_q <= put_left_i ? {put_left_peer_i, put_left_slot_i} :
          get_left_i ? {get_left_peer_i, get_left_slot_i} : run.frame;
      left_q <= put_left_i || get_left_i ? count_t'(1) : run.count;
    end else if (ends) begin
      now_q.slot <= now_q.slot + 1'b1;
      left_q <= left_q - 1'b1;
    end
    if (state_q == Find) walked_q <= '0;
    else if (gives) walked_q <= walked_q + 1'b1;
    if (state_q == Found) given_q <= found_i;
    else if (state_q == Wait) given_q <= followed_i;
    last_q <= followed_last_i;
  end
  assign find_o = state_q == Find;
  assign ask_peer_o = now_q.peer;
  assign ask_slot_o = now_q.slot;
  assign gives = state_q == Give || (state_q == Next && !last_q);
  assign follow_o = gives;
  assign follow_block_o = given_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (filling_q || gives) FreeHaveRoom_A : assert (unused_wready);
      if (take_i) TakenIsFree_A : assert (block_valid_o);
      if (release_i) ReleaseHasRoom_A : assert (unused_runs && release_count_i != 0);
      // Nobody has more than there is.
      if (!filling_q && !starts_i)
        UsageIsPossible_A :
        assert (32'(has.blocks) <= Blocks && 32'(left_blocks_q) <= Blocks && 32'(has.frames) <= Slots);
      if (frame_ends) LeftAreThere_A : assert (left_q != 0);
    end
  end
`endif
endmodule
