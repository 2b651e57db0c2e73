// rl_wire_words with frames of any number of words that come at any pace, are committed or rolled back, and whose
// words are taken at any pace. What is checked of what comes out:
//   - word follows word of a frame, from its first to its last, and frames in their order;
//   - all are of frames that were committed: nothing of one that was rolled back, and nothing before the commit.
// A word of data tells which frame of those that were committed it is of, which word of it, and whether it is the last.
module rl_wire_words_formal (
  input logic clk_i,
  input logic word_i,
  input logic last_i,
  input logic commit_i,
  input logic rollback_i,
  input logic ready_i
);
  localparam int unsigned Words = 4, PtrW = 3;
  typedef struct packed {
    logic       last;
    logic [3:0] frame;
    logic [2:0] at;
  } word_t;

  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  // -- a writer as rl_bridge_rx is one: it commits what has its last word and lost none, and otherwise rolls back
  logic full, writes, whole, whole_q = 1'b0, lost_q = 1'b0, ends, commits, rolls;
  logic [3:0] frame_q = '0;
  logic [2:0] at_q = '0;
  word_t word;
  // After a payload's last word there is none; a head is enough for no more words than numbers have.
  assign writes = rst_n && word_i && !whole_q && at_q != '1;
  assign whole = whole_q || (writes && last_i);
  assign commits = rst_n && commit_i && whole && !lost_q && !(writes && full);
  assign rolls = rst_n && rollback_i && !commits;
  assign ends = commits || rolls;
  assign word = '{last: last_i, frame: frame_q, at: at_q};
  always_ff @(posedge clk_i) begin
    if (rst_n) begin
      whole_q <= whole && !ends;
      lost_q <= (lost_q || (writes && full)) && !ends;
      at_q <= ends ? '0 : at_q + 3'(writes);
      if (commits) frame_q <= frame_q + 1'b1;
    end
  end

  logic valid, last;
  logic [7:0] data;
  rl_wire_words #(
    .DataW(8),
    .Words(Words)
  ) u_dut (
    .clk_i,
    .rst_ni(rst_n),
    .word_i(writes),
    .data_i(word),
    .last_i,
    .full_o(full),
    .commit_i(commits),
    .rollback_i(rolls),
    .valid_o(valid),
    .ready_i,
    .data_o(data),
    .last_o(last)
  );

  // -- what has come out last, as if before the first frame one had ended
  word_t seen_q = '{last: 1'b1, frame: '1, at: '0};
  word_t shown;
  assign shown = word_t'(data);
  function automatic logic follows(word_t prior, word_t next);
    if (prior.last) return next.frame == prior.frame + 4'd1 && next.at == 3'd0;
    return next.frame == prior.frame && next.at == prior.at + 3'd1;
  endfunction
  always_ff @(posedge clk_i) if (rst_n && valid && ready_i) seen_q <= shown;
  always_comb begin
    if (rst_n && valid) begin
      InOrder_A : assert (follows(seen_q, shown) && shown.last == last);
      Committed_A : assert (shown.frame != frame_q);
    end
  end

  // -- what induction has to know: the words inside, from the one that came out last to the one that comes in next
  logic [PtrW-1:0] held, ready_words;
  assign held = u_dut.wptr_q - u_dut.rptr_q;
  assign ready_words = u_dut.base_q - u_dut.rptr_q;
  always_comb begin
    automatic word_t prior = seen_q;
    if (rst_n) begin
      assert (held <= PtrW'(Words) && ready_words <= held);
      assert (!lost_q || at_q != '0);
      assert (lost_q || PtrW'(held - ready_words) == at_q);
      assert (lost_q || whole_q || at_q == '0 || held != ready_words);
      assert (!whole_q || at_q != '0);
      if (u_dut.valid_o) prior = shown;
      for (int k = 0; k < Words; k++) begin
        automatic logic [PtrW-2:0] place = u_dut.rptr_q[PtrW-2:0] + (PtrW-1)'(k);
        automatic word_t inside_word = word_t'(u_dut.u_ram.mem[place][7:0]);
        if (PtrW'(k) == ready_words) assert (prior.last && prior.frame + 4'd1 == frame_q);
        if (PtrW'(k) < held) begin
          if (PtrW'(k) < ready_words || !lost_q) begin
            assert (follows(prior, inside_word));
            assert (inside_word.last == u_dut.u_ram.mem[place][8]);
            assert ((inside_word.frame == frame_q) == (PtrW'(k) >= ready_words));
            prior = inside_word;
          end
        end
      end
      if (PtrW'(Words) == ready_words) assert (prior.last && prior.frame + 4'd1 == frame_q);
      // Those that are not committed have no last word but at their end.
      if (!lost_q && at_q != '0) assert (prior.last == whole_q && prior.at + 3'd1 == at_q);
    end
    FullAndTaken_C : cover (rst_n && held == PtrW'(Words) && valid && ready_i && shown.at == 3'd2);
  end
endmodule
