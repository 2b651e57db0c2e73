// rl_auth_split with frames of any words at any pace, any sessions, and any rl_auth and queue behind it. What is
// checked:
//   - a frame goes on without a cause against it and without being checked only if its kind needs no tag of a session;
//   - one is checked only by the key of a session whose owner it names as its sender, or, if it is a claim or a
//     release, by the key of claims of the host that it names;
//   - a frame that is checked gives one message, one that is not gives none, and messages are in the frames' order;
//   - the message has the frame's words up to the end of the payload, in order, and of the last one no byte beyond it;
//   - with the message's end come the counter and the tag that stand behind the frame's payload, and no others.
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
  input logic      message_ready_i
);
  localparam int unsigned FrameWords = 24;

  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  logic word_ready, valid, checked, short_trailer, claims, asks, cut, busy;
  logic [1:0] slot, message_slot;
  logic message_valid, message_last;
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
    .claims_o(claims),
    .asks_o(asks),
    .cut_o(cut),
    .message_valid_o(message_valid),
    .message_ready_i,
    .message_o(message),
    .message_keep_o(message_keep),
    .message_last_o(message_last),
    .message_slot_o(message_slot),
    .message_counter_o(message_counter),
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

  // -- one message for each frame that is checked
  logic pending_q = 1'b0;  // One has ended whose message has not.
  at_t sent_q = '0;        // Words of the message so far.
  always_ff @(posedge clk_i) begin
    if (feeds) sent_q <= message_last ? '0 : sent_q + 1'b1;
    if (ends && checked) pending_q <= 1'b1;
    else if (feeds && message_last) pending_q <= 1'b0;
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
  logic [7:0] passed_q, given;
  logic whole_q;
  assign place = 17'd32 + 17'(length_q) + 17'(byte_q);
  always_ff @(posedge clk_i) begin
    if (goes && at_q > 3 && checked && 17'(at_q) == 17'(place[16:3]))
      passed_q <= word.data[8*place[2:0]+:8];
    if (ends && checked) whole_q <= !short_trailer;
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
      if (feeds && message_last) EachFromAFrame_A : assert (pending_q);
      if (ends && checked) OneAtATime_A : assert (!pending_q);
      if (feeds && !message_last) begin
        WordsOfTheFrame_A :
        assert (goes && message == word.data && message_keep == '1 && sent_q == at_q);
        NoneOfAnother_A : assert (!pending_q && checked);
      end
      if (goes && checked && !word.last && at_q < 3) HeadIsFed_A : assert (feeds);
      if (goes && checked && !word.last && fits && at_q < last_at && at_q > 2)
        WordIsFed_A : assert (feeds);
      // -- with the counter and the tag of its own
      if (feeds && message_last && whole_q) TrailerIsItsOwn_A : assert (given == passed_q);
      // -- what induction has to know
      assert (u_dut.skips_q ? at_q == 0 && u_dut.at_q == FrameWords : u_dut.at_q == 14'(at_q) && at_q < FrameWords);
      if (at_q == 1) begin
        assert (u_dut.rule_q == rule_of(
            held[23:16], held[3:0]
        ) && u_dut.auth_q == ((held[11:8] & FlagAuth) != 0));
        for (int i = 0; i < 2; i++)
        assert (u_dut.match_q[i] == (was_q[i] && owner_q[i] == {src_q[47:32], held[63:32]}) &&
                u_dut.vouched_q[i] == (vouched_q[i] && {src_q[47:32], held[63:56]} == {8'h06, host_q[i]}));
        if (u_dut.checks_q) assert (!u_dut.word_q.last && u_dut.valid_q);
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
      if (u_dut.next_valid_q && !u_dut.next_q.last) assert (u_dut.next_q.extra == '1);
      // The last word that waits, and what was fed before it.
      assert (pending_q == (u_dut.tail_q && u_dut.whole_q) && (u_dut.tail_q || !u_dut.whole_q));
      if (at_q != 0 && u_dut.checks_q) begin
        assert (!pending_q && u_dut.tail_q == (at_q > 3 && 14'(at_q) > u_dut.last_at));
        if (!u_dut.tail_q) assert (sent_q == at_q);
      end else begin
        assert (pending_q == u_dut.tail_q);
        if (!u_dut.tail_q) assert (sent_q == 0);
      end
      // The trailer's byte, when it is in its place: it has passed, or is in the word that is next to go.
      if (pending_q && whole_q) assert (kept == passed_q);
      if (at_q > 3 && u_dut.checks_q && 17'(at_q) > 17'(length_q[15:3]) + 17'd4 + 17'(byte_q[4:3])) begin
        if (17'(place[16:3]) < 17'(at_q))
          assert (kept == passed_q);
          else assert (u_dut.valid_q && kept == u_dut.word_q.data[8*place[2:0]+:8]);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    Whole_C : cover (feeds && message_last && whole_q && length_q == 13 && rst_n);
    Short_C : cover (feeds && message_last && !whole_q && rst_n);
  end
endmodule
