// rl_port_queue with frames of any length, that come and are taken at any pace, are good or bad, wanted or not, too
// long, and may leave before their end or not, all as it pleases. What is checked of what comes out:
//   - a frame begins with its first word, and word follows word of it without a gap, a hole or a word of another;
//   - it ends with its last word and was taken, or with a word that says that it is not whole;
//   - frames leave in the order in which they came, and none that was taken is lost;
//   - a frame that was taken is offered at once when those before it have left.
// A word of data tells which frame it is of, which word of it, whether it is the first, and whether the frame is taken.
module rl_port_queue_formal #(
  parameter int unsigned Lead = 1
) (
  input logic clk_i,
  input logic valid_i,
  input logic last_i,
  input logic take_i,
  input logic early_i,
  input logic long_i,
  input logic ready_i
);
  localparam int unsigned Words = 4, PtrW = 3;
  typedef struct packed {
    logic       last;
    logic       taken;
    logic       first;
    logic [1:0] frame;
    logic [1:0] at;
  } word_t;
  localparam word_t Between = '{last: 1'b1, taken: 1'b1, default: '0};

  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  // -- frames that come in
  logic open_q = 1'b0;  // A frame has begun and not ended.
  logic [1:0] frame_q = '0, at_q = '0;
  word_t word;
  assign word = '{
          last: last_i,
          taken: take_i && last_i,
          first: !open_q,
          frame: frame_q,
          at: open_q ? at_q : 2'd0
      };
  always_ff @(posedge clk_i) begin
    if (rst_n && valid_i) begin
      open_q <= !last_i;
      at_q <= word.at + 1'b1;
      if (last_i) frame_q <= frame_q + 1'b1;
    end
  end

  logic valid, last, bad, unused_room;
  logic [15:0] data;
  logic [1:0] unused_keep;
  rl_port_queue #(
    .DataW(16),
    .Words(Words),
    .Lead(Lead)
  ) u_dut (
    .clk_i,
    .rst_ni(rst_n),
    .valid_i(valid_i && rst_n),
    .data_i(16'(word)),
    .keep_i(2'b11),
    .last_i,
    .take_i,
    .early_i,
    .long_i,
    .room_o(unused_room),
    .valid_o(valid),
    .ready_i,
    .data_o(data),
    .keep_o(unused_keep),
    .last_o(last),
    .bad_o(bad)
  );

  // -- what has come out: the last word, or that a frame has ended
  word_t seen_q = Between, shown;
  assign shown = word_t'(data);
  function automatic logic follows(word_t prior, word_t next);
    if (prior.last) return next.first && next.at == 2'd0;
    return !next.first && next.frame == prior.frame && next.at == prior.at + 2'd1;
  endfunction
  always_ff @(posedge clk_i) begin
    if (rst_n && valid && ready_i) seen_q <= last ? Between : shown;
  end
  always_comb begin
    if (rst_n) begin
      if (!seen_q.last) NoGap_A : assert (valid);
      if (valid && bad) EndsWhatHasBegun_A : assert (last && !seen_q.last);
      if (valid && !bad) begin
        InOrder_A : assert (follows(seen_q, shown));
        WholeAndTaken_A : assert (last == shown.last && (!last || shown.taken));
      end
    end
  end

  // -- what induction has to know: the words inside, from the one that came out last to the one that comes in next
  logic [PtrW-1:0] held, ready_words;
  assign held = u_dut.wptr_q - u_dut.rptr_q;
  assign ready_words = u_dut.base_q - u_dut.rptr_q;
  always_comb begin
    automatic word_t prior = seen_q;
    if (rst_n) begin
      assert (u_dut.inside_q == !seen_q.last);
      assert (held <= PtrW'(Words));
      assert (!u_dut.broken_q || u_dut.inside_q);
      assert (!u_dut.out_q || (open_q && !u_dut.lost_q && !u_dut.broken_q));
      assert (!u_dut.early_q || (open_q && !u_dut.lost_q));
      assert (open_q || !u_dut.lost_q);
      if (!u_dut.out_q && ready_words != 0) TakenComesOut_A : assert (valid || u_dut.fetch);
      assert (u_dut.out_q || ready_words <= held);
      assert (open_q || ready_words == held);
      if (!u_dut.out_q && open_q && !u_dut.lost_q) assert (ready_words != held);
      if (u_dut.shows_q) begin
        assert (follows(
            prior, shown
        ) && shown.last == u_dut.shown.last && (!shown.last || shown.taken));
        if (u_dut.out_q) assert (!shown.last);
        prior = shown;
      end
      if (u_dut.broken_q) begin
        assert (!prior.last);
        prior = Between;
      end
      for (int k = 0; k < Words; k++) begin
        automatic logic [PtrW-2:0] place = u_dut.rptr_q[PtrW-2:0] + (PtrW-1)'(k);
        automatic word_t inside_word = word_t'(u_dut.u_ram.mem[place][15:0]);
        // Where frames end that were taken.
        if (!u_dut.out_q && PtrW'(k) == ready_words) assert (prior.last);
        if (PtrW'(k) < held) begin
          assert (follows(prior, inside_word));
          assert (inside_word.last == u_dut.u_ram.mem[place][17] && (!inside_word.last || inside_word.taken));
          if (u_dut.out_q || PtrW'(k) >= ready_words) assert (!inside_word.last);
          prior = inside_word;
        end
      end
      if (!u_dut.out_q && PtrW'(Words) == ready_words) assert (prior.last);
      if (open_q && !u_dut.lost_q) assert (follows(prior, word));
    end
    SomethingBad_C : cover (rst_n && valid && bad && ready_i);
    LeavesEarlyWhole_C :
    cover (rst_n && u_dut.out_q && valid_i && last_i && take_i && u_dut.commit);
  end
endmodule
