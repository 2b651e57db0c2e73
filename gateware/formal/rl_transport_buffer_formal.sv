// rl_transport_buffer between a source that gives frames of up to four words whenever there is room, a link that sends
// frames that are held whenever it likes, and a state that gives frames up, oldest first, even while they are written
// or sent. Then
//   - no block is taken that is in use, and none becomes free twice;
//   - a frame that is held comes out as it went in, whatever became of others;
//   - what is sent although it was given up meanwhile is still its own, to the last word.
// Every word tells whose it is: peer, slot, and how often the slot was used.
module rl_transport_buffer_formal
  import rl_transport_pkg::*;
#(
  localparam int unsigned Peers = 2,
  localparam int unsigned Slots = 2,
  localparam int unsigned Words = 8,
  localparam int unsigned BlockWords = 2,
  localparam int unsigned FrameWords = 4,
  localparam int unsigned Blocks = Words / BlockWords
) (
  input logic clk_i,
  input logic puts_i,      // A frame begins, or a word goes in.
  input logic put_peer_i,
  input logic put_last_i,
  input logic gets_i,      // A frame is sent, or its next word taken.
  input logic get_peer_i,
  input logic get_slot_i,
  input logic gives_up_i,  // The oldest frame of this peer.
  input logic given_peer_i
);
  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;
  logic [1:0] start_q = '0;
  always_ff @(posedge clk_i) if (rst_n && start_q != 2) start_q <= start_q + 1'b1;

  // -- what is held: of each peer `held` slots from `first` on
  logic [1:0] first_q = '0;
  logic [1:0][1:0] held_q = '0;
  logic [1:0][1:0][1:0] life_q = '0;   // Of a slot: how often it was used.

  // -- in
  logic put_busy_q = 1'b0, put_peer_q, put_slot_q, room, put_free, put_ready, put, put_ends;
  logic [1:0] put_at_q;
  logic put_peer, put_begins, put_slot;
  assign put_peer = put_busy_q ? put_peer_q : put_peer_i;
  assign put_begins = !put_busy_q && puts_i && room && put_free && start_q == 2;
  assign put_slot = first_q[put_peer] ^ held_q[put_peer][0];
  assign put = put_busy_q && puts_i && put_ready;
  assign put_ends = put && (put_last_i || put_at_q == 2'(FrameWords - 1));
  always_ff @(posedge clk_i) begin
    if (put_begins) begin
      put_busy_q <= 1'b1;
      put_peer_q <= put_peer_i;
      put_slot_q <= put_slot;
      put_at_q <= '0;
    end
    if (put) put_at_q <= put_at_q + 1'b1;
    if (put_ends) put_busy_q <= 1'b0;
  end

  // -- out: a frame that is held, and written to its end
  logic
      get_busy_q = 1'b0,
      get_begins_q = 1'b0,
      get_peer_q,
      get_slot_q,
      get_free,
      shows,
      get_last,
      get_starts,
      is_held;
  logic [1:0] get_life_q;
  logic [2:0] get_at_q;
  logic [6:0] word;
  logic [4:0] desc;
  assign is_held = (get_slot_i ^ first_q[get_peer_i]) < held_q[get_peer_i];
  assign get_starts = !get_busy_q && get_free && gets_i && is_held &&
      !(put_busy_q && put_peer_q == get_peer_i && put_slot_q == get_slot_i);
  always_ff @(posedge clk_i) begin
    get_begins_q <= get_starts;
    if (get_starts) begin
      get_busy_q <= 1'b1;
      get_peer_q <= get_peer_i;
      get_slot_q <= get_slot_i;
      get_life_q <= life_q[get_peer_i][get_slot_i];
      get_at_q <= '0;
    end
    if (get_busy_q && shows && gets_i) begin
      get_at_q <= get_at_q + 1'b1;
      if (get_last) get_busy_q <= 1'b0;
    end
  end

  // -- given up, one at a time
  logic release_free, releases;
  assign releases = gives_up_i && release_free && held_q[given_peer_i] != 0 && start_q == 2 && !put_begins;
  always_ff @(posedge clk_i) begin
    if (releases) first_q[given_peer_i] <= !first_q[given_peer_i];
    for (int i = 0; i < 2; i++)
    held_q[i] <= held_q[i] + 2'(put_begins && put_peer_i == 1'(i)) - 2'(releases && given_peer_i == 1'(i));
    if (put_begins) life_q[put_peer_i][put_slot] <= life_q[put_peer_i][put_slot] + 1'b1;
  end

  rl_transport_buffer #(
    .Peers(Peers),
    .DataW(7),
    .DescW(5),
    .Slots(Slots),
    .Words(Words),
    .BlockWords(BlockWords),
    .FrameWords(FrameWords)
  ) u_dut (
    .clk_i,
    .rst_ni(rst_n),
    .starts_i(rst_n && start_q != 2),
    .start_peer_i(start_q[0]),
    .put_peer_i(put_peer),
    .put_room_o(room),
    .put_free_o(put_free),
    .put_busy_i(put_busy_q),
    .put_slot_i(put_slot_q),
    .put_desc_i({put_peer_q, put_slot_q, life_q[put_peer_q][put_slot_q], 1'b1}),
    .put_ready_o(put_ready),
    .put_i(put),
    .put_data_i({put_peer_q, put_slot_q, life_q[put_peer_q][put_slot_q], put_at_q, put_ends}),
    .put_last_i(put_ends),
    .get_free_o(get_free),
    .get_begins_i(get_begins_q),
    .get_busy_i(get_busy_q),
    .get_peer_i(get_peer_q),
    .get_slot_i(get_slot_q),
    .get_valid_o(shows),
    .get_take_i(get_busy_q && shows && gets_i),
    .get_data_o(word),
    .get_desc_o(desc),
    .get_last_o(get_last),
    .release_i(releases),
    .release_peer_i(given_peer_i),
    .release_slot_i(first_q[given_peer_i]),
    .release_count_i(count_t'(1)),
    .release_free_o(release_free)
  );

  // -- which blocks are free
  logic [Blocks-1:0] free_q = '0;
  always_ff @(posedge clk_i) begin
    if (u_dut.u_blocks.filling_q && rst_n) free_q[u_dut.u_blocks.fill_q] <= 1'b1;
    if (u_dut.u_blocks.gives) free_q[u_dut.u_blocks.given] <= 1'b1;
    if (u_dut.u_blocks.take_i) free_q[u_dut.u_blocks.block_o] <= 1'b0;
  end
  always_comb begin
    if (rst_n) begin
      if (u_dut.u_blocks.take_i) TakenWasFree_A : assert (free_q[u_dut.u_blocks.block_o]);
      if (u_dut.u_blocks.gives) GivenWasInUse_A : assert (!free_q[u_dut.u_blocks.given]);
      if (get_busy_q && shows) begin
        ItsOwn_A :
        assert (word[6:3] == {get_peer_q, get_slot_q, get_life_q} && word[2:1] == get_at_q[1:0]);
        ToItsEnd_A : assert (word[0] == get_last && get_at_q < 4);
        ItsDescriptor_A : assert (desc == {get_peer_q, get_slot_q, get_life_q, 1'b1});
      end
    end
  end
  always_ff @(posedge clk_i) begin
    LeftToItsEnd_C : cover (rst_n && u_dut.u_blocks.get_again);
    Long_C : cover (rst_n && shows && get_last && get_at_q == 3);
  end
endmodule
