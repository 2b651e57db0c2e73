// Between the receive FIFO and the analyzer of a card with keys: each frame waits here as a whole until it is known
// whom it is from. So nothing acts upon a frame, not even tentatively, before its tag was found right.
//
// Whose key a frame is by follows from its head (rl_auth_split). The words go on as they came but for two things: flag
// AUTH says whether a frame has proven its sender, or of a claim or release that it has a trailer; and of these the
// trailer is payload, since the firmware judges them. What becomes of the frame says the analyzer: a wrong tag is the
// last cause for which it drops one.
//
// While the tag of a whole frame is still being made, its header goes on already: flag AUTH is set then, since the
// frame is dropped if its tag is wrong. Its first payload word waits in the analyzer for the verdict, and with it all
// that anyone acts upon. The next frame is not shown before the analyzer has ended this one.
//
// Claims and releases cost the firmware thousands of cycles each. One whose tag is right by a key of claims that is
// here always goes on; of all others ClaimBurst at once and one in ClaimCycles, whatever comes. The firmware judges
// them all by itself: this only keeps strangers from keeping it busy.
//
// A counter is remembered when the analyzer has taken the frame.
module rl_auth_rx
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
  import rl_ascon_pkg::*;
  import rl_auth_pkg::*;
#(
  parameter int unsigned PerCycle = 3,       // Rounds, see rl_tag: 3 for words in each cycle.
  parameter int unsigned Words = 2048,       // A power of two, twice FrameWords or nearly so.
  parameter int unsigned FrameWords = 1152,  // Of a longer frame the rest is cut off.
  parameter int unsigned ClaimCycles = 39_000, // A quarter of a millisecond,
  parameter int unsigned ClaimBurst = 4        // and as many as take a good half of it to judge, four times over.
) (
  input  logic         clk_net_i,
  input  logic         rst_net_ni,

  input  logic         word_valid_i,
  output logic         word_ready_o,
  input  rx_word_t     word_i,

  input  sessions_t    sessions_i,
  input  session_key_t key_i,          // Holds until it is taken.
  output logic         key_ready_o,

  output logic         word_valid_o,
  input  logic         word_ready_i,
  output rx_word_t     word_o,
  output tag_verdict_t verdict_o,
  input  logic         ended_i,        // A frame has ended in the analyzer,
  input  logic         taken_i,        // and was not dropped.

  output logic         cut_o,          // A frame was too long: its rest is lost.
  output logic         busy_o          // Something of a frame is here, a counter is to be remembered, or fewer claims
                                       // may go on than after a while: a simulation must not jump over that.
);
  localparam int unsigned Margin = 4;  // More words than wait in rl_auth_split.
  if (FrameWords + Margin > Words) begin : gen_check
    $fatal(0, "rl_auth_rx: a frame must fit (%m)");
  end
  localparam int unsigned AgeW = 6;  // More sessions than the control ring has room for claims.
  typedef logic [AgeW-1:0] age_t;
  typedef struct packed {
    logic        checked;
    logic [1:0]  slot;
    age_t        age;      // Of the key that it was checked by.
    logic [63:0] counter;
    drop_e       cause;
    logic        cut;
    logic        trailed;
    logic        claims;
    logic        asks;
  } about_t;
  localparam int unsigned Keys = Sessions + Pairs;

  // -- in: a frame comes in only if there is room for all of it, and each verdict has a place. So a key that waits for
  // the end of the messages under way is taken, also while the analyzer waits for the firmware, and that for the key.
  localparam int unsigned Waiting = 16;  // Frames that wait at most.
  logic enters, enters_q, has_room, split_ready;
  assign enters = enters_q || has_room;
  assign word_ready_o = split_ready && enters;
  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) enters_q <= 1'b0;
    else if (word_valid_i && word_ready_o) enters_q <= !word_i.last;
  end
  logic
      part_valid,
      part_ready,
      message_valid,
      message_ready,
      message_last,
      counter_valid,
      counter_ready,
      tag_valid;
  logic [1:0] message_slot;
  logic [63:0] message, message_counter;
  logic [7:0] message_keep;
  logic splits;
  tag_t message_tag;
  rx_word_t part;
  about_t about_in, about;
  logic [1:0] slot_in;
  age_t [Keys-1:0] age_q;
  rl_auth_split #(
    .FrameWords(FrameWords)
  ) u_split (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .word_valid_i(word_valid_i && enters),
    .word_ready_o(split_ready),
    .word_i,
    .sessions_i,
    .valid_o(part_valid),
    .ready_i(part_ready),
    .word_o(part),
    .checked_o(about_in.checked),
    .slot_o(slot_in),
    .counter_o(about_in.counter),
    .cause_o(about_in.cause),
    .short_o(about_in.cut),
    .trailed_o(about_in.trailed),
    .claims_o(about_in.claims),
    .asks_o(about_in.asks),
    .cut_o,
    .message_valid_o(message_valid),
    .message_ready_i(message_ready),
    .message_o(message),
    .message_keep_o(message_keep),
    .message_last_o(message_last),
    .message_slot_o(message_slot),
    .message_counter_valid_o(counter_valid),
    .message_counter_ready_i(counter_ready),
    .message_counter_o(message_counter),
    .message_tag_valid_o(tag_valid),
    .message_tag_o(message_tag),
    .busy_o(splits)
  );
  assign about_in.slot = slot_in;
  assign about_in.age = age_q[slot_in];

  // -- tags
  logic made, made_right, keeps, kept, kept_right, verdict_room;
  logic judged, take_verdict, right, key_take;
  logic [$clog2(2*Waiting):0] unused_verdicts;
  tag_t unused_tag;
  logic unused_known;
  rl_auth #(
    .PerCycle(PerCycle),
    .Keys(Keys)
  ) u_auth (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .key_valid_i(key_i.valid),
    .key_ready_o,
    .key_slot_i(key_i.slot),
    .key_forget_i(key_i.forget),
    .key_i(key_i.key),
    .valid_i(message_valid),
    .ready_o(message_ready),
    .data_i(message),
    .keep_i(message_keep),
    .last_i(message_last),
    .slot_i(message_slot),
    .boot_i(sessions_i.boot),
    .to_host_i(1'b0),
    .counter_valid_i(counter_valid),
    .counter_ready_o(counter_ready),
    .counter_i(message_counter),
    .tag_valid_i(tag_valid),
    .tag_i(message_tag),
    .valid_o(made),
    .ready_i(verdict_room),
    .ok_o(made_right),
    .tag_o(unused_tag),
    .known_o(unused_known)
  );
  // Verdicts that wait for their frame; one that it waits for passes by.
  assign keeps = made && !(take_verdict && !kept);
  rl_fifo #(
    .Width(1),
    .Depth(2 * Waiting)
  ) u_verdicts (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .wvalid_i(keeps),
    .wready_o(verdict_room),
    .wdata_i(made_right),
    .rvalid_o(kept),
    .rready_i(take_verdict),
    .rdata_o(kept_right),
    .count_o(unused_verdicts)
  );
  assign judged = kept || (made && verdict_room);
  assign right = kept ? kept_right : made_right;
  assign key_take = key_i.valid && key_ready_o;
  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) age_q <= '0;
    else if (key_take) age_q[key_i.slot] <= age_q[key_i.slot] + 1'b1;
  end

  // -- frames that wait
  logic push, words_ready, abouts_ready, valid, take, about_valid, about_take;
  rx_word_t word;
  logic [$clog2(Words):0] words;
  logic [$clog2(Waiting):0] abouts;
  assign has_room = 32'(words) + FrameWords + Margin <= Words && 32'(abouts) + Margin <= Waiting;
  assign part_ready = words_ready && abouts_ready;
  assign push = part_valid && part_ready;
  rl_fifo #(
    .Width($bits(rx_word_t)),
    .Depth(Words),
    .Block(1'b1)
  ) u_words (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .wvalid_i(push),
    .wready_o(words_ready),
    .wdata_i(part),
    .rvalid_o(valid),
    .rready_i(take),
    .rdata_o(word),
    .count_o(words)
  );
  rl_fifo #(
    .Width($bits(about_t)),
    .Depth(Waiting)
  ) u_abouts (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .wvalid_i(push && part.last),
    .wready_o(abouts_ready),
    .wdata_i(about_in),
    .rvalid_o(about_valid),
    .rready_i(about_take),
    .rdata_o(about),
    .count_o(abouts)
  );

  // -- counters
  logic fresh, window_busy, take_counter;
  logic [1:0] slot_q;
  age_t taken_age_q;
  logic [63:0] counter_q;
  rl_auth_window #(
    .Slots(Keys)
  ) u_window (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .clear_i(key_take),
    .clear_slot_i(key_i.slot),
    .slot_i(about.slot),
    .counter_i(about.counter),
    .fresh_o(fresh),
    .take_i(take_counter),
    .take_slot_i(slot_q),
    .take_counter_i(counter_q),
    .busy_o(window_busy)
  );

  // -- out
  typedef enum logic [1:0] {
    Idle = 2'd0,
    Look = 2'd1,  // At the tag, and at the counter, before a claim or a release is shown.
    Show = 2'd2   // Until the analyzer has ended the frame, and has all of its words.
  } state_e;
  state_e state_q;
  logic [1:0] at_q;  // Word of the frame; 3 for all beyond.
  logic flag_q, claims_q, proven_q, ends, closes, begins, decides, vouched;
  logic early, looked_q;  // It is shown before it is judged; its counter was looked up.
  logic over_q, told_q;  // All words have gone on; the analyzer has ended it.
  logic asks_q;              // A claim is shown that nobody vouches for.
  logic [$clog2(ClaimBurst):0] left_q;  // Of those that may go on.
  logic full;                           // As many as ever.
  drop_e cause;
  assign early = about.checked && !about.asks;
  assign begins = state_q == Idle && about_valid && (early || !about.checked);
  always_comb begin
    unique case (state_q)
      Idle:    decides = about_valid && !about.checked;
      Look:    decides = judged;
      default: decides = !verdict_o.known && looked_q && judged;
    endcase
  end
  assign about_take = decides;
  assign take_verdict = decides && about.checked;
  assign take = word_valid_o && word_ready_i;
  assign ends = take && word.last;
  assign closes = (over_q || ends) && (told_q || ended_i);
  assign busy_o = splits || words != 0 || valid || state_q != Idle || window_busy || !full;
  assign vouched = about.checked && about.age == age_q[about.slot] && fresh && right;
  always_comb begin
    cause = about.cause;
    if (about.asks) begin
      // A wrong tag may be one by another generation of keys: that is for the firmware.
      if (about.checked && about.age == age_q[about.slot] && right && !fresh) cause = DropReplay;
      else if (cause == DropNone && !vouched && left_q == 0) cause = DropCrowded;
    end else if (about.checked) begin
      if (about.age != age_q[about.slot]) cause = DropUnknown;
      else if (!fresh) cause = DropReplay;
      else if (!right) cause = DropWrong;
    end
  end
  assign take_counter = state_q == Show && ended_i && taken_i && proven_q && taken_age_q == age_q[slot_q];
  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) begin
      state_q <= Idle;
    end else begin
      unique case (state_q)
        Idle:
        if (begins) state_q <= Show;
        else if (about_valid && !window_busy) state_q <= Look;
        Look: if (judged) state_q <= Show;
        default: if (closes) state_q <= Idle;
      endcase
    end
  end
  always_ff @(posedge clk_net_i) begin
    looked_q <= state_q == Show && !verdict_o.known && !window_busy;
    if (begins || decides) begin
      verdict_o.known <= decides;
      verdict_o.cause <= cause;
      proven_q <= vouched && decides;
      asks_q <= about.asks && !vouched && cause == DropNone;
    end
    if (state_q != Show) begin
      verdict_o.cut <= about.cut;
      verdict_o.trailed <= about.trailed && early;
      flag_q <= about.asks ? about.claims : about.checked;
      claims_q <= about.claims;
      at_q <= '0;
      over_q <= 1'b0;
      told_q <= 1'b0;
    end else begin
      if (take && at_q != '1) at_q <= at_q + 1'b1;
      if (ends) over_q <= 1'b1;
      if (ended_i) told_q <= 1'b1;
    end
    if (take_verdict) begin
      slot_q <= about.slot;
      counter_q <= about.counter;
      taken_age_q <= about.age;
    end
  end

  // -- claims that nobody vouches for
  logic [$clog2(ClaimCycles+1)-1:0] until_q;
  logic refills, spends;
  assign full = left_q == ($bits(left_q))'(ClaimBurst);
  assign refills = until_q == 0;
  assign spends = state_q == Show && ended_i && taken_i && asks_q;
  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) begin
      until_q <= '0;
      left_q <= ($clog2(ClaimBurst) + 1)'(ClaimBurst);
    end else begin
      until_q <= refills ? ($bits(until_q))'(ClaimCycles - 1) : until_q - 1'b1;
      if (spends && !refills) left_q <= left_q - 1'b1;
      else if (refills && !spends && !full) left_q <= left_q + 1'b1;
    end
  end

  localparam int unsigned FlagBit = 48 + $clog2(FlagAuth);
  logic [15:0] longer;
  assign longer = {word.data[7:0], word.data[15:8]} + 16'(AuthTrailerBytes);
  assign word_valid_o = state_q == Show && valid && !over_q;
  always_comb begin
    word_o = word;
    if (at_q == 2'd1) word_o.data[FlagBit] = flag_q;
    if (at_q == 2'd2 && claims_q) word_o.data[15:0] = {longer[7:0], longer[15:8]};
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_net_i) begin
    if (rst_net_ni && take_counter)
      ProvenIsRight_A : assert (flag_q && verdict_o.known && verdict_o.cause == DropNone);
    if (rst_net_ni && state_q == Show && ended_i)
      EndedIsJudged_A : assert (verdict_o.known && !told_q);
  end
`endif
endmodule
