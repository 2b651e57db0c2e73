// rl_auth_rx with any frames that wait, any verdicts of their tags and counters, and an analyzer that ends a frame at
// any time, but once and not before it is known whether it may go. What is checked:
//   - a frame that was to be checked is known as one that may go only if the verdict that was taken with it says that
//     its tag is right, its counter was fresh, and its key is still the one of then;
//   - flag AUTH has no frame that was not to be checked, but a claim or a release with a trailer;
//   - no word of a frame is shown before the one before it has ended;
//   - a claim or a release always goes on if all of that is so; of others only as many as there are left, and each that
//     the analyzer takes leaves one less;
//   - a verdict is taken with each frame that was to be checked, and with no other;
//   - what is said of a frame stays as it is until the frame has ended, but that its verdict comes;
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
    .Words(32),
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
    logic        trailed;
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

  // -- the frame that is shown, and the verdict that was taken with it
  logic open_q = 1'b0;   // A frame is shown, or has been and has not ended,
  logic judged_q;        // with which all verdicts were taken that it needs,
  logic checked_q;       // which was to be checked,
  logic right_q;         // and was right in all.
  logic asks_q;          // It is a claim or a release,
  logic none_q;          // against which nothing spoke, and there was none left.
  logic ended_q;         // The analyzer has ended it.
  about_t about_q;
  logic [1:0] at_q;
  logic over_q;          // All of its words have gone on.
  logic step, verdict_taken, opens, closes, right;
  assign step = word_valid && word_ready_i && rst_n;
  assign verdict_taken = u_dut.judged && u_dut.take_verdict && rst_n;
  assign closes = open_q && (over_q || (step && word.last)) && (ended_q || (ended_i && rst_n));
  assign opens = (u_dut.begins || (u_dut.decides && !open_q)) && rst_n;
  assign right = verdict_taken && u_dut.right && u_dut.fresh && about.age == u_dut.age_q[about.slot];
  always_comb assume (!(ended_i && rst_n) || (open_q && verdict.known && !ended_q));
  always_ff @(posedge clk_i) begin
    if (opens) begin
      open_q <= 1'b1;
      checked_q <= about.checked;
      asks_q <= about.asks;
      none_q <= u_dut.left_q == 0;
      about_q <= about;
      ended_q <= 1'b0;
      over_q <= 1'b0;
      at_q <= '0;
    end else begin
      if (closes) open_q <= 1'b0;
      if (step && word.last) over_q <= 1'b1;
      if (ended_i) ended_q <= 1'b1;
      if (step && at_q != '1) at_q <= at_q + 1'b1;
    end
    if (opens || u_dut.decides) begin
      judged_q <= u_dut.decides;
      right_q  <= u_dut.decides && right;
    end
  end

  tag_verdict_t said_q;
  logic inside_q = 1'b0;
  always_ff @(posedge clk_i) begin
    inside_q <= rst_n && open_q && !closes;
    said_q   <= verdict;
  end

  always_comb begin
    if (rst_n) begin
      // -- verdicts
      if (u_dut.decides) begin
        VerdictForEach_A :
        assert (verdict_taken == about.checked && u_dut.about_valid && u_dut.about_take);
        OneForEach_A : assert (!open_q || (!judged_q && about == about_q));
      end
      if (verdict_taken) NoVerdictIsLost_A : assert (u_dut.decides);
      // -- what is shown
      if (opens) OneFrameAtATime_A : assert (!open_q);
      if (word_valid) begin
        ShownIsOpen_A : assert (open_q);
        if (at_q == 1 && !checked_q && !about_q.claims) NoneIsFlagged_A : assert (!word.data[50]);
      end
      if (open_q && verdict.known) begin
        KnownIsJudged_A : assert (judged_q);
        if (checked_q && !asks_q && verdict.cause == DropNone) OnlyRightPasses_A : assert (right_q);
        if (asks_q && verdict.cause == DropNone && none_q)
          VouchedOrLeft_A : assert (checked_q && right_q);
        if (checked_q && right_q) RightPasses_A : assert (verdict.cause == DropNone);
      end
      if (inside_q && open_q) begin
        VerdictHolds_A : assert (!said_q.known || (verdict.known && verdict.cause == said_q.cause));
        LengthHolds_A : assert (verdict.cut == said_q.cut && verdict.trailed == said_q.trailed);
      end
      if (open_q)
        ItsOwnLength_A :
        assert (verdict.cut == about_q.cut && (!verdict.trailed || (about_q.trailed && checked_q && !asks_q)));
      // -- what is remembered
      if (u_dut.take_counter) begin
        OnlyOfRight_A : assert (open_q && judged_q && checked_q && right_q && ended_i && taken_i);
        ItsOwn_A : assert (u_dut.counter_q == about_q.counter && u_dut.slot_q == about_q.slot);
      end
      // -- how many are left
      if (u_dut.spends) SpendsAreLeft_A : assert (u_dut.left_q != 0);
      assert (u_dut.left_q <= 4 && u_dut.until_q < 20);
      // -- what induction has to know
      assert (open_q == (u_dut.state_q == 2'd2) && u_dut.state_q != 3);
      if (u_dut.state_q == 2'd1)
        assert (u_dut.about_valid && about.checked && about.asks && u_dut.u_abouts.shown_q);
      if (open_q) begin
        assert (verdict.known == judged_q && u_dut.at_q == at_q && u_dut.told_q == ended_q && u_dut.over_q == over_q);
        assert (judged_q || (checked_q && !asks_q && !right_q && !ended_q));
        assert (u_dut.proven_q == (judged_q && checked_q && right_q));
        assert (checked_q == about_q.checked && asks_q == about_q.asks);
        assert (!(about_q.claims && !asks_q && checked_q) && !(checked_q && asks_q && !about_q.claims));
        if (!judged_q)
          assert (u_dut.u_abouts.shown_q && about_t'(u_dut.u_abouts.data_q) == about_q);
        if (checked_q && !asks_q && judged_q) assert ((verdict.cause == DropNone) == right_q);
        if (checked_q && right_q) assert (verdict.cause == DropNone);
        if (asks_q && verdict.cause == DropNone && none_q) assert (checked_q && right_q);
        assert (u_dut.flag_q == (asks_q ? about_q.claims : checked_q) && u_dut.claims_q == about_q.claims);
        assert (u_dut.asks_q == (asks_q && !(checked_q && right_q) && verdict.cause == DropNone));
        if (u_dut.asks_q && !ended_q) assert (u_dut.left_q != 0);
        if (checked_q && judged_q)
          assert (u_dut.counter_q == about_q.counter && u_dut.slot_q == about_q.slot);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    Right_C : cover (step && word.last && checked_q && right_q && judged_q && rst_n);
    Wrong_C :
    cover (step && word.last && checked_q && judged_q && verdict.cause == DropWrong && rst_n);
    Early_C : cover (step && at_q == '1 && open_q && !judged_q && rst_n);
    Remembered_C : cover (u_dut.take_counter && rst_n);
    Crowded_C : cover (step && word.last && asks_q && verdict.cause == DropCrowded && rst_n);
  end
endmodule
