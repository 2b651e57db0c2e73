// rl_auth_tx with frames of any words at any pace, any sessions that change at any time, keys that come and are
// forgotten whenever they are let in, and any tags. A frame is as long as its header says, or padded. What is checked:
//   - which frames get a tag is as the sessions, the address and the kind say when it begins; all others leave as they
//     came, in all bits;
//   - the message that a tag is made of is, word for word, what leaves of the frame before its trailer: the frame to
//     the end of its payload with flag AUTH; by the key of its session, the direction to the host and the frame's
//     counter;
//   - a session's counter goes up with each frame that has a tag and begins anew with a key only; no key comes while a
//     frame by the one before it is under way;
//   - a frame leaves behind the tag that was made of it and with no other's counter: as many tags, counters and ends
//     of frames are in here as there are frames;
//   - right behind the payload stand four zeros, the counter and the tag, and nothing else;
//   - of a frame whose tag is of no key nothing leaves.
// That tags come in the order of their messages, each of its own and by the key of its slot, rl_auth.sby and rl_tag.sby
// prove. Counters are taken to have room: 2^64 frames do not leave.
module rl_auth_tx_formal
  import rl_wire_pkg::*;
  import rl_ascon_pkg::*;
  import rl_auth_pkg::*;
(
  input logic         clk_i,
  input sessions_t    sessions_i,
  input session_key_t key_i,
  input logic         valid_i,
  input logic [63:0]  data_i,
  input logic [3:0]   count_i,
  input logic         last_i,
  input logic         ready_i
);
  localparam int unsigned Words = 8;
  localparam int unsigned Abouts = 16;
  typedef logic [10:0] at_t;
  typedef logic [4:0] number_t;
  typedef struct packed {
    logic        last;
    logic [7:0]  keep;
    logic [63:0] data;
  } word_t;
  typedef struct packed {
    logic        sealed;
    logic [2:0]  rest;
    logic        slot;
    logic [63:0] counter;
  } about_t;

  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  logic [7:0] keep;
  assign keep = last_i ? 8'((9'd1 << count_i) - 9'd1) : '1;
  always_comb assume (count_i <= 8 && count_i != 0);

  logic key_ready, ready, valid_out, last_out, unused_frame, busy;
  logic [63:0] data_out;
  logic [7:0] keep_out;
  logic [13:0] unused_bytes;
  rl_auth_tx #(
    .Words(Words)
  ) u_dut (
    .clk_net_i(clk_i),
    .rst_net_ni(rst_n),
    .sessions_i,
    .key_i,
    .key_ready_o(key_ready),
    .valid_i(valid_i && rst_n),
    .ready_o(ready),
    .data_i,
    .keep_i(keep),
    .last_i,
    .valid_o(valid_out),
    .ready_i,
    .data_o(data_out),
    .keep_o(keep_out),
    .last_o(last_out),
    .frame_o(unused_frame),
    .frame_bytes_o(unused_bytes),
    .busy_o(busy)
  );

  // -- the words that have come and not gone on: two at most
  word_t [1:0] came_q;
  logic [1:0] here_q = '0;
  word_t now;
  logic moves, comes;
  assign comes = valid_i && ready && rst_n;
  assign moves = u_dut.moves && rst_n;
  assign now = here_q[0] ? came_q[0] : came_q[1];
  always_ff @(posedge clk_i) begin
    // Place 0 is the older one's, as soon as it may go there.
    if (moves || !here_q[0]) begin
      came_q[0] <= came_q[1];
      here_q[0] <= here_q[1];
      here_q[1] <= 1'b0;
    end
    if (comes) begin
      came_q[1] <= '{last: last_i, keep: keep, data: data_i};
      here_q[1] <= 1'b1;
    end
  end

  // -- which frames get a tag, read from the bytes as they are on the wire
  at_t at_q = '0;
  logic sealed_q, slot_q;
  logic [15:0] length_q;
  logic [7:0][7:0] first, second;  // Bytes of the words, the first one in place 0.
  logic [47:0] dst;
  logic [1:0] match;
  logic ours, seals, slot, sealed, slot_now;
  assign first = now.data;
  assign second = came_q[1].data;
  assign dst = {first[0], first[1], first[2], first[3], first[4], first[5]};
  always_comb begin
    ours = 1'b0;
    for (int i = 0; i < EtherTypeCount; i++)
    if ({second[4], second[5]} == EtherTypes[i]) ours = 1'b1;
    for (int i = 0; i < 2; i++)
    match[i] = sessions_i.valid[i] && (sessions_i.owner[i] == dst || dst[47:16] == GroupAddr[47:16]);
    seals = ours && match != 0 && !now.last && !second[6][2] && is_sealed(second[5], second[7][3:0]);
    slot = match == 2'b11 ? sessions_i.newer : match[1];
  end
  assign sealed = at_q == 0 ? seals : sealed_q;
  assign slot_now = at_q == 0 ? slot : slot_q;

  // -- of a frame with a tag: which part is its message, and what its words are with the flag
  logic [13:0] end_at;  // The word in which its payload ends.
  logic part, closes;
  word_t wanted;
  logic [2:0] rest;
  assign end_at = 14'((17'd32 + 17'(length_q) - 17'd1) >> 3);
  assign rest = length_q[2:0];
  assign part = !sealed || at_q <= 3 || 14'(at_q) <= end_at;
  assign closes = sealed && at_q >= 3 && 14'(at_q) == end_at;
  always_comb begin
    wanted = now;
    if (!sealed && !now.last) wanted.keep = '1;
    if (sealed) begin
      if (at_q == 1) wanted.data[50] = 1'b1;  // Byte 14, which has version and flags.
      wanted.last = closes;
      wanted.keep = closes && rest != 0 ? 8'((9'd1 << rest) - 9'd1) : '1;
    end
  end
  always_comb begin
    assert (FlagAuth == 4);
    if (moves && sealed) begin
      // As long as its header says; and not longer than there is room for.
      if (at_q >= 2) assume (end_at < 14'd2000);
      if (now.last)
        assume (at_q >= 3 && (14'(at_q) > end_at || (14'(at_q) == end_at && (rest == 0 || keeps(
            now.keep, rest
        )))));
    end
    assume (!(moves && !now.last && at_q == 11'd2000));
  end
  function automatic logic keeps(logic [7:0] mask, logic [2:0] bytes);
    return mask[bytes-3'd1];
  endfunction
  always_ff @(posedge clk_i) begin
    if (moves) begin
      at_q <= now.last ? '0 : at_q + 1'b1;
      if (at_q == 0) {sealed_q, slot_q} <= {seals, slot};
      if (at_q == 1) length_q <= {second[0], second[1]};
    end
  end

  // -- counters: of each session the last one, since its key came
  logic [1:0][63:0] sent_q;
  logic [1:0] keyed_q = '0;  // It has had a key.
  logic [63:0] closed_q;    // Of the last frame whose message has come to its end.
  logic key_take;
  assign key_take = key_i.valid && key_ready && rst_n;
  always_ff @(posedge clk_i) begin
    if (moves && closes) begin
      sent_q[slot_now] <= u_dut.counter;
      closed_q <= u_dut.counter;
    end
    if (key_take) begin
      sent_q[key_i.slot[0]] <= '0;
      keyed_q[key_i.slot[0]] <= 1'b1;
    end
  end
  always_comb for (int i = 0; i < 2; i++) assume (sent_q[i] != '1);

  // -- what is in here: frames that have ended and not begun to leave, ends of frames, tags
  number_t words_held, abouts_held, lasts, tags;
  logic [1:0][4:0] owed;  // Frames of a session that have begun and have no tag.
  assign words_held = number_t'(u_dut.u_words.held_q);
  assign abouts_held = number_t'(u_dut.u_abouts.held_q);
  about_t [Abouts-1:0] abouts;
  word_t [Words-1:0] words;
  assign abouts = u_dut.u_abouts.words_q;
  assign words = u_dut.u_words.words_q;
  logic begun, leaves, drops;
  assign begun = at_q != 0 && sealed_q && part;
  assign leaves = u_dut.state_q == 2'd1;
  assign drops = u_dut.state_q == 2'd3;
  about_t told, about_now;
  assign told = about_t'(u_dut.u_abouts.wdata_i);
  assign about_now = about_t'(u_dut.about_q);
  // A frame's end and its description: the words' ends are the descriptions in order, the first of them of the frame
  // that leaves or is dropped.
  logic [Words-1:0] paired;
  always_comb begin
    lasts = '0;
    tags = '0;
    owed = '0;
    for (int i = 0; i < Abouts; i++) begin
      if (number_t'(i) < abouts_held && abouts[i].sealed) begin
        tags = tags + 1'b1;
        owed[abouts[i].slot] = owed[abouts[i].slot] + 1'b1;
      end
    end
    if (begun) owed[slot_q] = owed[slot_q] + 1'b1;
    for (int i = 0; i < Words; i++) begin
      about_t own;
      own = leaves || drops ? (lasts == 0 ? about_now : abouts[4'(lasts - 1'b1)]) : abouts[4'(lasts)];
      paired[i] = number_t'(i) >= words_held || (words[i].last && !own.sealed) ||
          words[i].keep == (!words[i].last || own.rest == 0 ? 8'hff : 8'((9'd1 << own.rest) - 9'd1));
      if (number_t'(i) < words_held && words[i].last) lasts = lasts + 1'b1;
    end
  end

  // -- what leaves
  logic [4:0] tail_q = '0;  // Bytes of the trailer that have left.
  logic [27:0][7:0] trailer;
  logic step;
  word_t head;
  logic [7:0][7:0] out;
  logic [3:0] carried, count;  // Bytes of the payload in this word, and of all.
  logic [7:0] payload_kept, trailer_right;  // Byte by byte.
  assign out = data_out;
  assign step = valid_out && ready_i && rst_n;
  assign head = words[0];
  always_comb begin
    trailer = '0;
    for (int i = 0; i < 8; i++) trailer[4+i] = about_now.counter[8*(7-i)+:8];
    for (int i = 0; i < 16; i++) trailer[12+i] = u_dut.tag_q[8*i+:8];
    carried = !leaves ? 4'd0 : about_now.rest != 0 && head.last ? 4'(about_now.rest) : 4'd8;
    count = 4'd8;
    if (u_dut.state_q == 2'd2 && 5'd28 - tail_q < 5'd8) count = 4'(5'd28 - tail_q);
    for (int n = 0; n < 8; n++) begin
      payload_kept[n] = 4'(n) >= carried || out[n] == head.data[8*n+:8];
      trailer_right[n] = 4'(n) < carried || 4'(n) >= count ||
          out[n] == trailer[5'((leaves ? 5'd0 : tail_q) + 5'(n) - 5'(carried))];
    end
  end
  always_ff @(posedge clk_i) begin
    if (step && about_now.sealed) begin
      if (leaves) tail_q <= head.last ? 5'(4'd8 - carried) : '0;
      else tail_q <= tail_q + 5'(count);
    end
    if (u_dut.begins) tail_q <= '0;
  end
  // The tag that leaves is the one that was there when the frame's description was taken.
  tag_t made_q;
  logic known_q;
  always_ff @(posedge clk_i) begin
    if (u_dut.begins && rst_n) {made_q, known_q} <= {u_dut.made, u_dut.u_auth.known_o};
  end

  always_comb begin
    if (rst_n) begin
      // -- what is taken for the message
      assert (here_q[0] == u_dut.valid_q && here_q[1] == u_dut.next_valid_q);
      if (here_q[0]) assert (u_dut.word_q == now);
      if (here_q[1]) assert (u_dut.next_q == came_q[1]);
      if (moves) begin
        WhoGetsATag_A : assert (u_dut.sealed == sealed);
        Stored_A : assert (u_dut.stored == part);
        if (part) begin
          AsItCame_A : assert (u_dut.words_ready && word_t'(u_dut.u_words.wdata_i) == wanted);
          EndsWithIts_A : assert ((u_dut.abouts_ready && u_dut.u_abouts.wvalid_i) == wanted.last);
        end
        if (part && wanted.last) begin
          Description_A : assert (told.sealed == sealed);
          if (sealed)
            ItsCounterAndEnd_A :
            assert (told.slot == slot_now && told.rest == rest && told.counter == u_dut.counter);
        end
        if (closes) begin
          CounterGoesUp_A : assert (!keyed_q[slot_now] || u_dut.counter > sent_q[slot_now]);
        end
      end else NothingElse_A : assert (!u_dut.stored);
      // -- what the tag is made of
      TaggedAsStored_A :
      assert ((u_dut.u_auth.valid_i && u_dut.u_auth.ready_o) == (moves && sealed && part));
      if (moves && sealed && part) begin
        SameWords_A :
        assert ({u_dut.u_auth.last_i, u_dut.u_auth.keep_i, u_dut.u_auth.data_i} == wanted);
        if (at_q >= 3) ItsKey_A : assert (u_dut.u_auth.slot_i == slot_now);
        ItsContext_A : assert (u_dut.u_auth.boot_i == sessions_i.boot && u_dut.u_auth.to_host_i);
      end
      if (u_dut.u_auth.counter_ready_o)
        ItsCounter_A : assert (u_dut.u_auth.counter_valid_i && u_dut.u_auth.counter_i == closed_q);
      // -- keys
      if (key_take)
        NoneUnderWay_A :
        assert (owed[key_i.slot[0]] == 0 && !(moves && at_q == 0 && seals && slot == key_i.slot[0]));
      // -- in step
      InStep_A : assert (lasts == abouts_held + number_t'(leaves || drops));
      OneTagEach_A :
      assert (tags == number_t'(u_dut.u_auth.u_tag.inside_q) + number_t'(u_dut.u_auth.u_frame.part_q != 0));
      if (u_dut.begins && u_dut.about.sealed)
        WithItsTag_A : assert (u_dut.tag_take && u_dut.tag_valid && tags != 0);
      if (u_dut.tag_take) OnlyForATag_A : assert (u_dut.begins && u_dut.about.sealed);
      // -- what leaves
      if (valid_out) NeverUnknown_A : assert (!about_now.sealed || known_q);
      if (step) begin
        if (leaves) begin
          assert (words_held != 0);
          Payload_A : assert (payload_kept == '1);
          if (!about_now.sealed)
            AsItWas_A :
            assert (keep_out == head.keep && last_out == head.last);
            else assert (keep_out == '1 && !last_out);
        end
        if (about_now.sealed && (!leaves || head.last)) begin
          Trailer_A : assert (trailer_right == '1);
          if (!leaves) begin
            AllOfIt_A : assert (last_out == (tail_q + 5'(count) == 5'd28));
            assert (keep_out == 8'((9'd1 << count) - 9'd1) && count != 0);
          end
        end
      end
      if (drops) NothingOfIt_A : assert (!valid_out && about_now.sealed && !known_q);
      // -- what induction has to know
      assert (at_q == u_dut.at_q && at_q <= 11'd2000);
      if (at_q != 0) begin
        assert (sealed_q == u_dut.seals_q && (!sealed_q || slot_q == u_dut.slot_q));
        if (at_q >= 2) assert (length_q == u_dut.length_q);
        if (sealed_q && at_q > 2) assert (end_at < 14'd2000);
      end
      for (int i = 0; i < 2; i++) begin
        assert (u_dut.under_way_q[i] == owed[i]);
        if (keyed_q[i]) assert (u_dut.sent_q[i] == sent_q[i]);
      end
      assert (paired == '1);
      if (u_dut.u_auth.u_frame.part_q != 0) assert (u_dut.counter_q == closed_q);
      assert (words_held <= 5'(Words) && abouts_held <= 5'(Abouts) && lasts <= 5'(Words));
      assert (!(u_dut.u_auth.made && u_dut.u_auth.u_tag.inside_q == 0) && u_dut.u_auth.u_frame.part_q != 3);
      if (u_dut.state_q != 0) assert (u_dut.tag_q == made_q || !about_now.sealed);
      if (u_dut.state_q == 2'd1 && about_now.sealed) assert (known_q);
      if (u_dut.state_q == 2'd2) begin
        assert (about_now.sealed && known_q);
        assert (6'(tail_q) == 6'(8 * u_dut.number_q) - 6'(about_now.rest));
        assert (u_dut.number_q >= 3'(about_now.rest != 0) && tail_q < 28 && u_dut.number_q <= 4);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    // That a frame with a tag leaves to its end the benches show: within these cycles it cannot, and further on the
    // solver takes long.
    Dropped_C : cover (drops && head.last && words_held != 0 && rst_n);
    Plain_C : cover (step && last_out && !about_now.sealed && lasts == 2 && rst_n);
    Again_C : cover (moves && closes && keyed_q[slot_now] && sent_q[slot_now] == 1 && rst_n);
  end
endmodule
