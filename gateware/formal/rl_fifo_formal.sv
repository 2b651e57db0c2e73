// What rl_fifo promises, for proofs. One word, any one, is watched from its writing to its reading:
// it comes out as the word of its number, unchanged. So none is lost, doubled or out of order.
module rl_fifo_formal #(
  parameter bit Block = 1'b0,
  localparam int unsigned Depth = 4,
  localparam int unsigned PtrW = $clog2(Depth) + 1
) (
  input logic       clk_i,
  input logic       pick_i,   // Watch the word that is written now.
  input logic       wvalid_i,
  input logic [1:0] wdata_i,
  input logic       rready_i
);
  // Words that are inside, at most.
  localparam logic [PtrW-1:0] Room = PtrW'(Depth) + PtrW'(Block);

  logic wready, rvalid, rst_nq = 1'b0;
  logic [1:0] rdata;
  logic [PtrW-1:0] count;

  always_ff @(posedge clk_i) rst_nq <= 1'b1;

  rl_fifo #(
    .Width(2),
    .Depth(Depth),
    .Block(Block)
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

  logic [PtrW-1:0] written_q = '0, taken_q = '0, number_q, held, ahead;
  logic picked_q = 1'b0, found_q = 1'b0, push, pop;
  logic [1:0] word_q, kept;

  assign push = wvalid_i && wready;
  assign pop = rvalid && rready_i;
  assign held = written_q - taken_q;
  assign ahead = number_q - taken_q;

  always_ff @(posedge clk_i) begin
    if (rst_nq) begin
      written_q <= written_q + PtrW'(push);
      taken_q <= taken_q + PtrW'(pop);
      if (push && pick_i && !picked_q) begin
        picked_q <= 1'b1;
        number_q <= written_q;
        word_q <= wdata_i;
      end
      if (picked_q && pop && taken_q == number_q) found_q <= 1'b1;
    end
  end

  // Where the watched word is kept: induction has to know it.
  if (Block) begin : gen_block
    logic [1:0] stored;
    assign stored = u_dut.gen_block.u_ram.mem[number_q[PtrW-2:0]];
    assign kept = ahead == 0 && rvalid ? rdata : stored;
    always_comb begin
      if (rst_nq) begin
        assert (u_dut.wptr_q == written_q);
        assert (u_dut.rptr_q == taken_q + PtrW'(rvalid));
      end
    end
  end else begin : gen_small
    assign kept = u_dut.gen_small.u_ram.mem[number_q[PtrW-2:0]];
    always_comb begin
      if (rst_nq) begin
        assert (u_dut.wptr_q == written_q);
        assert (u_dut.rptr_q == taken_q);
      end
    end
  end

  always_comb begin
    if (rst_nq) begin
      NoOverrun_A : assert (held <= Room);
      NoUnderrun_A : assert (!rvalid || held != 0);
      CountIsRight_A : assert (count == held - PtrW'(Block && rvalid));
      TakesWhileThereIsRoom_A : assert (wready || held >= PtrW'(Depth));
      if (picked_q && !found_q) begin
        WatchedIsHeld_A : assert (ahead < held);
        WatchedIsKept_A : assert (kept == word_q);
        if (pop && ahead == 0) InOrder_A : assert (rdata == word_q);
      end
      WatchedComesOut_C : cover (found_q && held == Room);
    end
  end
endmodule
