// What rl_fifo_quick promises, as rl_fifo_formal has it of rl_fifo: one word, any one, is watched from its writing to
// its reading, and comes out as the word of its number, unchanged. So none is lost, doubled or out of order.
module rl_fifo_quick_formal #(
  localparam int unsigned Depth = 4,
  localparam int unsigned PtrW = $clog2(Depth) + 1
) (
  input logic       clk_i,
  input logic       pick_i,   // Watch the word that is written now.
  input logic       wvalid_i,
  input logic [1:0] wdata_i,
  input logic       rready_i
);
  typedef logic [PtrW-1:0] number_t;

  logic wready, rvalid, rst_nq = 1'b0;
  logic [1:0] rdata;
  number_t count;
  always_ff @(posedge clk_i) rst_nq <= 1'b1;
  rl_fifo_quick #(
    .Width(2),
    .Depth(Depth)
  ) u_dut (
    .clk_i,
    .rst_ni(rst_nq),
    .wvalid_i,
    .wready_o(wready),
    .wdata_i,
    .rvalid_o(rvalid),
    .rready_i,
    .rdata_o(rdata),
    .count_o(count)
  );

  number_t written_q = '0, taken_q = '0, number_q, held, ahead, place;
  logic picked_q = 1'b0, found_q = 1'b0, push, pop, shown;
  logic [1:0] word_q, kept;
  logic pushed_q;  // A word was written in the last cycle.
  always_ff @(posedge clk_i) pushed_q <= push;
  assign push = wvalid_i && wready;
  assign pop = rvalid && rready_i;
  assign held = written_q - taken_q;
  assign ahead = number_q - taken_q;
  always_ff @(posedge clk_i) begin
    if (rst_nq) begin
      written_q <= written_q + number_t'(push);
      taken_q <= taken_q + number_t'(pop);
      if (push && pick_i && !picked_q) begin
        picked_q <= 1'b1;
        number_q <= written_q;
        word_q <= wdata_i;
      end
      if (picked_q && pop && taken_q == number_q) found_q <= 1'b1;
    end
  end

  // Where the watched word is kept: induction has to know it.
  assign shown = u_dut.stored_valid;
  assign place = u_dut.u_fifo.rptr_q + ahead - number_t'(rvalid) - number_t'(shown);
  always_comb begin
    kept = u_dut.u_fifo.gen_block.u_ram.mem[place[PtrW-2:0]];
    if (rvalid && ahead == 0) kept = rdata;
    else if (shown && ahead == number_t'(rvalid)) kept = u_dut.stored;
  end

  always_comb begin
    if (rst_nq) begin
      NoOverrun_A : assert (held <= number_t'(Depth + 2));
      NoUnderrun_A : assert (!rvalid || held != 0);
      CountIsRight_A :
      assert (count == held - number_t'(rvalid) - number_t'(shown) && count <= number_t'(Depth));
      TakesWhileThereIsRoom_A : assert (wready || held >= number_t'(Depth));
      if (picked_q && !found_q) begin
        WatchedIsHeld_A : assert (ahead < held);
        WatchedIsKept_A : assert (kept == word_q);
        if (pop && ahead == 0) InOrder_A : assert (rdata == word_q);
      end
      WatchedComesOut_C : cover (found_q && held == number_t'(Depth + 2));
      Quick_C : cover (found_q && rvalid && count == 0 && !shown && pushed_q);
    end
  end
endmodule
