// rl_analyzer of a card with keys, with any words at any pace, any verdicts on their tags that come at any time, any
// addresses, kinds and rooms. What is checked:
//   - no word of payload goes on, and no frame ends, before it is known what its tag is worth;
//   - a frame ends well only if nothing speaks against its tag, and it is not damaged;
//   - each frame ends once, and behind its payload's last word: so rl_auth_rx may take the end for that of the frame
//     that it shows.
// Frames come as rl_auth_rx is proven to show them: none before the one before it has ended, and what is said of one
// stays until then.
module rl_analyzer_formal
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
  import rl_auth_pkg::*;
(
  input logic         clk_i,
  input logic         word_valid_i,
  input rx_word_t     word_i,
  input tag_verdict_t tag_i,
  input filter_t      filter_i,
  input session_t     session_i,
  input logic         barrier_busy_i,
  input logic         control_busy_i,
  input room_t        room_i,
  input logic         divert_i
);
  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  logic word_ready, hosts, last_page, heard, crowded, ended, taken;
  rx_beat_t beat;
  divert_reason_e reason;
  rx_event_t event_;
  auth_event_t auth_event;
  rl_analyzer #(
    .Keys(1'b1)
  ) u_dut (
    .clk_net_i(clk_i),
    .rst_net_ni(rst_n),
    .word_valid_i(word_valid_i && rst_n),
    .word_ready_o(word_ready),
    .word_i,
    .tag_i,
    .filter_i,
    .session_i,
    .barrier_busy_i,
    .control_busy_i,
    .room_i,
    .nic_i('0),
    .rx_beat_o(beat),
    .hosts_o(hosts),
    .last_page_o(last_page),
    .reason_o(reason),
    .divert_i,
    .heard_o(heard),
    .event_o(event_),
    .auth_event_o(auth_event),
    .crowded_o(crowded),
    .ended_o(ended),
    .taken_o(taken)
  );

  // -- frames as rl_auth_rx shows them
  logic open_q = 1'b0;  // Words of a frame have come, and it has not ended or not all of them have.
  logic over_q;         // All words have come.
  logic ended_q;        // It has ended.
  logic spoilt_q;       // Its last word said that it is damaged, or cut off.
  logic second_q = 1'b0;  // It is not the first one.
  logic step;
  tag_verdict_t said_q;
  logic [13:0] words_q;  // Of this frame; rl_auth_rx cuts off what is longer than the longest.
  assign step = word_valid_i && word_ready && rst_n;
  always_ff @(posedge clk_i) begin
    said_q <= tag_i;
    if (step && !open_q) begin
      open_q <= 1'b1;
      over_q <= word_i.last;
      ended_q <= 1'b0;
    end else if (open_q) begin
      if (step && word_i.last) over_q <= 1'b1;
      if (ended) ended_q <= 1'b1;
      if ((over_q || (step && word_i.last)) && (ended_q || ended)) open_q <= 1'b0;
    end
    if (step) words_q <= open_q ? words_q + 1'b1 : 14'd1;
    if (ended) second_q <= 1'b1;
    if (step && word_i.last) spoilt_q <= word_i.bad || word_i.cut;
  end
  always_comb begin
    if (rst_n) begin
      assume (!(open_q && over_q && word_valid_i));
      assume (!(open_q && words_q >= 1200 && word_valid_i));
      if (open_q) assume (tag_i.cut == said_q.cut && tag_i.trailed == said_q.trailed);
      if (open_q && said_q.known) assume (tag_i.known && tag_i.cause == said_q.cause);
      assume (word_i.last || (word_i.extra == '1 && !word_i.bad && !word_i.cut));
      // As rl_auth_split is proven to say it.
      if (tag_i.trailed) assume (!tag_i.cut && !word_i.bad && !word_i.cut);
    end
  end

  always_comb begin
    if (rst_n) begin
      // -- nothing before the verdict
      if (beat.payload) PayloadIsKnown_A : assert (open_q && tag_i.known);
      if (ended) EndIsKnown_A : assert (tag_i.known);
      // -- a good end
      if (taken) begin
        GoodTag_A : assert (tag_i.cause == DropNone && beat.route != RouteDrop);
        if (over_q && !tag_i.trailed) NotDamaged_A : assert (!spoilt_q);
        if (!over_q) WholeBefore_A : assert (tag_i.trailed);
      end
      // -- one end for each
      if (ended) OneEach_A : assert (open_q && !ended_q && !(beat.done && beat.abort));
      if (ended_q && open_q) NothingBehind_A : assert (!beat.payload && !ended);
      // -- what induction has to know
      assert ($onehot(u_dut.at_q));
      if (u_dut.at_q[5:4] != 0 && u_dut.left_q[13])
        assert (14'd0 - u_dut.left_q + 14'(u_dut.valid_q) <= words_q && words_q <= 1200);
      if (u_dut.at_q[3]) assert (!u_dut.left_q[13]);
      for (int k = 0; k < 5; k++)
      if (u_dut.at_q[k] && open_q && (u_dut.valid_q || !over_q))
        assert (words_q == 14'(k) + 14'(u_dut.valid_q));
      if (u_dut.at_q[5] && open_q) assert (words_q >= 14'd5 + 14'(u_dut.valid_q));
      if (u_dut.at_q[4] && u_dut.left_q[13]) assert (u_dut.left_q == '1);
      if (open_q) assert (words_q != 0 && words_q <= 1200);
      if (!open_q) begin
        // The last word of a frame that has ended may be on its way still.
        assert (u_dut.valid_q ? u_dut.s1_q.last && u_dut.at_q[5] && u_dut.told_q && u_dut.left_q[13] : u_dut.at_q[0]);
        assert (!u_dut.ended_q && !ended && !beat.payload);
      end
      if (open_q) begin
        // The last word that was taken is in the analyzer's register, or has gone on.
        if (u_dut.valid_q) assert (u_dut.s1_q.last == over_q && !u_dut.ended_q);
        if (u_dut.valid_q && over_q) assert ((u_dut.s1_q.bad || u_dut.s1_q.cut) == spoilt_q);
        if (u_dut.valid_q && !over_q)
          assert (u_dut.s1_q.extra == '1 && !u_dut.s1_q.bad && !u_dut.s1_q.cut);
        if (tag_i.trailed) assert (!tag_i.cut && (!over_q || !spoilt_q));
        if (!over_q && !u_dut.valid_q) assert (!u_dut.at_q[0]);
        if (u_dut.ended_q) assert (over_q && !u_dut.valid_q);
        if (over_q && !u_dut.valid_q) begin
          assert (u_dut.at_q[0] && u_dut.ended_q != (ended_q || ended));
          if (u_dut.ended_q) assert ((u_dut.bad_q || u_dut.cut_q) == spoilt_q);
        end else begin
          assert ((ended_q || ended) == (u_dut.at_q[5] && u_dut.told_q));
          if (u_dut.at_q[0]) assert (!ended_q && !ended && !beat.payload);
          if (u_dut.at_q[4:1] != 0) assert (!u_dut.judged_q && !beat.payload);
        end
        if (u_dut.at_q[5] || ended || beat.payload || ended_q) assert (tag_i.known);
        if (u_dut.at_q[5] || ended) assert (u_dut.judged_q);
        if ((u_dut.at_q[5] || ended || (u_dut.ended_q && u_dut.judged_q)) && u_dut.route_q != RouteDrop)
          assert (tag_i.known && tag_i.cause == DropNone);
        if (u_dut.ended_q && u_dut.judged_q) assert (tag_i.known);
        if (u_dut.done_q) assert (u_dut.route_q != RouteDrop);
        assert (!(u_dut.done_q && u_dut.abort_q));
        // Behind an early end there is no payload.
        if (u_dut.at_q[5] && u_dut.told_q) assert (u_dut.left_q[13]);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    Early_C : cover (taken && !over_q && rst_n);
    Late_C : cover (taken && over_q && tag_i.cut == 0 && !tag_i.trailed && rst_n);
    Dropped_C : cover (beat.abort && tag_i.cause == DropWrong && rst_n);
    Again_C : cover (taken && second_q && rst_n);
  end
endmodule
