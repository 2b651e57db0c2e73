// Which blocks of the retransmission memory are free, how many each peer has, and how they become free again.
//
// Blocks that are free stand in a queue. Frames that are no longer held come as runs of a peer's slots; each is
// followed from its first block to its last, a block a cycle, and three cycles for a frame. A frame that is just
// being written or sent is left to its end, and then freed: so nothing ever goes out that belongs to somebody else by
// now, and arrivals, which release frames, never wait for the link.
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
  input  index_t put_peer_i,
  output logic   put_room_o,    // A frame of this peer may begin.
  output logic   block_valid_o,
  output block_t block_o,       // The next free one,
  input  logic   take_i,        // is taken for this peer,
  input  logic   take_first_i,  // for the first words of a frame.

  // -- frames that must not be freed before they are written or sent
  input  logic   put_busy_i,
  input  place_t put_slot_i,
  output logic   put_free_o,    // The next one may begin.
  input  logic   get_busy_i,
  input  index_t get_peer_i,
  input  place_t get_slot_i,
  output logic   get_free_o,    // The next one may begin.

  // -- frames that are no longer held
  input  logic   release_i,
  input  index_t release_peer_i,
  input  place_t release_slot_i,
  input  count_t release_count_i,
  output logic   release_free_o,  // There is room for two more runs.

  // -- the way from a slot to its blocks: what is asked for comes a cycle later.
  output logic   find_o,        // A slot's first block, if find_ready_i.
  input  logic   find_ready_i,
  output index_t find_peer_o,
  output place_t find_slot_o,
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

  localparam int unsigned Spared = Blocks / (4 * FrameBlocks);  // Frames.
  // -- the free ones: after a reset, all
  logic filling_q, gives, unused_wready;
  block_t fill_q, given;
  logic [BlockW:0] free_q, unused_count;
  rl_fifo #(
    .Width(BlockW),
    .Depth(Blocks)
  ) u_free (
    .clk_i,
    .rst_ni,
    .wvalid_i(filling_q || gives),
    .wready_o(unused_wready),
    .wdata_i(filling_q ? fill_q : given),
    .rvalid_o(block_valid_o),
    .rready_i(take_i),
    .rdata_o(block_o),
    .count_o(unused_count)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      filling_q <= 1'b1;
      fill_q <= '0;
      free_q <= '0;
    end else begin
      if (filling_q) fill_q <= fill_q + 1'b1;
      if (&fill_q) filling_q <= 1'b0;
      free_q <= free_q + (BlockW + 1)'(filling_q || gives) - (BlockW + 1)'(take_i);
    end
  end

  // -- who has how many: what was taken, less what was given back
  usage_t taken, returned, returned_here, has;
  frame_t now_q;
  logic frame_ends;
  logic [BlockW:0] walked_q;
  rl_lutram #(
    .Width($bits(usage_t)),
    .Depth(Peers)
  ) u_taken (
    .clk_i,
    .we_i(take_i || starts_i),
    .waddr_i(starts_i ? start_peer_i : put_peer_i),
    .wdata_i(starts_i ? '0 : {taken.frames + (SlotW + 1)'(take_first_i), taken.blocks + 1'b1}),
    .raddr_i(put_peer_i),
    .rdata_o(taken)
  );
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
      .raddr_i(i == 0 ? put_peer_i : now_q.peer),
      .rdata_o(shown)
    );
  end
  assign returned = gen_returned[0].shown;
  assign returned_here = gen_returned[1].shown;
  assign has = {taken.frames - returned.frames, taken.blocks - returned.blocks};
  always_comb begin
    if (has.frames == 0) put_room_o = free_q >= (BlockW + 1)'(FrameBlocks);
    else
      put_room_o = has.frames < (SlotW + 1)'(Slots) && has.blocks < free_q &&
          free_q >= (BlockW + 1)'((1 + Spared) * FrameBlocks);
  end

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
  typedef enum logic [1:0] {
    Idle,
    Find,   // Where is its first block?
    Found,
    Follow  // And the next?
  } state_e;
  state_e state_q;
  count_t left_q;
  logic put_left_q, get_left_q;  // That frame is to be freed when it has been written, or sent.
  frame_t put_left_frame_q, get_left_frame_q;
  logic put_is_it, get_is_it, put_again, get_again, skips, ends;
  assign put_is_it = put_busy_i && {put_peer_i, put_slot_i} == now_q;
  assign get_is_it = get_busy_i && {get_peer_i, get_slot_i} == now_q;
  assign skips = state_q == Find && (put_is_it || get_is_it);
  assign put_again = state_q == Idle && put_left_q && !put_busy_i;
  assign get_again = state_q == Idle && get_left_q && !get_busy_i && !put_again;
  assign run_taken = state_q == Idle && run_valid && !put_again && !get_again;
  assign frame_ends = state_q == Follow && followed_last_i;
  assign ends = skips || frame_ends;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
      put_left_q <= 1'b0;
      get_left_q <= 1'b0;
    end else begin
      case (state_q)
        Idle: if (put_again || get_again || run_valid) state_q <= Find;
        Find: if (!skips && find_ready_i) state_q <= Found;
        Found: state_q <= Follow;
        default: ;
      endcase
      if (ends) state_q <= left_q == 1 ? Idle : Find;
      if (put_again) put_left_q <= 1'b0;
      if (get_again) get_left_q <= 1'b0;
      if (skips && put_is_it) put_left_q <= 1'b1;
      if (skips && get_is_it) get_left_q <= 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (state_q == Idle) begin
      now_q <= put_again ? put_left_frame_q : get_again ? get_left_frame_q : run.frame;
      left_q <= put_again || get_again ? count_t'(1) : run.count;
    end else if (ends) begin
      now_q.slot <= now_q.slot + 1'b1;
      left_q <= left_q - 1'b1;
    end
    walked_q <= gives ? (state_q == Found ? (BlockW + 1)'(1) : walked_q + 1'b1) : walked_q;
    if (skips && put_is_it) put_left_frame_q <= now_q;
    if (skips && get_is_it) get_left_frame_q <= now_q;
  end
  assign find_o = state_q == Find && !skips;
  assign find_peer_o = now_q.peer;
  assign find_slot_o = now_q.slot;
  assign given = state_q == Found ? found_i : followed_i;
  assign gives = state_q == Found || (state_q == Follow && !followed_last_i);
  assign follow_o = gives;
  assign follow_block_o = given;
  assign put_free_o = !put_left_q;
  assign get_free_o = !get_left_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (filling_q || gives) FreeHaveRoom_A : assert (unused_wready);
      if (take_i) TakenIsFree_A : assert (block_valid_o);
      if (release_i) ReleaseHasRoom_A : assert (unused_runs && release_count_i != 0);
      // Nobody has more than there is. What a frame gives back is counted at its end.
      if (!filling_q && !starts_i)
        UsageIsPossible_A :
        assert (32'(has.blocks) + 32'(free_q) <= Blocks + (state_q == Follow ? 32'(walked_q) : 0));
      if (frame_ends) LeftAreThere_A : assert (left_q != 0);
    end
  end
`endif
endmodule
