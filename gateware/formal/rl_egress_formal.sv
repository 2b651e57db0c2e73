// rl_egress with three sources that have frames of any length whenever they like, may take back what they have offered
// while nothing of it has left, and have any shares. What is checked:
//   - frames are not mixed: from its first word to its last a frame has the port;
//   - each word that was taken comes out once, as it was;
//   - no cycle is lost while anybody offers something and the port moves;
//   - who offers a frame without pause waits until the others have sent twice their shares and a frame each, at most.
module rl_egress_formal #(
  localparam int unsigned Sources = 3,
  localparam int unsigned FrameWords = 3,
  localparam int unsigned ShareW = 3
) (
  input logic                           clk_i,
  input logic [Sources-1:0][ShareW-1:0] share_i,
  input logic [Sources-1:0]             valid_i,
  input logic [Sources-1:0]             last_i,
  input logic [Sources-1:0]             bad_i,
  input logic [Sources-1:0][5:0]        data_i,
  input logic                           ready_i
);
  typedef logic signed [7:0] number_t;
  typedef struct packed {
    logic [1:0] source;
    logic [5:0] data;
    logic       last;
    logic       bad;
  } word_t;

  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  logic [Sources-1:0] ready;
  logic [Sources-1:0][7:0] data;
  logic valid_out, last_out, bad_out, unused_keep;
  logic [7:0] data_out;
  for (genvar i = 0; i < Sources; i++) begin : gen_data
    assign data[i] = {2'(i), data_i[i]};
  end
  rl_egress #(
    .DataW(8),
    .Sources(Sources),
    .ShareW(ShareW),
    .FrameWords(FrameWords)
  ) u_dut (
    .clk_i,
    .rst_ni(rst_n),
    .share_i,
    .valid_i(valid_i & {Sources{rst_n}}),
    .ready_o(ready),
    .data_i(data),
    .keep_i('1),
    .last_i,
    .bad_i,
    .valid_o(valid_out),
    .ready_i,
    .data_o(data_out),
    .keep_o(unused_keep),
    .last_o(last_out),
    .bad_o(bad_out)
  );

  // -- the sources: frames of FrameWords words at most, without a gap
  logic [Sources-1:0][1:0] at_q = '0;  // Words of a frame that were taken.
  logic [Sources-1:0][ShareW-1:0] share_q;
  logic known_q = 1'b0;
  always_ff @(posedge clk_i) begin
    share_q <= share_i;
    known_q <= 1'b1;
    if (known_q) assume (share_i == share_q);
    for (int i = 0; i < Sources; i++) begin
      assume (share_i[i] >= ShareW'(FrameWords));
      assume (at_q[i] == 0 || valid_i[i]);
      assume (at_q[i] != 2'(FrameWords - 1) || last_i[i]);
      if (rst_n && ready[i]) at_q[i] <= last_i[i] ? '0 : at_q[i] + 1'b1;
    end
  end

  // -- what was taken, and comes out
  logic waits_q = 1'b0;  // A word that was taken has not come out.
  word_t word_q;
  always_ff @(posedge clk_i) begin
    if (rst_n) begin
      if (ready != 0) waits_q <= 1'b1;
      else if (ready_i) waits_q <= 1'b0;
      for (int i = 0; i < Sources; i++)
      if (ready[i])
        word_q <= '{
            source: 2'(i),
            data: data_i[i],
            last: last_i[i],
            bad: last_i[i] && bad_i[i]
        };
    end
  end
  logic [Sources-1:0] begun;
  for (genvar i = 0; i < Sources; i++) begin : gen_begun
    assign begun[i] = at_q[i] != 0;
  end
  always_comb begin
    if (rst_n) begin
      assert ($onehot0(ready));
      assert ((ready & ~valid_i) == 0);
      WordsComeOut_A :
      assert (valid_out == waits_q && (!waits_q || {data_out, last_out, bad_out} == word_q));
      if (waits_q && !ready_i) assert (ready == 0);
      if (begun != 0) NotMixed_A : assert ((ready & ~begun) == 0);
      if (valid_i != 0 && (!waits_q || ready_i)) NoCycleLost_A : assert (ready != 0);
      // What induction has to know.
      assert ($onehot0(begun) && u_dut.held_q == begun);
    end
  end

  // -- source 0 waits: words of the others since, and rounds
  number_t [Sources-1:0] sent_q = '0, credit, share;
  logic round_q = 1'b0, waiting;
  assign waiting = valid_i[0] && at_q[0] == 0 && !ready[0];
  for (genvar i = 0; i < Sources; i++) begin : gen_number
    assign credit[i] = number_t'(signed'(u_dut.credit_q[i]));
    assign share[i] = number_t'({1'b0, share_i[i]});
  end
  always_ff @(posedge clk_i) begin
    if (rst_n) begin
      if (!waiting) begin
        sent_q <= '0;
        round_q <= 1'b0;
      end else begin
        for (int i = 1; i < Sources; i++) if (ready[i]) sent_q[i] <= sent_q[i] + 1'b1;
        if (u_dut.round && u_dut.moves) round_q <= 1'b1;
      end
      for (int i = 1; i < Sources; i++)
      assert (sent_q[i] <= 2 * share[i] + number_t'(FrameWords) - 1);
      // What induction has to know.
      for (int i = 0; i < Sources; i++) begin
        assert (u_dut.rich_q[i] == (credit[i] > 0));
        assert (credit[i] <= share[i]);
        assert (credit[i] >= 1 - number_t'(at_q[i] == 0 ? 2'(FrameWords) : at_q[i]));
        assert (at_q[i] < 2'(FrameWords));
        if (i > 0) assert (sent_q[i] + credit[i] <= (round_q ? 2 * share[i] : share[i]));
      end
      if (round_q) assert (u_dut.rich_q[0]);
    end else begin
      assert (sent_q == '0);
    end
    WaitsLong_C : cover (rst_n && share_i == {3'd3, 3'd3, 3'd3} && sent_q[1] + sent_q[2] >= 10);
  end
endmodule
