// Between the frames that a card with keys sends and its MAC: what goes to the owner of a session, or to the group of
// its load, gets flag AUTH and behind its payload a trailer with the next counter and the tag. All else leaves as it
// is; answers to claims have the firmware's tag by then.
//
// A frame waits until it is whole and its tag is made, so it leaves without a pause. Padding of one with a tag is gone.
// One whose session has no key is dropped whole: what is made then is no tag.
module rl_auth_tx
  import rl_wire_pkg::*;
  import rl_ascon_pkg::*;
  import rl_auth_pkg::*;
#(
  parameter int unsigned PerCycle = 3,  // Rounds, see rl_tag.
  parameter int unsigned Words = 2048   // A power of two: the longest frame fits.
) (
  input  logic         clk_net_i,
  input  logic         rst_net_ni,

  input  sessions_t    sessions_i,
  input  session_key_t key_i,           // Holds until it is taken. Its counter begins anew.
  output logic         key_ready_o,

  input  logic         valid_i,
  output logic         ready_o,
  input  logic [63:0]  data_i,
  input  logic [7:0]   keep_i,          // Of the last word; the others are whole.
  input  logic         last_i,

  output logic         valid_o,
  input  logic         ready_i,
  output logic [63:0]  data_o,
  output logic [7:0]   keep_o,
  output logic         last_o,

  output logic         frame_o,         // A frame has left,
  output logic [13:0]  frame_bytes_o,   // of so many bytes.
  output logic         busy_o           // Something of a frame is here.
);
  localparam int unsigned AtW = 11;
  localparam int unsigned FlagBit = 48 + $clog2(FlagAuth);
  typedef logic [AtW-1:0] at_t;
  typedef struct packed {
    logic        last;
    logic [7:0]  keep;
    logic [63:0] data;
  } word_t;
  typedef struct packed {
    logic        sealed;
    logic [2:0]  rest;     // Bytes of its last word that are the message's; 0: all.
    logic        slot;
    logic [63:0] counter;
  } about_t;

  // -- two words, so that the first is not decided on before the second one is there
  word_t next_q, word_q;
  logic next_valid_q, valid_q, moves, shifts, room;
  assign moves = valid_q && (word_q.last || next_valid_q) && room;
  assign shifts = next_valid_q && (!valid_q || moves);
  assign ready_o = !next_valid_q || shifts;
  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) begin
      next_valid_q <= 1'b0;
      valid_q <= 1'b0;
    end else begin
      if (ready_o) next_valid_q <= valid_i;
      if (moves || !valid_q) valid_q <= next_valid_q;
    end
  end
  always_ff @(posedge clk_net_i) begin
    if (ready_o) next_q <= '{last: last_i, keep: keep_i, data: data_i};
    if (moves || !valid_q) word_q <= next_q;
  end

  // -- whom it is for, and what it is
  at_t at_q;
  logic [63:0] bytes, next_bytes;
  mac_addr_t dst;
  logic [1:0] match;
  logic groups, slot, slot_q, seals, seals_q, sealed;
  assign bytes = {<<8{word_q.data}};
  assign next_bytes = {<<8{next_q.data}};
  assign dst = bytes[63:16];
  assign groups = dst[47:16] == GroupAddr[47:16];
  for (genvar i = 0; i < Sessions; i++) begin : gen_match
    assign match[i] = sessions_i.valid[i] && (sessions_i.owner[i] == dst || groups);
  end
  assign slot = match[sessions_i.newer] ? sessions_i.newer : !sessions_i.newer;
  always_comb begin
    seals = 1'b0;
    for (int unsigned i = 0; i < EtherTypeCount; i++)
    if (next_bytes[31:16] == EtherTypes[i]) seals = match != 0;
    if (!is_sealed(next_bytes[23:16], next_bytes[3:0])) seals = 1'b0;
    if ((next_bytes[11:8] & FlagAuth) != 0 || word_q.last) seals = 1'b0;
  end
  assign sealed = at_q == 0 ? seals : seals_q;

  // -- the message ends with the payload; what is behind it goes nowhere
  localparam at_t HeadWords = at_t'(32'(HeaderEnd) / 8);
  at_t last_at, whole_at;
  logic [15:0] length_q;
  logic closes, behind, pushes, feeds, feed_ready, words_ready, abouts_ready;
  word_t part;
  assign whole_at = HeadWords + at_t'(length_q[15:3]);
  assign last_at = length_q[2:0] == 0 ? whole_at - 1'b1 : whole_at;
  assign closes = sealed && at_q >= 3 && at_q == last_at;
  assign behind = sealed && at_q > 3 && at_q > last_at;
  assign feeds = sealed && !behind;
  assign pushes = valid_q && (word_q.last || next_valid_q) && !behind;
  assign room = behind || (words_ready && abouts_ready && (!feeds || feed_ready));
  always_comb begin
    part = word_q;
    if (sealed && at_q == 1) part.data[FlagBit] = 1'b1;
    if (sealed) part.last = closes;
    if (closes && length_q[2:0] != 0) part.keep = 8'((9'd1 << length_q[2:0]) - 9'd1);
    else if (sealed || !word_q.last) part.keep = '1;
  end
  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) at_q <= '0;
    else if (moves) at_q <= word_q.last ? '0 : at_q + 1'b1;
  end
  always_ff @(posedge clk_net_i) begin
    if (moves && at_q == 0) begin
      seals_q <= seals;
      slot_q <= slot;
    end
    if (moves && at_q == 1) length_q <= next_bytes[63:48];
  end

  // -- counters, and tags
  logic [Sessions-1:0][63:0] sent_q;
  logic [63:0] counter, counter_q;  // Of this frame, and of the last one that has ended.
  logic key_take, tag_valid, tag_known, tag_take, unused_ok, unused_counter;
  about_t about;  // The frame that is next to leave.
  tag_t made;
  assign counter = sent_q[slot_q] + 1'b1;
  // A key is not taken while a frame by the one in its place is under way: its counter would be another key's.
  logic [Sessions-1:0][4:0] under_way_q;  // Frames that have begun and have no tag yet.
  logic key_free, auth_key_ready;
  assign key_free = under_way_q[key_i.slot[0]] == 0 && !(moves && at_q == 0 && seals);
  assign key_ready_o = auth_key_ready && key_free;
  assign key_take = key_i.valid && key_ready_o;
  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) under_way_q <= '0;
    else
      for (int unsigned i = 0; i < Sessions; i++)
      under_way_q[i] <= under_way_q[i] + 5'(moves && at_q == 0 && seals && slot == 1'(i)) -
            5'(tag_take && about.slot == 1'(i));
  end
  always_ff @(posedge clk_net_i) begin
    if (moves && closes) begin
      sent_q[slot_q] <= counter;
      counter_q <= counter;
    end
    if (key_take) sent_q[key_i.slot[0]] <= '0;
  end
  rl_auth #(
    .PerCycle(PerCycle),
    .Keys(Sessions)
  ) u_auth (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .key_valid_i(key_i.valid && key_free),
    .key_ready_o(auth_key_ready),
    .key_slot_i(key_i.slot[0]),
    .key_forget_i(key_i.forget),
    .key_i(key_i.key),
    .valid_i(pushes && feeds && words_ready && abouts_ready),
    .ready_o(feed_ready),
    .data_i(part.data),
    .keep_i(part.keep),
    .last_i(part.last),
    .slot_i(slot_q),
    .boot_i(sessions_i.boot),
    .to_host_i(1'b1),
    .counter_valid_i(1'b1),
    .counter_ready_o(unused_counter),
    .counter_i(counter_q),
    .tag_valid_i(moves && closes),
    .tag_i('0),
    .valid_o(tag_valid),
    .ready_i(tag_take),
    .ok_o(unused_ok),
    .tag_o(made),
    .known_o(tag_known)
  );

  // -- frames that wait
  logic stored, shown, take, about_valid, about_take;
  word_t word;
  logic [$clog2(Words):0] waiting;
  logic [4:0] unused_abouts;
  assign stored = moves && !behind;
  rl_fifo #(
    .Width($bits(word_t)),
    .Depth(Words),
    .Block(1'b1)
  ) u_words (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .wvalid_i(stored),
    .wready_o(words_ready),
    .wdata_i(part),
    .rvalid_o(shown),
    .rready_i(take),
    .rdata_o(word),
    .count_o(waiting)
  );
  rl_fifo #(
    .Width($bits(about_t)),
    .Depth(16)
  ) u_abouts (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .wvalid_i(stored && part.last),
    .wready_o(abouts_ready),
    .wdata_i({sealed, length_q[2:0], slot_q, counter}),
    .rvalid_o(about_valid),
    .rready_i(about_take),
    .rdata_o(about),
    .count_o(unused_abouts)
  );

  // -- out
  typedef enum logic [1:0] {
    Idle    = 2'd0,
    Message = 2'd1,
    Trailer = 2'd2,
    Drop    = 2'd3
  } state_e;
  state_e state_q;
  about_t about_q;
  tag_t tag_q;
  logic begins, ends, step, drops;
  logic [2:0] number_q;       // Word of the trailer.
  logic [3:0][63:0] trailer;  // As if the message had ended with a word.
  logic [63:0] now, earlier;
  logic [3:0] left;  // Bytes of the last word.
  assign begins = state_q == Idle && about_valid && (!about.sealed || tag_valid);
  assign about_take = begins;
  assign tag_take = begins && about.sealed;
  assign step = valid_o && ready_i;
  assign drops = state_q == Drop && shown;
  assign take = drops || (state_q == Message && step);
  assign busy_o = valid_q || next_valid_q || waiting != 0 || shown || state_q != Idle;
  always_comb begin
    logic [3:0][63:0] turned;
    turned = '0;
    turned[0][31:0] = about_q.counter[63:32];
    turned[1][63:32] = about_q.counter[31:0];
    for (int unsigned i = 0; i < 2; i++) trailer[i] = {<<8{turned[i]}};
    trailer[1][63:32] = tag_q[31:0];
    trailer[2] = tag_q[95:32];
    trailer[3] = {32'b0, tag_q[127:96]};
  end
  // The trailer's words are put together of two: they begin `rest` bytes behind a word's first one.
  assign now = number_q[2] ? '0 : trailer[number_q[1:0]];
  assign earlier = number_q == 0 ? '0 : trailer[2'(number_q-1'b1)];
  // verilator lint_off UNUSEDSIGNAL
  function automatic logic [63:0] joined(logic [63:0] low, logic [63:0] high, logic [2:0] rest);
    logic [127:0] both;
    both = {high, low} << {rest, 3'b0};
    return both[127:64];
  endfunction
  // verilator lint_on UNUSEDSIGNAL
  assign left = 4'd4 + 4'(about_q.rest);
  always_comb begin
    valid_o = state_q == Trailer || (state_q == Message && shown);
    data_o = word.data;
    keep_o = word.keep;
    last_o = word.last && !about_q.sealed;
    if (state_q == Message && word.last && about_q.sealed && about_q.rest != 0) begin
      for (int unsigned n = 0; n < 8; n++) if (!word.keep[n]) data_o[8*n+:8] = '0;
      data_o = data_o | joined('0, trailer[0], about_q.rest);
      keep_o = '1;
    end else if (state_q == Trailer) begin
      data_o = joined(earlier, now, about_q.rest);
      last_o = number_q == (left > 4'd8 ? 3'd4 : 3'd3);
      keep_o = !last_o ? '1 : 8'((9'd1 << (left > 4'd8 ? left - 4'd8 : left)) - 9'd1);
    end
  end
  assign ends = step && last_o;
  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) begin
      state_q <= Idle;
      frame_o <= 1'b0;
    end else begin
      unique case (state_q)
        Idle: if (begins) state_q <= about.sealed && !tag_known ? Drop : Message;
        Message: if (step && word.last) state_q <= about_q.sealed ? Trailer : Idle;
        Drop: if (drops && word.last) state_q <= Idle;
        default: if (ends) state_q <= Idle;
      endcase
      frame_o <= ends;
    end
  end
  logic [13:0] bytes_q;
  always_ff @(posedge clk_net_i) begin
    if (begins) begin
      about_q <= about;
      tag_q <= made;
    end
    if (state_q == Message) number_q <= 3'(about_q.rest != 0);
    else if (step) number_q <= number_q + 1'b1;
    if (state_q == Idle) bytes_q <= '0;
    else if (step) bytes_q <= bytes_q + 14'($countones(keep_o));
    frame_bytes_o <= bytes_q + 14'($countones(keep_o));
  end

  logic unused;
  assign unused = ^{sessions_i.vouched, sessions_i.host, sessions_i.epoch, key_i.slot[1], bytes[15:0],
                    next_bytes[47:32], next_bytes[15:12], next_bytes[7:4], about_q.slot};
endmodule
