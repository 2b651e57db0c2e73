// rl_auth_window with any counters of two sessions, asked and taken at any pace. One counter of one session is watched,
// both any. What is checked:
//   - once it was taken it is never fresh again, until its session is cleared;
//   - as long as it was not taken, is not 0, and is less than 1024 behind the newest, it is fresh;
//   - the newest is the greatest that was taken, and nothing of one session changes the other.
module rl_auth_window_formal (
  input logic        clk_i,
  input logic        clear_i,
  input logic        clear_slot_i,
  input logic        slot_i,
  input logic [63:0] counter_i,
  input logic        take_i,
  input logic        take_slot_i,
  input logic [63:0] take_counter_i
);
  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  logic fresh, busy, takes, clears;
  assign takes = take_i && !busy && rst_n;
  assign clears = clear_i && rst_n;
  rl_auth_window u_dut (
    .clk_i,
    .rst_ni(rst_n),
    .clear_i(clears),
    .clear_slot_i,
    .slot_i,
    .counter_i,
    .fresh_o(fresh),
    .take_i(takes),
    .take_slot_i,
    .take_counter_i,
    .busy_o(busy)
  );

  // -- the watched counter; its bit is in the word of the memory that is watched
  (* anyseq *) logic [63:0] any_counter;
  logic [63:0] watched_q;
  logic chosen_q = 1'b0;
  logic session;
  always_ff @(posedge clk_i) begin
    chosen_q <= 1'b1;
    if (!chosen_q) watched_q <= any_counter;
  end
  always_comb assume (!chosen_q || watched_q[9:6] == u_dut.u_bits.place_q[3:0]);
  assign session = u_dut.u_bits.place_q[4];

  // -- what is so
  logic [63:0] newest;
  logic taken_q = 1'b0;
  logic mine, walks, ends, in_bits;
  assign newest = u_dut.newest_q[session];
  assign mine = u_dut.slot_q == session;
  assign walks = u_dut.walks && mine && rst_n;
  assign ends = walks && u_dut.ends;
  assign in_bits = u_dut.u_bits.kept_q[watched_q[5:0]];
  always_ff @(posedge clk_i) begin
    if (ends && u_dut.counter_q == watched_q) taken_q <= 1'b1;
    if ((clears && clear_slot_i == session) || !rst_n) taken_q <= 1'b0;
  end
  // Who takes a counter has found it fresh.
  logic [63:0] behind;
  assign behind = u_dut.newest_q[take_slot_i] - take_counter_i;
  always_comb
    assume (take_counter_i != 0 && (take_counter_i > u_dut.newest_q[take_slot_i] || behind < 1024));

  // -- asked
  logic asked_q = 1'b0, wanted_q;
  logic old;
  assign old = watched_q <= newest && newest - watched_q >= 1024;
  always_ff @(posedge clk_i) begin
    asked_q  <= rst_n && !busy && slot_i == session && counter_i == watched_q;
    wanted_q <= watched_q != 0 && !old && !taken_q;
  end

  // -- how far a walk is
  logic [63:0] first, counter;
  logic [57:0] span, here;  // Words to walk over, and the one that is next.
  assign first = newest + 1'b1;
  assign counter = u_dut.counter_q;
  assign span = counter[63:6] - first[63:6];
  assign here = counter[63:6] - 58'(u_dut.left_q);

  always_comb begin
    if (rst_n && chosen_q) begin
      if (asked_q) FreshAsItIs_A : assert (fresh == wanted_q);
      if (taken_q) TakenIsPast_A : assert (watched_q <= newest);
      // -- what induction has to know
      assert (u_dut.u_bits.chosen_q && u_dut.state_q != 3);
      if (u_dut.state_q != 0) assert (counter != 0);
      if (u_dut.state_q != 0 && mine) assert (counter > newest || newest - counter < 1024);
      if (walks) begin
        assert (u_dut.moves_q == (counter > newest));
        if (u_dut.moves_q) begin
          assert (u_dut.from_q == first[5:0] && u_dut.all_q == (span > 16) && u_dut.word_q == here[3:0]);
          assert (u_dut.left_q <= 16 && 58'(u_dut.left_q) <= span);
          assert (u_dut.begins_q == (u_dut.all_q ? u_dut.left_q == 16 : 58'(u_dut.left_q) == span));
        end else assert (u_dut.left_q == 0 && u_dut.word_q == counter[9:6]);
      end
      if (watched_q != 0) begin
        // Past, and in the window: the bit says whether it was taken.
        if (watched_q <= newest && !old && !(walks && u_dut.moves_q))
          PastIsKnown_A : assert (in_bits == taken_q);
        // The same while the window moves, if it will be in it then,
        if (walks && u_dut.moves_q && counter - watched_q < 1024 && watched_q <= newest)
          assert (in_bits == taken_q);
        // and of those that are to come: their words are cleared when the walk has passed them.
        if (walks && u_dut.moves_q && watched_q > newest && watched_q <= counter && counter - watched_q < 1024 &&
            here > watched_q[63:6])
          assert (!in_bits);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    Again_C :
    cover (asked_q && taken_q && !fresh && newest - watched_q == 100 && watched_q < newest && rst_n);
    Late_C : cover (asked_q && fresh && watched_q < newest && newest - watched_q == 10 && rst_n);
  end
endmodule
