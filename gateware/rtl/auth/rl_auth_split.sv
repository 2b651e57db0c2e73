// Takes frames with a trailer apart as they come: the words go on as they are, a cycle later; the message that a
// tag is made of goes to rl_auth, if a session's key is to show whom the frame is from; and when the frame has ended
// it is described.
//
// The counter goes to rl_auth as soon as it has come, so that the tag is made while the rest of the trailer comes.
module rl_auth_split
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
  import rl_ascon_pkg::*;
  import rl_auth_pkg::*;
#(
  parameter int unsigned FrameWords = 1152  // Of a longer frame the rest is cut off.
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        word_valid_i,
  output logic        word_ready_o,
  input  rx_word_t    word_i,
  input  sessions_t   sessions_i,

  // The words, and with the last one what the frame is.
  output logic        valid_o,
  input  logic        ready_i,
  output rx_word_t    word_o,
  output logic        checked_o,   // A verdict of rl_auth will come.
  output logic [1:0]  slot_o,      // By the key in this slot,
  output logic [63:0] counter_o,   // with this counter.
  output drop_e       cause_o,     // Else: why it is to be dropped.
  output logic        short_o,     // Its trailer is cut short.
  output logic        trailed_o,   // It is whole, and behind its payload has a trailer and nothing else.
  output logic        claims_o,    // It is a claim or a release with a trailer.
  output logic        asks_o,      // It is a claim or a release.
  output logic        cut_o,       // It was too long; for one cycle, as it goes on.

  // To rl_auth.
  output logic        message_valid_o,
  input  logic        message_ready_i,
  output logic [63:0] message_o,
  output logic [7:0]  message_keep_o,
  output logic        message_last_o,
  output logic [1:0]  message_slot_o,
  output logic        message_counter_valid_o,  // Until it is taken; the next message's words wait for that.
  input  logic        message_counter_ready_i,
  output logic [63:0] message_counter_o,
  output logic        message_tag_valid_o,      // For one cycle, when the frame has ended.
  output tag_t        message_tag_o,

  output logic        busy_o             // Words are here.
);
  localparam int unsigned AtW = 14;
  typedef logic [AtW-1:0] at_t;

  // -- a word waits for the next one, so that the first of a frame is not decided on before the second one is there
  rx_word_t word_q;
  logic valid_q, here, moves, skips_q, feed_ready;
  assign here = valid_q && (word_q.last || word_valid_i) && !skips_q;
  assign moves = skips_q ? valid_q : here && ready_i && feed_ready;
  assign word_ready_o = !valid_q || moves;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= 1'b0;
    else if (word_ready_o) valid_q <= word_valid_i;
  end
  always_ff @(posedge clk_i) begin
    if (word_ready_o) word_q <= word_i;
  end

  assign busy_o = valid_q;

  // -- where it is in its frame
  at_t at_q;
  logic too_long, ends;
  assign too_long = at_q == at_t'(FrameWords - 1) && !word_q.last;
  assign ends = moves && !skips_q && (word_q.last || too_long);
  assign cut_o = moves && !skips_q && too_long;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      at_q <= '0;
      skips_q <= 1'b0;
    end else if (moves) begin
      at_q <= word_q.last ? '0 : at_q + at_t'(!skips_q);
      skips_q <= !word_q.last && (skips_q || too_long);
    end
  end
  assign valid_o = here && feed_ready;
  always_comb begin
    word_o = word_q;
    if (too_long) begin
      word_o.last = 1'b1;
      word_o.cut = 1'b1;
    end
  end

  // -- with the first word: whose it is, and what it is
  logic [63:0] bytes, next_bytes;
  mac_addr_t src;
  logic [1:0]
      match,
      match_q,
      vouched,
      vouched_q;  // Sessions of its sender, and the key of its sender's claims.
  rule_e rule, rule_q;
  logic auth, auth_q, epochs_q, checks, checks_q, by_claims;
  assign bytes = {<<8{word_q.data}};
  assign next_bytes = {<<8{word_i.data}};
  assign src = {bytes[15:0], next_bytes[63:32]};
  assign rule = rule_of(next_bytes[23:16], next_bytes[3:0]);
  assign auth = (next_bytes[11:8] & FlagAuth) != 0;
  for (genvar i = 0; i < Sessions; i++) begin : gen_match
    assign match[i] = sessions_i.valid[i] && sessions_i.owner[i] == src;
  end
  for (genvar i = 0; i < Pairs; i++) begin : gen_vouched
    assign vouched[i] = sessions_i.vouched[i] && src[47:24] == {HostFirst, sessions_i.host[i]};
  end
  assign by_claims = rule inside {RuleClaim, RuleRelease};
  // A frame that ends before its third word has no trailer, whatever it says.
  assign checks = !word_q.last && !word_i.last && auth &&
      ((match != 0 && rule inside {RuleSession, RuleRenews}) || (vouched != 0 && by_claims));

  // -- with the second one: the session, and how long the frame says that it is
  logic [1:0] slot_q;
  logic older;
  logic [15:0] length_q;
  assign older = !sessions_i.newer;
  always_ff @(posedge clk_i) begin
    if (moves && at_q == 0) begin
      match_q <= match;
      vouched_q <= vouched;
      rule_q <= rule;
      auth_q <= auth && !word_q.last;
      checks_q <= checks;
      epochs_q <= has_epoch(next_bytes[23:16], next_bytes[3:0]);
    end
    if (moves && at_q == 1) begin
      length_q <= next_bytes[63:48];
      slot_q <= {1'b0, sessions_i.newer};
      if (rule_q inside {RuleClaim, RuleRelease}) slot_q <= {1'b1, !vouched_q[0]};
      else if (match_q[older] && (!match_q[sessions_i.newer] ||
                             (epochs_q && next_bytes[47:32] == sessions_i.epoch[older])))
        slot_q <= {1'b0, older};
    end
  end

  // -- the message's words
  localparam at_t HeadWords = at_t'(32'(HeaderEnd) / 8);
  at_t last_at, trailer_at;
  logic is_checked, feeds, inside_message;
  assign trailer_at = HeadWords + at_t'(length_q[15:3]);
  assign last_at = length_q[2:0] == 0 ? trailer_at - 1'b1 : trailer_at;
  assign is_checked = at_q == 0 ? checks : checks_q;
  // Its length is known with the third word, and a message has four.
  assign inside_message = at_q < 3 || at_q < last_at;
  assign feeds = is_checked && (inside_message || at_q == last_at);
  assign feed_ready = !feeds || message_ready_i;
  assign message_valid_o = here && ready_i && feeds;
  assign message_o = word_q.data;
  assign message_last_o = !inside_message || word_q.last || too_long;
  // Of a frame that ends within its message nobody asks for the tag.
  assign message_keep_o = inside_message || length_q[2:0] == 0 ? '1 : 8'((9'd1 << length_q[2:0]) - 9'd1);
  assign message_slot_o = slot_q;

  // -- the trailer, whose bytes are not in step with the words
  logic [3:0][63:0] trailer_q;
  logic [127:0] both;
  at_t in_trailer;
  logic [3:0][63:0] trailer_bytes;
  assign both = {word_i.data, word_q.data} >> {length_q[2:0], 3'd0};
  assign in_trailer = at_q - trailer_at;
  always_ff @(posedge clk_i) begin
    if (moves && !skips_q && checks_q && at_q > 3) begin
      for (int unsigned i = 0; i < 4; i++) if (in_trailer == at_t'(i)) trailer_q[i] <= both[63:0];
    end
  end
  logic counts, counted_q;  // The counter is whole; it was so before in this frame.
  assign counts = moves && !skips_q && is_checked && !counted_q && ((at_q > 3 && in_trailer == 1) || ends);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      counted_q <= 1'b0;
      message_counter_valid_o <= 1'b0;
      message_tag_valid_o <= 1'b0;
    end else begin
      counted_q <= (counted_q || counts) && !ends;
      message_counter_valid_o <= counts || (message_counter_valid_o && !message_counter_ready_i);
      message_tag_valid_o <= ends && is_checked;
    end
  end
  for (genvar i = 0; i < 4; i++) begin : gen_bytes
    assign trailer_bytes[i] = {<<8{trailer_q[i]}};
  end
  assign counter_o = {trailer_bytes[0][31:0], trailer_bytes[1][63:32]};
  assign message_counter_o = counter_o;
  assign message_tag_o = {trailer_q[3][31:0], trailer_q[2], trailer_q[1][63:32]};

  // -- what the frame is
  localparam logic [16:0] Beside = 17'(HeaderEnd) + 17'(AuthTrailerBytes);  // Bytes that are not payload.
  logic [16:0] came;
  assign came = {at_q, 3'd0} + 17'(word_q.extra) + 17'd1;
  assign checked_o = is_checked;
  assign slot_o = slot_q;
  assign short_o = auth_q && came < 17'(length_q) + Beside;
  assign trailed_o = came == 17'(length_q) + Beside && !too_long && !word_q.cut && !word_q.bad;
  assign asks_o = at_q > 2 && rule_q inside {RuleClaim, RuleRelease};
  assign claims_o = auth_q && rule_q inside {RuleClaim, RuleRelease};
  always_comb begin
    cause_o = DropNone;
    if (rule_q == RuleCards) cause_o = DropIgnored;
    else if (!auth_q && rule_q inside {RuleSession, RuleRelease}) cause_o = DropUntagged;
    else if (auth_q && !checks_q && rule_q inside {RuleSession, RuleRenews}) cause_o = DropUnknown;
  end

  logic unused;
  assign unused = ^{word_i.cut, word_i.bad, word_i.extra, bytes[63:16], next_bytes[31:24], next_bytes[15:12],
                    next_bytes[7:4], sessions_i.boot, trailer_bytes[0][63:32], trailer_bytes[1][31:0],
                    trailer_bytes[2], trailer_bytes[3], both[127:64], vouched_q[1]};
endmodule
