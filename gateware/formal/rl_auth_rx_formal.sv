// rl_auth_rx with any frames that wait, any verdicts of their tags and counters, and an analyzer that does anything.
// What is checked:
//   - a frame that was to be checked is shown without a cause against it, or with flag AUTH, only if the verdict that
//     was taken with it says that its tag is right, its counter was fresh, and its key is still the one of then;
//   - a claim or a release always goes on if all of that is so; of others only as many as there are left, and each that
//     the analyzer takes leaves one less;
//   - a verdict is taken with each frame that was to be checked, and with no other;
//   - what is said of a frame stays as it is from its first word to its last;
//   - a counter is remembered only of a frame that was shown as right and that the analyzer took, and of it alone.
module rl_auth_rx_formal
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
  import rl_auth_pkg::*;
(
  input logic         clk_i,
  input sessions_t    sessions_i,
  input session_key_t key_i,
  input logic         word_ready_i,
  input logic         ended_i,
  input logic         taken_i
);
  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  logic word_ready, key_ready, word_valid, cut, busy;
  rx_word_t word;
  tag_verdict_t verdict;
  rl_auth_rx #(
    .Words(16),
    .FrameWords(8),
    .ClaimCycles(20)
  ) u_dut (
    .clk_net_i(clk_i),
    .rst_net_ni(rst_n),
    .word_valid_i(1'b0),
    .word_ready_o(word_ready),
    .word_i('0),
    .sessions_i,
    .key_i,
    .key_ready_o(key_ready),
    .word_valid_o(word_valid),
    .word_ready_i,
    .word_o(word),
    .verdict_o(verdict),
    .ended_i(ended_i && rst_n),
    .taken_i,
    .cut_o(cut),
    .busy_o(busy)
  );

  // What the frame that is next was described as.
  typedef struct packed {
    logic        checked;
    logic [1:0]  slot;
    logic [5:0]  age;
    logic [63:0] counter;
    drop_e       cause;
    logic        cut;
    logic        claims;
    logic        asks;
  } about_t;
  about_t about;
  assign about = about_t'(u_dut.about);
  // As rl_auth_split is proven to describe it.
  always_comb begin
    assume (!about.checked || about.cause == DropNone);
    assume (!about.claims || about.asks || !about.checked);
    assume (!(about.asks && about.checked) || about.claims);
    assume (about.cause != DropCrowded);
  end

  // -- the verdicts that were taken
  logic open_q = 1'b0;  // A frame is shown,
  logic checked_q;      // which was to be checked,
  logic right_q;        // and was right in all.
  logic asks_q;         // It is a claim or a release,
  logic none_q;         // against which nothing spoke, and there was none left.
  logic [1:0] at_q;
  logic [63:0] counter_q;
  logic step, verdict_taken;
  assign step = word_valid && word_ready_i && rst_n;
  assign verdict_taken = u_dut.judged && u_dut.take_verdict && rst_n;
  always_ff @(posedge clk_i) begin
    if (u_dut.decides && rst_n) begin
      open_q <= 1'b1;
      checked_q <= about.checked;
      asks_q <= about.asks;
      none_q <= u_dut.left_q == 0;
      right_q <= verdict_taken && u_dut.right && u_dut.fresh && about.age == u_dut.age_q[about.slot];
      counter_q <= about.counter;
      at_q <= '0;
    end else if (step) begin
      open_q <= !word.last;
      if (at_q != '1) at_q <= at_q + 1'b1;
    end
  end

  // -- the frame whose counter is to be remembered
  logic waits_q = 1'b0;
  logic [63:0] remember_q;
  always_ff @(posedge clk_i) begin
    if (step && word.last && checked_q && right_q) begin
      waits_q <= 1'b1;
      remember_q <= counter_q;
    end else if (ended_i) waits_q <= 1'b0;
  end

  tag_verdict_t said_q;
  logic inside_q = 1'b0;
  always_ff @(posedge clk_i) begin
    inside_q <= rst_n && open_q && !(step && word.last);
    said_q   <= verdict;
  end

  always_comb begin
    if (rst_n) begin
      // -- verdicts
      if (u_dut.decides) begin
        VerdictForEach_A : assert (verdict_taken == about.checked);
        OneFrameAtATime_A : assert (!open_q);
      end
      if (verdict_taken) NoVerdictIsLost_A : assert (u_dut.decides && u_dut.about_valid);
      // -- what is shown
      if (word_valid) begin
        ShownIsDecided_A : assert (open_q);
        if (checked_q && !asks_q && verdict.cause == DropNone) OnlyRightPasses_A : assert (right_q);
        if (checked_q && !asks_q && at_q == 1 && word.data[50])
          OnlyRightIsFlagged_A : assert (right_q);
        if (asks_q && verdict.cause == DropNone && none_q)
          VouchedOrLeft_A : assert (checked_q && right_q);
        if (checked_q && right_q) RightPasses_A : assert (verdict.cause == DropNone);
      end
      if (inside_q && open_q) VerdictHolds_A : assert (verdict == said_q);
      // -- what is remembered
      if (u_dut.take_counter) begin
        OnlyOfRight_A : assert (waits_q && ended_i && taken_i);
        ItsOwn_A : assert (u_dut.counter_q == remember_q);
      end
      // -- how many are left
      if (u_dut.spends) SpendsAreLeft_A : assert (u_dut.left_q != 0);
      assert (u_dut.left_q <= 4 && u_dut.until_q < 20);
      if (u_dut.spends_q) assert (u_dut.left_q != 0);
      // -- what induction has to know
      assert (open_q == (u_dut.state_q == 2'd2) && u_dut.state_q != 3);
      assert (u_dut.pending_q == waits_q);
      if (waits_q) assert (u_dut.counter_q == remember_q);
      if (waits_q) assert (u_dut.state_q != 2'd1 && !(open_q && checked_q));
      if (u_dut.state_q == 2'd1) assert (u_dut.about_valid && about.checked);
      if (u_dut.state_q == 2'd1 && about.asks) assert (!u_dut.spends_q);
      if (open_q) begin
        assert (u_dut.proven_q == (checked_q && right_q) && u_dut.at_q == at_q);
        if (checked_q && !asks_q)
          assert (u_dut.flag_q == right_q && (verdict.cause == DropNone) == right_q);
        if (checked_q && right_q) assert (verdict.cause == DropNone);
        if (asks_q && verdict.cause == DropNone && none_q) assert (checked_q && right_q);
        assert (u_dut.asks_q == (asks_q && !(checked_q && right_q) && verdict.cause == DropNone));
        if (u_dut.asks_q) assert (!u_dut.spends_q && u_dut.left_q != 0);
        if (checked_q) assert (u_dut.counter_q == counter_q);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    Right_C : cover (step && word.last && checked_q && right_q && rst_n);
    Wrong_C : cover (step && word.last && checked_q && verdict.cause == DropWrong && rst_n);
    Remembered_C : cover (u_dut.take_counter && rst_n);
    Crowded_C : cover (step && word.last && asks_q && verdict.cause == DropCrowded && rst_n);
  end
endmodule
