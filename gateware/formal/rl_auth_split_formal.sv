// rl_auth_split with frames of any words at any pace, any sessions, and any rl_auth and queue behind it. What is
// checked:
//   - a frame goes on without a cause against it and without being checked only if its kind needs no tag of a session;
//   - one is checked only by the key of a session whose owner it names as its sender, or, if it is a claim or a
//     release, by the key of claims of the host that it names;
//   - a frame that is checked gives one message, one that is not gives none, and messages are in the frames' order;
//   - the message has the frame's words up to the end of the payload, in order, and of the last one no byte beyond it;
//   - of each message one counter and one tag are given, those that stand behind its own frame's payload: the tag when
//     the frame has ended, the counter before the next message begins;
//   - a frame is said to be whole, with nothing behind its trailer, only if it is so.
// A message's words wait until the counter of the one before is taken, as rl_auth is proven to make them.
module rl_auth_split_formal
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
  import rl_ascon_pkg::*;
  import rl_auth_pkg::*;
(
  input logic      clk_i,
  input logic      word_valid_i,
  input rx_word_t  word_i,
  input sessions_t sessions_i,
  input logic      ready_i,
  input logic      message_ready_i,
  input logic      counter_ready_i
);
  localparam int unsigned FrameWords = 24;

  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  logic word_ready, valid, checked, short_trailer, trailed, claims, asks, cut, busy;
  logic [1:0] slot, message_slot;
  logic message_valid, message_last, counter_valid, tag_valid, counter_taken;
  logic [63:0] counter, message, message_counter;
  logic [7:0] message_keep;
  tag_t message_tag;
  drop_e cause;
  rx_word_t word;
  rl_auth_split #(
    .FrameWords(FrameWords)
  ) u_dut (
    .clk_i,
    .rst_ni(rst_n),
    .word_valid_i(word_valid_i && rst_n),
    .word_ready_o(word_ready),
    .word_i,
    .sessions_i,
    .valid_o(valid),
    .ready_i,
    .word_o(word),
    .checked_o(checked),
    .slot_o(slot),
    .counter_o(counter),
    .cause_o(cause),
    .short_o(short_trailer),
    .trailed_o(trailed),
    .claims_o(claims),
    .asks_o(asks),
    .cut_o(cut),
    .message_valid_o(message_valid),
    .message_ready_i,
    .message_o(message),
    .message_keep_o(message_keep),
    .message_last_o(message_last),
    .message_slot_o(message_slot),
    .message_counter_valid_o(counter_valid),
    .message_counter_ready_i(counter_ready_i),
    .message_counter_o(message_counter),
    .message_tag_valid_o(tag_valid),
    .message_tag_o(message_tag),
    .busy_o(busy)
  );
  always_comb assume (word_i.last || word_i.extra == '1);

  // -- the frame as it goes on
  logic goes, ends, feeds;
  assign goes = valid && ready_i && rst_n;
  assign ends = goes && word.last;
  assign feeds = message_valid && message_ready_i && rst_n;
  typedef logic [5:0] at_t;
  at_t at_q = '0;
  mac_addr_t src_q;
  logic [15:0] ether_q, length_q;
  logic [7:0] kind_q;
  logic auth_q;
  logic [63:0] bytes;
  assign bytes = {<<8{word.data}};
  always_ff @(posedge clk_i) begin
    if (goes) begin
      at_q <= word.last ? '0 : at_q + 1'b1;
      if (at_q == 0) src_q[47:32] <= bytes[15:0];
      if (at_q == 1) begin
        src_q[31:0] <= bytes[63:32];
        ether_q <= bytes[31:16];
        auth_q <= (bytes[11:8] & FlagAuth) != 0;
        kind_q <= bytes[7:0];
      end
      if (at_q == 2) length_q <= bytes[63:48];
    end
  end

  // -- who the sessions' owners were when the frame's first word went on
  logic [1:0] was_q;
  mac_addr_t [1:0] owner_q;
  logic [1:0] vouched_q;
  logic [1:0][15:0] host_q;
  always_ff @(posedge clk_i) begin
    if (goes && at_q == 0) begin
      was_q <= sessions_i.valid;
      owner_q <= sessions_i.owner;
      vouched_q <= sessions_i.vouched;
      host_q <= sessions_i.host;
    end
  end

  // -- which kinds need no tag of a session: by the rules of the wire, not by those of the block
  logic open, by_claims;
  assign by_claims = ether_q[7:0] == EtherTypeSession[7:0] &&
      kind_q[3:0] inside {KindSessionClaim[3:0], KindSessionRelease[3:0]};
  always_comb begin
    open = 1'b0;
    if (ether_q[7:0] == EtherTypeSession[7:0])
      open = kind_q[3:0] inside {KindSessionClaim[3:0], KindSessionCountersGet[3:0], KindSessionManifestGet[3:0]} ||
          (kind_q[3:0] == KindSessionPing[3:0] && !auth_q) || (kind_q[3:0] == KindSessionRelease[3:0] && auth_q);
    if (ether_q[7:0] == EtherTypeDiscovery[7:0]) open = kind_q[3:0] == KindDiscoverySolicit[3:0];
    if (ether_q[7:0] == EtherTypeImage[7:0]) open = kind_q[3:0] == KindImageData[3:0];
  end

  // -- one message, counter and tag for each frame that is checked
  at_t sent_q = '0;        // Words of the message so far.
  logic closed_q = 1'b0;   // All of this frame's have gone.
  logic due_q = 1'b0;      // One has ended whose counter has not been taken.
  logic counted_q = 1'b0;  // This frame's counter has been given.
  logic ended_q = 1'b0;    // One has ended in the last cycle.
  assign counter_taken = counter_valid && counter_ready_i && rst_n;
  always_ff @(posedge clk_i) begin
    if (feeds) sent_q <= message_last ? '0 : sent_q + 1'b1;
    closed_q <= !ends && (closed_q || (feeds && message_last));
    if (feeds && message_last) due_q <= 1'b1;
    else if (counter_taken) due_q <= 1'b0;
    ended_q <= ends && checked;
  end
  always_comb begin
    assume (!(due_q && message_ready_i));
    // rl_auth takes a counter behind a message's last word.
    assume (!(counter_ready_i && !due_q));
  end

  // -- a byte of the trailer, any behind its first four, as it passed
  (* anyseq *) logic [4:0] any_byte;
  logic [4:0] byte_q;
  logic chosen_q = 1'b0;
  always_ff @(posedge clk_i) begin
    chosen_q <= 1'b1;
    if (!chosen_q) byte_q <= any_byte;
  end
  always_comb assume (!(chosen_q) || (byte_q >= 4 && byte_q < 28));
  logic [16:0] place;
  logic [7:0] passed_q, given, counters;
  logic stands;  // A counter's last bytes are in the word that goes next.
  assign stands = at_q > 3 && checked && 17'(place[16:3]) >= 17'(at_q);
  assign counters = stands ? word.data[8*place[2:0]+:8] : passed_q;
  logic whole_q, counter_whole_q, counter_now;
  assign counter_now = goes && checked && u_dut.counts;
  assign place = 17'd32 + 17'(length_q) + 17'(byte_q);
  always_ff @(posedge clk_i) begin
    if (goes && at_q > 3 && checked && 17'(at_q) == 17'(place[16:3]))
      passed_q <= word.data[8*place[2:0]+:8];
    if (ends && checked) whole_q <= !short_trailer;
    // That it is whole shows at its end; a counter that is given before has passed.
    counter_whole_q <= counter_now ? !ends || !short_trailer : counter_whole_q;
  end
  always_comb begin
    if (byte_q < 12) given = message_counter[8*(11-byte_q)+:8];
    else given = message_tag[8*(byte_q-12)+:8];
  end

  // -- where the message ends
  logic [16:0] bytes_of;  // It has so many.
  at_t last_at;
  logic fits;
  assign bytes_of = 17'd32 + 17'(length_q);
  assign fits = length_q <= 16'(8 * FrameWords);
  assign last_at = at_t'((bytes_of - 1'b1) >> 3);

  logic [63:0] held;  // The word that is next to go.
  logic [7:0] kept;   // The byte in the block's trailer.
  assign held = {<<8{u_dut.word_q.data}};
  assign kept = u_dut.trailer_q[byte_q[4:3]][8*byte_q[2:0]+:8];
  always_comb begin
    if (rst_n && chosen_q) begin
      // -- what goes on unchecked
      if (ends && at_q > 1 && !checked && cause == DropNone)
        OnlyOpenGoesUnchecked_A : assert (open);
      if (ends && at_q > 1 && checked)
        CheckedHasNoCause_A : assert (cause == DropNone && auth_q && (!open || by_claims));
      if (ends && checked) begin
        KeyIsTheSenders_A :
        assert (at_q > 1 && slot[1] == by_claims &&
            (slot[1] ? vouched_q[slot[0]] && src_q[47:24] == {8'h06, host_q[slot[0]]} :
                       was_q[slot[0]] && owner_q[slot[0]] == src_q));
      end
      // -- one message each
      if (feeds) begin
        WordsOfTheFrame_A :
        assert (goes && checked && message == word.data && sent_q == at_q && !closed_q);
        KeepsThePayload_A :
        assert (message_keep == (message_last && at_q > 2 && at_q == last_at && length_q[2:0] != 0 ?
                                 8'((9'd1 << length_q[2:0]) - 9'd1) : '1) || !fits);
        NoneOfAnother_A : assert (!due_q);
      end
      if (goes && checked && !closed_q) HeadIsFed_A : assert (feeds);
      if (feeds && fits && at_q > 2)
        EndsWithThePayload_A : assert (message_last == (word.last || at_q == last_at));
      if (feeds && at_q < 3) NotBefore_A : assert (message_last == word.last);
      if (ends && checked) OneEach_A : assert (closed_q || (feeds && message_last));
      if (ends && !checked) NoneOfAnUnchecked_A : assert (!closed_q && !feeds);
      // -- with the counter and the tag of its own
      if (counter_valid) CounterIsOfAMessage_A : assert (due_q);
      if (ends && checked && due_q) CounterComes_A : assert (counter_valid || u_dut.counts);
      if (tag_valid) TagIsOfAFrame_A : assert (ended_q);
      if (ended_q) TagComes_A : assert (tag_valid);
      if (counter_valid && counter_whole_q && byte_q < 12)
        CounterIsItsOwn_A : assert (given == counters);
      if (tag_valid && whole_q && byte_q >= 12) TagIsItsOwn_A : assert (given == passed_q);
      // -- whole, and nothing behind
      if (ends && at_q > 3 && trailed)
        TrailedIsWhole_A :
        assert (!word.bad && !word.cut &&
                17'd32 + 17'(length_q) + 17'd28 == {11'(at_q), 3'd0} + 17'(word.extra) + 17'd1);
      // -- what induction has to know
      assert (u_dut.skips_q ? at_q == 0 && u_dut.at_q == FrameWords : u_dut.at_q == 14'(at_q) && at_q < FrameWords);
      if (at_q == 1) begin
        assert (u_dut.rule_q == rule_of(
            held[23:16], held[3:0]
        ) && u_dut.auth_q == ((held[11:8] & FlagAuth) != 0));
        for (int i = 0; i < 2; i++)
        assert (u_dut.match_q[i] == (was_q[i] && owner_q[i] == {src_q[47:32], held[63:32]}) &&
                u_dut.vouched_q[i] == (vouched_q[i] && {src_q[47:32], held[63:56]} == {8'h06, host_q[i]}));
        if (u_dut.checks_q) assert (!u_dut.word_q.last);
        assert (u_dut.valid_q);
      end
      if (at_q > 1) begin
        assert (u_dut.rule_q == rule_of(ether_q[7:0], kind_q[3:0]) && u_dut.auth_q == auth_q);
        for (int i = 0; i < 2; i++)
        assert (u_dut.match_q[i] == (was_q[i] && owner_q[i] == src_q) &&
                u_dut.vouched_q[i] == (vouched_q[i] && src_q[47:24] == {8'h06, host_q[i]}));
        assert (u_dut.slot_q[1] == u_dut.rule_q inside {RuleClaim, RuleRelease});
        if (!u_dut.slot_q[1] && u_dut.match_q != 0) assert (u_dut.match_q[u_dut.slot_q[0]]);
        if (u_dut.slot_q[1] && u_dut.vouched_q != 0) assert (u_dut.vouched_q[u_dut.slot_q[0]]);
      end
      if (at_q == 2) assert (u_dut.valid_q && u_dut.length_q == held[63:48]);
      if (at_q > 2)
        assert (u_dut.length_q == length_q && 17'(u_dut.last_at) == (bytes_of - 1'b1) >> 3);
      if (at_q != 0)
        assert (u_dut.checks_q == (u_dut.auth_q && !(at_q == 1 && u_dut.word_q.last) &&
                                   (u_dut.rule_q inside {RuleSession, RuleRenews} ? u_dut.match_q != 0 :
                                    u_dut.rule_q inside {RuleClaim, RuleRelease} && u_dut.vouched_q != 0)));
      if (u_dut.valid_q && !u_dut.word_q.last) assert (u_dut.word_q.extra == '1);
      // What was fed, and given.
      if (at_q == 0) assert (!closed_q && sent_q == 0 && !u_dut.counted_q);
      if (at_q != 0 && u_dut.checks_q) begin
        assert (closed_q == (at_q > 3 && 14'(at_q) > u_dut.last_at));
        if (!closed_q)
          assert (sent_q == at_q && !due_q && !counter_valid && !u_dut.counted_q);
          else assert (sent_q == 0);
        assert (u_dut.counted_q == (at_q > 3 && 17'(at_q) > 17'(length_q[15:3]) + 17'd5));
        if (closed_q) assert (due_q == (counter_valid || (due_q && !u_dut.counted_q)));
        if (closed_q && !u_dut.counted_q) assert (due_q && !counter_valid);
      end else begin
        assert (!closed_q && sent_q == 0 && !u_dut.counted_q && due_q == counter_valid);
      end
      assert (tag_valid == ended_q);
      // The trailer's byte, when it is in its place: it has passed, or is in the word that is next to go.
      if (ended_q && whole_q) assert (kept == passed_q);
      if (counter_valid && counter_whole_q && byte_q < 12) begin
        assert (kept == counters);
        if (stands) assert (u_dut.valid_q && 17'(place[16:3]) == 17'(at_q));
      end
      if (at_q > 3 && u_dut.checks_q && 17'(at_q) > 17'(length_q[15:3]) + 17'd4 + 17'(byte_q[4:3])) begin
        if (17'(place[16:3]) < 17'(at_q))
          assert (kept == passed_q);
          else assert (u_dut.valid_q && kept == u_dut.word_q.data[8*place[2:0]+:8]);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    Whole_C : cover (tag_valid && whole_q && length_q == 13 && rst_n);
    Short_C : cover (tag_valid && !whole_q && rst_n);
    Early_C : cover (counter_taken && at_q > 6 && rst_n);
    Trailed_C : cover (ends && checked && trailed && length_q == 13 && rst_n);
  end
endmodule
