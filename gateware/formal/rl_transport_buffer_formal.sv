// rl_transport_buffer between a source that gives frames of up to four words whenever there is room, held from their
// beginning or from when they are there, a link that sends frames that are held whenever it likes, and a state that
// gives frames up, oldest first, even while they are written or sent. Then
//   - no block is taken that is in use, and none becomes free twice;
//   - a frame that is held comes out as it went in, whatever became of others;
//   - what is sent although it was given up meanwhile is still its own, to the last word.
// Every word tells of which frame it is: frames are numbered.
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
  input logic put_held_i,  // It is held from its beginning.
  input logic put_last_i,
  input logic commits_i,   // Or from now on.
  input logic enters_i,    // A frame is to be sent,
  input logic gets_i,      // or a word taken.
  input logic get_peer_i,
  input logic get_slot_i,
  input logic gives_up_i,  // The oldest frame of this peer.
  input logic given_peer_i
);
  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;
  logic [1:0] start_q = '0;
  always_ff @(posedge clk_i) if (rst_n && start_q != 2) start_q <= start_q + 1'b1;

  // -- what is held: of each peer `held` slots from `first` on, with these frames
  logic [1:0] first_q = '0;
  logic [1:0][1:0] held_q = '0;
  logic [1:0][1:0][2:0] frames_q;
  logic [2:0] number_q = '0;  // Of the frame that comes in, or of the next one.

  // -- in
  logic
      put_busy_q = 1'b0,
      put_peer_q,
      put_slot_q,
      put_is_held_q,
      room,
      put_ready,
      put_may_end,
      put,
      put_ends;
  logic put_begins, enters_held, commit_q = 1'b0, commit_peer_q, commits;
  logic [1:0] put_at_q;
  logic [2:0] pause_q = '0;
  logic [2:0] commit_number_q;
  assign put_begins = !put_busy_q && puts_i && room && pause_q == 0 && start_q == 2 && !(put_held_i && commit_q);
  assign enters_held = put_begins && put_held_i;
  assign commits = commit_q && commits_i;
  // A last word waits for what has ended before.
  assign put = put_busy_q && puts_i && put_ready &&
      (!(put_last_i || put_at_q == 2'(FrameWords - 1)) || (put_is_held_q ? put_may_end : !commit_q));
  assign put_ends = put && (put_last_i || put_at_q == 2'(FrameWords - 1));
  always_ff @(posedge clk_i) begin
    pause_q <= {pause_q[1:0], put_begins};
    if (put_begins) begin
      put_busy_q <= 1'b1;
      put_peer_q <= put_peer_i;
      put_is_held_q <= put_held_i;
      put_slot_q <= first_q[put_peer_i] ^ held_q[put_peer_i][0];
      put_at_q <= '0;
    end
    if (put) put_at_q <= put_at_q + 1'b1;
    if (put_ends) begin
      put_busy_q <= 1'b0;
      number_q <= number_q + 1'b1;
    end
    if (put_ends && !put_is_held_q) begin
      commit_q <= 1'b1;
      commit_peer_q <= put_peer_q;
      commit_number_q <= number_q;
    end else if (commits) commit_q <= 1'b0;
  end

  // -- out: frames that are held, two at a time
  logic get_free, shows, get_last, get_enters, is_held;
  logic [1:0][2:0] expected_q;
  logic [1:0] count_q = '0, get_at_q = '0;
  logic [5:0] word;
  logic [3:0] desc;
  logic get, get_ends;
  assign is_held = (get_slot_i ^ first_q[get_peer_i]) < held_q[get_peer_i];
  assign get_enters = get_free && enters_i && is_held && start_q == 2;
  assign get = rst_n && shows && gets_i;
  assign get_ends = get && get_last;
  always_ff @(posedge clk_i) begin
    count_q <= count_q + 2'(get_enters) - 2'(get_ends);
    if (get_ends) expected_q[0] <= expected_q[1];
    if (get_enters) expected_q[count_q-2'(get_ends)] <= frames_q[get_peer_i][get_slot_i];
    if (get) get_at_q <= get_last ? '0 : get_at_q + 1'b1;
  end

  // -- given up, one at a time
  logic release_free, releases;
  assign releases = gives_up_i && release_free && held_q[given_peer_i] != 0 && start_q == 2 && !enters_held && !commits;
  always_ff @(posedge clk_i) begin
    if (releases) first_q[given_peer_i] <= !first_q[given_peer_i];
    for (int i = 0; i < 2; i++)
    held_q[i] <= held_q[i] + 2'(enters_held && put_peer_i == 1'(i)) + 2'(commits && commit_peer_q == 1'(i)) -
        2'(releases && given_peer_i == 1'(i));
    if (enters_held) frames_q[put_peer_i][first_q[put_peer_i]^held_q[put_peer_i][0]] <= number_q;
    if (commits)
      frames_q[commit_peer_q][first_q[commit_peer_q]^held_q[commit_peer_q][0]] <= commit_number_q;
  end

  rl_transport_buffer #(
    .Peers(Peers),
    .DataW(6),
    .DescW(4),
    .Slots(Slots),
    .Words(Words),
    .BlockWords(BlockWords),
    .FrameWords(FrameWords)
  ) u_dut (
    .clk_i,
    .rst_ni(rst_n),
    .starts_i(rst_n && start_q != 2),
    .start_peer_i(start_q[0]),
    .head_peer_i(put_peer_i),
    .head_room_o(room),
    .head_take_i(put_begins),
    .put_enters_i(enters_held),
    .put_peer_i(put_peer_i),
    .put_slot_i(first_q[put_peer_i] ^ held_q[put_peer_i][0]),
    .put_may_end_o(put_may_end),
    .put_ready_o(put_ready),
    .put_i(put),
    .put_held_i(put_is_held_q),
    .put_now_peer_i(put_peer_q),
    .put_now_slot_i(put_slot_q),
    .put_desc_i({number_q, 1'b1}),
    .put_data_i({number_q, put_at_q, put_ends}),
    .put_last_i(put_ends),
    .commit_i(commits),
    .commit_peer_i(commit_peer_q),
    .commit_slot_i(first_q[commit_peer_q] ^ held_q[commit_peer_q][0]),
    .get_free_o(get_free),
    .get_enters_i(get_enters),
    .get_peer_i(get_peer_i),
    .get_slot_i(get_slot_i),
    .get_valid_o(shows),
    .get_take_i(get),
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
    if (u_dut.u_blocks.gives) free_q[u_dut.u_blocks.given_q] <= 1'b1;
    if (u_dut.u_blocks.take_i) free_q[u_dut.u_blocks.block_o] <= 1'b0;
  end
  always_comb begin
    if (rst_n) begin
      if (u_dut.u_blocks.take_i) TakenWasFree_A : assert (free_q[u_dut.u_blocks.block_o]);
      if (u_dut.u_blocks.gives) GivenWasInUse_A : assert (!free_q[u_dut.u_blocks.given_q]);
      if (shows) begin
        ItsOwn_A : assert (count_q != 0 && word[5:3] == expected_q[0] && word[2:1] == get_at_q);
        ToItsEnd_A : assert (word[0] == get_last);
        ItsDescriptor_A : assert (desc == {expected_q[0], 1'b1});
      end
    end
  end
  always_ff @(posedge clk_i) begin
    PutIsLeft_C : cover (rst_n && u_dut.u_blocks.put_back_o);
    GetIsLeft_C : cover (rst_n && u_dut.u_blocks.get_back_o);
    Long_C : cover (rst_n && shows && get_last && get_at_q == 3);
  end
endmodule
