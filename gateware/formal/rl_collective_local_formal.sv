// A copy of up to three bursts or a reduction of two, at any place in a burst, while memory fails as it likes: each
// byte of its destination is written once, no other byte is, nothing is when its burst's words have failed to come, and
// it ends when memory has answered all, with the word of any failure. One byte is watched, any of them. Memory takes
// and gives at once, since the solver finds no end otherwise: the benches have memories that pause.
module rl_collective_local_formal
  import rl_collective_pkg::*;
#(
  localparam int unsigned Longest = 24  // Bytes of a copy; a burst has 16.
) (
  input logic        clk_i,
  input logic        begin_i,
  input command_t    command_i,
  input logic [6:0]  watched,     // Steady.
  input logic [63:0] r_data_i,
  input logic        r_failed_i,
  input logic [1:0]  b_resp_i
);
  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  logic busy, ends, failed, ar_valid, aw_valid, w_valid, w_last, gives, gives_last, answers;
  logic [36:0] unused_ar_beat;
  logic [7:0] ar_len, aw_len;
  logic [39:0] aw_addr;
  logic [63:0] unused_data;
  logic [7:0] w_strb;
  rl_collective_local #(
    .DataW(64),
    .Burst(2),
    .Depth(4)
  ) u_dut (
    .clk_i,
    .rst_ni(rst_n),
    .begin_i,
    .command_i,
    .busy_o(busy),
    .end_o(ends),
    .failed_o(failed),
    .ar_valid_o(ar_valid),
    .ar_ready_i(1'b1),
    .ar_beat_o(unused_ar_beat),
    .ar_len_o(ar_len),
    .r_valid_i(gives),
    .r_data_i,
    .r_failed_i,
    .r_last_i(gives_last),
    .aw_valid_o(aw_valid),
    .aw_ready_i(1'b1),
    .aw_addr_o(aw_addr),
    .aw_len_o(aw_len),
    .w_valid_o(w_valid),
    .w_ready_i(1'b1),
    .w_data_o(unused_data),
    .w_strb_o(w_strb),
    .w_last_o(w_last),
    .b_valid_i(answers),
    .b_resp_i
  );

  // -- what is asked of memory: words that it owes, bursts whose words come next, and those that it has not answered
  logic [7:0] owed_q = '0, answers_q = '0;
  logic [7:0] lasts_q = '0;  // Which of the words that it owes are the last of a burst.
  logic [3:0][4:0] bursts_q;  // The beat of each, of 32.
  logic [2:0] held_q = '0, next;
  logic [4:0] beat, step_q = '0;
  logic closes;
  assign gives = owed_q != '0;
  assign gives_last = lasts_q[0];
  assign answers = answers_q != '0;
  assign closes = w_valid && w_last;
  assign next = held_q - 3'(closes);
  assign beat = bursts_q[0] + step_q;
  always_ff @(posedge clk_i) begin
    if (rst_n) begin
      owed_q <= owed_q + (ar_valid ? ar_len + 8'd1 : 8'd0) - 8'(gives);
      lasts_q <= (lasts_q >> gives) | (ar_valid ? 8'd1 << (owed_q - 8'(gives) + ar_len) : '0);
      answers_q <= answers_q + 8'(closes) - 8'(answers);
      held_q <= next + 3'(aw_valid);
      step_q <= closes ? '0 : step_q + 5'(w_valid);
      for (int unsigned i = 0; i < 4; i++) begin
        if (aw_valid && next == 3'(i)) bursts_q[i] <= aw_addr[7:3];
        else if (closes && i < 3) bursts_q[i] <= bursts_q[i+1];
      end
    end
  end

  // -- the command, and what became of the watched byte
  logic [6:0] watched_q;
  logic runs_q = 1'b0, reduces_q, written_q = 1'b0, broken_q = 1'b0, hit, is_its;
  logic [7:0] its_word;
  logic [6:0] to_q;
  logic [2:0] from_q;
  logic [28:0] length_q;
  logic [7:0] read_q;  // Words that have come.
  logic spoilt_q = 1'b0;  // What a copy has at the watched byte is of a word that failed to come.
  assign hit = w_valid && beat == {1'b0, watched[6:3]} && w_strb[watched[2:0]];
  assign its_word = 8'((watched - to_q + 7'(from_q)) >> 3);
  assign is_its = runs_q && watched >= to_q && 29'(watched) < 29'(to_q) + length_q;
  always_ff @(posedge clk_i) begin
    watched_q <= watched;
    if (rst_n) begin
      runs_q <= begin_i || (runs_q && !ends);
      if (begin_i)
        {reduces_q, to_q, from_q, length_q} <= {
          command_i.code == Reduce, command_i.to[6:0], command_i.from[2:0], command_i.length
        };
      read_q <= begin_i ? '0 : read_q + 8'(gives);
      spoilt_q <= !begin_i && (spoilt_q || (gives && r_failed_i && is_its && !reduces_q && read_q == its_word));
      written_q <= !begin_i && (written_q || hit);
      broken_q <= !begin_i && (broken_q || (gives && r_failed_i) || (answers && b_resp_i != '0));
    end
  end
  always_comb begin
    assume (!rst_n || watched == watched_q);
    assume (!begin_i || (rst_n && !busy));
    assume (command_i.length != '0 && command_i.length <= (command_i.code == Reduce ? 29'd16 : 29'(Longest)));
    // A burst has 16 bytes.
    assume (command_i.code inside {Copy, Reduce} && command_i.from[39:3] == '0 && command_i.to[39:4] == '0);
    if (rst_n) begin
      if (aw_valid) NoFurther_A : assert (aw_addr[39:8] == '0 && held_q != 3'd4);
      if (w_valid) OfABurst_A : assert (held_q != '0);
      if (hit) NothingElse_A : assert (is_its && !written_q);
      if (hit) NothingThatFailed_A : assert (!spoilt_q);
      if (ends && !failed) AllOfIt_A : assert (!is_its || written_q);
      if (ends)
        AllAnswered_A : assert (answers_q == '0 && held_q == '0 && owed_q == '0 && !aw_valid);
      if (ends) SaysSo_A : assert (failed == broken_q);
    end
    Copies_C : cover (rst_n && ends && !failed && !reduces_q && length_q == 29'd16);
    Reduces_C : cover (rst_n && ends && !failed && reduces_q && length_q == 29'd16);
  end
endmodule
