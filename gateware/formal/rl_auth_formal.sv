// rl_auth with frames of any words at any pace, and any tags. What is checked:
//   - a frame is ok only if the tag that was made of it is, in all of its bits, the one that it came with, and there
//     was a key; and then it is;
//   - there is one verdict for each frame, in order, and it is the frame's own, whatever others are under way;
//   - the tag is made of all of the frame's bytes, zeros beyond them, the boot number, direction and length that came
//     with its last word, the counter that is taken behind it, and of nothing else;
//   - of each frame one counter is taken, before the next frame's first word.
// The frame that is watched is any.
module rl_auth_formal
  import rl_ascon_pkg::*;
(
  input logic        clk_i,
  input logic        valid_i,
  input logic [63:0] data_i,
  input logic [ 3:0] count_i,
  input logic        last_i,
  input logic        slot_i,
  input logic [31:0] boot_i,
  input logic        to_host_i,
  input logic        counter_valid_i,
  input logic [63:0] counter_i,
  input logic        tag_valid_i,
  input tag_t        tag_i,
  input logic        ready_i
);
  typedef logic [3:0] number_t;

  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  logic [7:0] keep;
  assign keep = last_i ? 8'((9'd1 << count_i) - 9'd1) : '1;
  always_comb assume (count_i <= 8 && count_i != 0);

  logic counter_ready;
  logic unused_key_ready, ready, valid, ok, known;
  tag_t tag;
  rl_auth #(
    .Keys(2)
  ) u_dut (
    .clk_i,
    .rst_ni(rst_n),
    .key_valid_i(1'b0),
    .key_ready_o(unused_key_ready),
    .key_slot_i(1'b0),
    .key_forget_i(1'b0),
    .key_i('0),
    .valid_i(valid_i && rst_n),
    .ready_o(ready),
    .data_i,
    .keep_i(keep),
    .last_i,
    .slot_i,
    .boot_i,
    .to_host_i,
    .counter_valid_i,
    .counter_ready_o(counter_ready),
    .counter_i,
    .tag_valid_i(tag_valid_i && rst_n),
    .tag_i,
    .valid_o(valid),
    .ready_i,
    .ok_o(ok),
    .tag_o(tag),
    .known_o(known)
  );

  // -- frames are numbered; one is watched, and the place of its tag with it
  (* anyseq *) logic [1:0] any_high;
  logic [1:0] high_q;
  logic chosen_q = 1'b0;
  always_ff @(posedge clk_i) begin
    chosen_q <= 1'b1;
    if (!chosen_q) high_q <= any_high;
  end
  number_t watched;
  assign watched = {high_q, u_dut.u_wanted.gen_small.u_ram.place_q};

  number_t
      came_q = '0,
      given_q = '0,
      judged_q = '0;  // Frames whose last word, and whose tag has come; verdicts taken.
  logic here_q = 1'b0;                  // The watched one's tag has come and waits for its verdict.
  tag_t tag_q;                          // Its tag.
  logic beat, ends;
  assign beat = valid_i && ready && rst_n;
  assign ends = beat && last_i;
  always_ff @(posedge clk_i) begin
    if (ends) came_q <= came_q + 1'b1;
    if (tag_valid_i && rst_n) begin
      given_q <= given_q + 1'b1;
      if (given_q == watched) begin
        here_q <= 1'b1;
        tag_q <= tag_i;
      end
    end
    if (valid && ready_i && rst_n) begin
      judged_q <= judged_q + 1'b1;
      if (judged_q == watched) here_q <= 1'b0;
    end
  end

  always_comb if (tag_valid_i && rst_n) assume (ends || given_q != came_q);

  // -- what the tag is made of: the frame's words as they come, and two more
  logic [1:0] after_q = '0;  // 2: the word of boot number, direction and length is due; 1: the counter.
  logic [15:0] length_q = '0;
  logic [31:0] boot_q;
  logic to_host_q, slot_q;
  logic [63:0] whole;
  logic made;
  assign made = u_dut.frame_valid && u_dut.tag_ready && rst_n;
  always_comb begin
    for (int n = 0; n < 8; n++) whole[8*n+:8] = !last_i || 4'(n) < count_i ? data_i[8*n+:8] : 8'd0;
  end
  always_ff @(posedge clk_i) begin
    if (beat) length_q <= length_q + 16'(last_i ? count_i : 4'd8);
    if (ends) begin
      after_q <= 2'd2;
      {boot_q, to_host_q, slot_q} <= {boot_i, to_host_i, slot_i};
    end else if (made && after_q != 0) begin
      after_q <= after_q - 1'b1;
      if (after_q == 1) length_q <= '0;
    end
  end

  logic [2:0] under_way;
  assign under_way = 3'(came_q) - 3'(judged_q);
  always_comb begin
    if (rst_n) begin
      assert (chosen_q && u_dut.u_wanted.gen_small.u_ram.chosen_q);
      // -- verdicts
      if (tag_valid_i) NoneIsLost_A : assert (u_dut.u_wanted.wready_o);
      if (valid) begin
        OneForEach_A : assert (came_q != judged_q && given_q != judged_q);
        NoKeyNotOk_A : assert (known || !ok);
        if (judged_q == watched && here_q) begin
          WrongTagNotOk_A : assert (tag == tag_q || !ok);
          RightTagOk_A : assert (tag != tag_q || !known || ok);
        end
        if (judged_q == watched) assert (here_q);
      end
      // -- what the tag is made of
      if (beat) begin
        WordsAsTheyCome_A :
        assert (made && after_q == 0 && u_dut.frame_data == whole && !u_dut.frame_last);
        KeyOfTheFrame_A : assert (u_dut.frame_slot == slot_i);
      end
      if (made && after_q != 0) begin
        NothingElse_A : assert (!beat);
        LastIsLast_A : assert (u_dut.frame_last == (after_q == 1) && u_dut.frame_slot == slot_q);
        if (after_q == 2)
          Context_A :
          assert (u_dut.frame_data == {length_q, 15'd0, to_host_q, boot_q});
          else Counter_A : assert (u_dut.frame_data == counter_i && counter_valid_i);
      end
      OneCounterEach_A : assert ((counter_valid_i && counter_ready) == (made && after_q == 1));
      if (made) OnlyThese_A : assert (beat || after_q != 0);
      // -- what induction has to know
      assert (after_q != 3 && u_dut.u_frame.part_q == (after_q == 2 ? 1 : after_q == 1 ? 2 : 0));
      assert (length_q == u_dut.u_frame.length_q);
      if (after_q != 0) begin
        assert (u_dut.u_frame.boot_q == boot_q);
        assert (u_dut.u_frame.to_host_q == to_host_q && u_dut.u_frame.slot_q == slot_q);
      end
      assert (number_t'(came_q - judged_q) <= 4 && !(u_dut.made && u_dut.u_tag.inside_q == 0));
      assert (number_t'(given_q - judged_q) <= number_t'(came_q - judged_q));
      assert (under_way == 3'(u_dut.u_tag.inside_q) + 3'(after_q != 0));
      assert (u_dut.u_wanted.gen_small.u_ram.place_q == watched[1:0]);
      assert (u_dut.u_wanted.wptr_q == given_q[2:0] && u_dut.u_wanted.rptr_q == judged_q[2:0]);
      assert (here_q == (number_t'(watched - judged_q) < number_t'(given_q - judged_q)));
      if (here_q) assert (u_dut.u_wanted.gen_small.u_ram.kept_q == tag_q);
    end
  end

  always_ff @(posedge clk_i) begin
    Ok_C : cover (valid && ok && judged_q == 2 && rst_n);
    Wrong_C : cover (valid && known && !ok && came_q - judged_q == 3 && rst_n);
  end
endmodule
