// Words of elements out of a file through rl_collective_reduce, and their results into another one: so that as many are
// tried as a simulator can do. While words are under way the next ones and what takes them pause at random.
//
// The file has runs: a word with operation, datatype, words and whether the run pauses, 16 bits each; and left and
// right words in turn.
module rl_collective_reduce_tb
  import rl_collective_pkg::*;
#(
  parameter int unsigned DataW = 64
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  output logic        done_o,
  output logic [31:0] stalls_o  // Cycles in runs without pauses in which a word was not taken.
);
  typedef logic [DataW-1:0] word_t;
  int from, to;
  initial begin
    from = $fopen("operands.bin", "rb");
    to = $fopen("results.bin", "wb");
  end
  // A file's bytes come with the first one in front.
  function automatic word_t next_word();
    word_t got;
    next_word = '0;
    if ($fread(got, from) == DataW / 8)
      for (int i = 0; i < DataW / 8; i++) next_word[8*i+:8] = got[DataW-8-8*i+:8];
  endfunction

  logic valid, ready, last, out_valid, out_ready, out_last;
  word_t left, right, result;
  op_e op;
  datatype_e datatype;
  rl_collective_reduce #(
    .DataW(DataW)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .op_i(op),
    .datatype_i(datatype),
    .valid_i(valid),
    .ready_o(ready),
    .left_i(left),
    .right_i(right),
    .last_i(last),
    .valid_o(out_valid),
    .ready_i(out_ready),
    .result_o(result),
    .last_o(out_last)
  );

  logic [15:0] sent, want, came;
  logic busy, pauses;
  word_t head;
  assign last = sent == want;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {valid, busy, done_o, stalls_o} <= '0;
      out_ready <= 1'b1;
    end else if (!done_o) begin
      out_ready <= !pauses || $urandom % 3 != 0;
      if (!busy) begin
        head = next_word();
        op <= op_e'(head[2:0]);
        datatype <= datatype_e'(head[19:16]);
        want <= head[47:32];
        pauses <= head[48];
        {sent, came} <= '0;
        if (head[47:32] == '0) begin
          done_o <= 1'b1;
          $fclose(to);
        end
        busy <= 1'b1;
      end else begin
        if (valid && !ready && !pauses) stalls_o <= stalls_o + 1;
        if (!valid || ready) begin
          if (sent != want && (!pauses || $urandom % 3 != 0)) begin
            left <= next_word();
            right <= next_word();
            sent <= sent + 1'b1;
            valid <= 1'b1;
          end else valid <= 1'b0;
        end
        if (out_valid && out_ready) begin
          for (int i = 0; i < DataW / 32; i++) $fwrite(to, "%u", result[32*i+:32]);
          came <= came + 1'b1;
          // The last one is marked, and no other is.
          if (out_last != (came + 1'b1 == want)) $error("a word is wrongly the last one");
          if (came + 1'b1 == want) busy <= 1'b0;
        end
      end
    end
  end
endmodule
