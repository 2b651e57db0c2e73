// rl_tag with any permutation, any messages at any pace, and keys that come and go. What is checked:
//   - each permutation begins with what the message's last one gave, or with the key's state if there was none, changed
//     by the block's bytes and its padding, by the last block's bit, and by nothing else: nothing of one message is in
//     the next, and no byte is left out;
//   - a permutation has all of its rounds, in order, and each goes on with what the last one gave;
//   - a tag is what the last permutation of its message gave, it stays until it is taken, and there is one for each
//     message, in order;
//   - a tag counts only if there was a key in the slot when the message began; and that key's state is what its
//     permutation gave;
//   - of a key that is forgotten nothing stays in its memory.
// The key that is watched is in any of the slots.
module rl_tag_formal
  import rl_ascon_pkg::*;
(
  input logic         clk_i,
  input logic         key_valid_i,
  input logic         key_slot_i,
  input logic         key_forget_i,
  input logic         key_prf_i,
  input tag_t         key_i,
  input logic         valid_i,
  input logic  [63:0] data_i,
  input logic  [ 3:0] count_i,
  input logic         last_i,
  input logic         slot_i,
  input logic         ready_i
);
  localparam int unsigned PerCycle = 6;

  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  logic [7:0] keep;
  assign keep = last_i ? 8'((9'd1 << count_i) - 9'd1) : '1;
  always_comb assume (count_i <= 8);

  logic key_ready, ready, valid, known;
  tag_t tag;
  rl_tag #(
    .PerCycle(PerCycle),
    .Keys(2)
  ) u_dut (
    .clk_i,
    .rst_ni(rst_n),
    .key_valid_i(key_valid_i && rst_n),
    .key_ready_o(key_ready),
    .key_slot_i,
    .key_forget_i,
    .key_prf_i,
    .key_i,
    .valid_i(valid_i && rst_n),
    .ready_o(ready),
    .data_i,
    .keep_i(keep),
    .last_i,
    .slot_i,
    .valid_o(valid),
    .ready_i,
    .tag_o(tag),
    .known_o(known)
  );
  logic watched;
  assign watched = u_dut.u_keys.place_q;

  // -- the blocks of the messages that came: one that waits, and what has come of the next
  typedef struct packed {
    block_t words;
    logic   first;
    logic   ends;
    logic   slot;
  } block_info_t;
  block_info_t waits_q;       // What the next permutation absorbs.
  logic waiting_q = 1'b0;
  logic more_q = 1'b0;        // A block of padding comes after it.
  block_t came_q = '0;        // Of the next block.
  logic [1:0] at_q = '0;
  logic fresh_q = 1'b1;       // It is a message's first.
  logic beat;
  assign beat = valid_i && ready && rst_n;

  logic [63:0] word;
  block_t came;
  always_comb begin
    for (int n = 0; n < 8; n++) begin
      word[8*n+:8] = data_i[8*n+:8];
      if (last_i && 4'(n) >= count_i) word[8*n+:8] = 4'(n) == count_i ? 8'd1 : 8'd0;
    end
    came = came_q;
    came[at_q] = word;
    if (last_i && count_i == 8 && at_q != 3) came[at_q+1] = 64'd1;
  end

  logic whole, taken;
  assign whole = beat && (last_i || at_q == 3);
  assign taken = u_dut.take && rst_n;
  always_ff @(posedge clk_i) begin
    if (taken) begin
      waiting_q <= more_q;
      more_q <= 1'b0;
      waits_q <= '{words: 256'(1), first: 1'b0, ends: 1'b1, slot: waits_q.slot};
    end
    if (whole) begin
      NoneIsPassed_A : assert (!waiting_q);
      waiting_q <= 1'b1;
      more_q <= last_i && count_i == 8 && at_q == 3;
      waits_q <= '{
          words: came,
          first: fresh_q,
          ends: last_i && !(count_i == 8 && at_q == 3),
          slot: slot_i
      };
      fresh_q <= last_i;
      came_q <= '0;
      at_q <= '0;
    end else if (beat) begin
      came_q <= came;
      at_q <= at_q + 1'b1;
    end
  end

  // -- the permutations: what the one under way is for
  typedef enum logic [1:0] {
    Nothing,
    Key,
    Inner,
    Last
  } task_t;
  task_t task_q = Nothing;
  state_t begins_q, gave_q;  // What it has to begin with; what the one before gave.
  logic begun_q = 1'b0;      // This is its first cycle.
  logic [3:0] turn_q = '0;   // The round that is next.
  logic slot_q;              // The key's.
  logic inside_q = 1'b0;
  logic over;
  assign over = turn_q == 4'(Rounds - PerCycle);

  // -- the key that is watched
  logic has_q = 1'b0;  // It is there.
  logic gone_q = 1'b0;  // It was forgotten, and no other has come.
  state_t state_q;
  logic counts_q, ours_q;  // The message under way began with a key; with the one that is watched.

  logic key_taken, moves;
  assign key_taken = key_valid_i && key_ready && rst_n;
  // The last round of a message waits for the verdict before it to be taken.
  assign moves = task_q != Nothing && !(task_q == Last && over && valid && !ready_i);
  state_t from;
  always_comb begin
    from = task_q == Nothing ? gave_q : u_dut.permuted;
    if (waits_q.first) from = state_q;
    from[3:0] = from[3:0] ^ waits_q.words;
    if (waits_q.ends) from[4][63] = !from[4][63];
  end

  tag_t tag_q;
  logic tagged_q = 1'b0, counts_tag_q, ours_tag_q;
  always_ff @(posedge clk_i) begin
    begun_q <= 1'b0;
    if (tagged_q && ready_i) tagged_q <= 1'b0;
    if (moves) begin
      turn_q <= turn_q + 4'(PerCycle);
      if (over) begin
        gave_q <= u_dut.permuted;
        task_q <= Nothing;
        if (task_q == Key && slot_q == watched) begin
          state_q <= u_dut.permuted;
          has_q <= 1'b1;
          gone_q <= 1'b0;
        end
        if (task_q == Last) begin
          tagged_q <= 1'b1;
          tag_q <= u_dut.permuted[1:0];
          counts_tag_q <= counts_q;
          ours_tag_q <= ours_q;
        end
      end
    end
    if (key_taken) begin
      if (key_slot_i == watched) has_q <= 1'b0;
      if (key_slot_i == watched && key_forget_i) gone_q <= 1'b1;
      if (!key_forget_i) begin
        task_q <= Key;
        turn_q <= '0;
        begun_q <= 1'b1;
        slot_q <= key_slot_i;
        begins_q <= {128'd0, key_i, key_prf_i ? IvPrf : IvMac};
      end
    end
    if (taken) begin
      task_q <= waits_q.ends ? Last : Inner;
      inside_q <= !waits_q.ends;
      turn_q <= '0;
      begun_q <= 1'b1;
      begins_q <= from;
      if (waits_q.first) begin
        counts_q <= has_q;
        ours_q <= waits_q.slot == watched;
      end
    end
  end

  always_comb begin
    if (rst_n) begin
      assert (u_dut.u_keys.chosen_q);
      // -- what comes out
      OneForEach_A : assert (valid == tagged_q);
      if (valid) begin
        TagOfItsLast_A : assert (tag == tag_q);
        if (ours_tag_q) KeyWasThere_A : assert (known == counts_tag_q);
      end
      // -- what is permuted
      if (taken) begin
        BlockCame_A : assert (waiting_q);
        NoneIsLost_A : assert (task_q == Nothing || (moves && over));
        NoKeyIsPassed_A : assert (!key_taken && task_q != Key);
      end
      if (key_taken)
        NotInside_A :
        assert (!inside_q && (task_q == Nothing || (moves && over && task_q == Last)));
      if (begun_q && (task_q == Key || (ours_q && counts_q)))
        BeginsSo_A : assert (u_dut.state_q == begins_q);
      if (task_q != Nothing) AllRounds_A : assert (u_dut.busy_q && u_dut.round_q == turn_q);
      // -- a word is taken whenever there is room for it
      if (!waiting_q || (at_q != 3 && !last_i)) NoCycleLost_A : assert (ready);
      // -- what induction has to know
      assert (u_dut.busy_q == (task_q != Nothing));
      assert (turn_q == 0 || turn_q == 6 || task_q == Nothing);
      assert (task_q == Nothing || turn_q <= 4'(Rounds - PerCycle));
      assert (u_dut.loading_q == (task_q == Key));
      assert (u_dut.final_q == (task_q == Last) || task_q == Nothing);
      assert (u_dut.inside_q == inside_q);
      if (task_q == Key) assert (u_dut.load_slot_q == slot_q && !inside_q);
      if (task_q == Inner) assert (inside_q);
      if (task_q == Last) assert (!inside_q);
      if (inside_q || task_q == Last) if (ours_q) assert (u_dut.known_msg_q == counts_q);
      if (inside_q && task_q == Nothing && ours_q) assert (u_dut.state_q == gave_q);
      assert (u_dut.known_q[watched] == has_q);
      if (has_q) assert (u_dut.u_keys.kept_q == state_q && !gone_q);
      if (gone_q) Overwritten_A : assert (u_dut.u_keys.kept_q == 0);
      if (task_q == Key && slot_q == watched) assert (!has_q);
      assert (waiting_q == u_dut.u_block.full_q && at_q == u_dut.u_block.at_q);
      assert (more_q == u_dut.u_block.tail_q && fresh_q == !u_dut.u_block.later_q);
      if (waiting_q) begin
        assert (waits_q.words == u_dut.block && waits_q.first == u_dut.first);
        assert (waits_q.ends == u_dut.final_block && waits_q.slot == u_dut.slot);
        assert (waits_q.first == !inside_q);
        assert (fresh_q == (waits_q.ends || more_q));
        if (more_q) assert (!waits_q.ends);
      end else begin
        assert (fresh_q == !inside_q && !more_q);
      end
      for (int w = 0; w < 4; w++) if (at_q <= 2'(w)) assert (came_q[w] == 0);
      for (int w = 0; w < 3; w++) if (at_q > 2'(w)) assert (u_dut.u_block.came_q[w] == came_q[w]);
      assert (u_dut.last_q == over || task_q == Nothing);
    end
  end

  // What must happen: a message of two blocks, and one after it whose last block is padding alone; with a key.
  logic [1:0] verdicts_q = '0;
  logic tail_q = 1'b0;
  always_ff @(posedge clk_i) begin
    if (valid && ready_i && known && rst_n) verdicts_q <= verdicts_q + 1'b1;
    if (more_q) tail_q <= 1'b1;
    TwoVerdicts_C : cover (verdicts_q == 2 && tail_q);
    NoKey_C : cover (valid && !known && rst_n);
  end
endmodule
