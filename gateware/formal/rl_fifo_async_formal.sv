// What rl_fifo_async promises, for proofs, with two clocks that tick as they like: one word, any one,
// is watched from its writing to its reading. What crosses between the clocks changes one bit at a
// time, so that a flip-flop that catches a change half way sees the old value or the new one.
module rl_fifo_async_formal #(
  localparam int unsigned Depth = 4,
  localparam int unsigned PtrW = $clog2(Depth) + 1
) (
  input logic       clk_wr_i,
  input logic       rst_wr_ni,
  input logic       pick_i,    // Watch the word that is written now.
  input logic       wvalid_i,
  input logic [1:0] wdata_i,
  input logic       clk_rd_i,
  input logic       rst_rd_ni,
  input logic       rready_i
);
  logic wready, rvalid;
  logic [1:0] rdata;

  rl_fifo_async #(
    .Width(2),
    .Depth(Depth)
  ) u_dut (
    .clk_wr_i,
    .rst_wr_ni,
    .wvalid_i,
    .wready_o(wready),
    .wspare_o(),
    .wdata_i,
    .clk_rd_i,
    .rst_rd_ni,
    .rvalid_o(rvalid),
    .rready_i,
    .rdata_o(rdata)
  );

  // Both sides are held in reset until both have seen it; then each leaves it when it likes, for ever.
  logic seen_wr_q = 1'b0, seen_rd_q = 1'b0, live_wr_q = 1'b0, live_rd_q = 1'b0;
  always_ff @(posedge clk_wr_i) begin
    seen_wr_q <= 1'b1;
    live_wr_q <= rst_wr_ni;
  end
  always_ff @(posedge clk_rd_i) begin
    seen_rd_q <= 1'b1;
    live_rd_q <= rst_rd_ni;
  end
  always_comb begin
    if (!seen_wr_q || !seen_rd_q) assume (!rst_wr_ni && !rst_rd_ni);
    if (live_wr_q) assume (rst_wr_ni);
    if (live_rd_q) assume (rst_rd_ni);
  end

  logic [PtrW-1:0] written_q = '0, taken_q = '0, number_q, held, ahead;
  logic picked_q = 1'b0, found_q = 1'b0;
  logic [1:0] word_q;

  assign held = written_q - taken_q;
  assign ahead = number_q - taken_q;

  always_ff @(posedge clk_wr_i) begin
    if (rst_wr_ni && wvalid_i && wready) begin
      written_q <= written_q + 1'b1;
      if (pick_i && !picked_q) begin
        picked_q <= 1'b1;
        number_q <= written_q;
        word_q <= wdata_i;
      end
    end
  end
  always_ff @(posedge clk_rd_i) begin
    if (rst_rd_ni && rvalid && rready_i) begin
      taken_q <= taken_q + 1'b1;
      if (picked_q && taken_q == number_q) found_q <= 1'b1;
    end
  end

  // The numbers that stand for Gray-coded pointers: here, half way, and where they have arrived.
  function automatic logic [PtrW-1:0] binary(logic [PtrW-1:0] gray);
    for (int unsigned i = 0; i < PtrW; i++) binary[i] = ^(gray >> i);
  endfunction
  logic [PtrW-1:0] w_meta, w_seen, r_meta, r_seen;
  assign w_meta = binary(u_dut.u_sync_w.meta_q);
  assign w_seen = binary(u_dut.wgray_seen);
  assign r_meta = binary(u_dut.u_sync_r.meta_q);
  assign r_seen = binary(u_dut.rgray_seen);

  always_comb begin
    if (seen_wr_q && seen_rd_q) begin
      NoOverrun_A : assert (held <= PtrW'(Depth));
      if (rvalid) NoUnderrun_A : assert (held != 0);
      if (picked_q && !found_q) begin
        WatchedIsHeld_A : assert (ahead < held);
        WatchedIsKept_A :
        assert (u_dut.u_ram.mem[number_q[PtrW-2:0]^(number_q[PtrW-2:0]>>1)] == word_q);
        if (rvalid && ahead == 0) InOrder_A : assert (rdata == word_q);
      end
      // What induction has to know: pointers are behind one another, and none laps another.
      assert (PtrW'(w_seen - taken_q) <= PtrW'(w_meta - taken_q));
      assert (PtrW'(w_meta - taken_q) <= held);
      assert (held <= PtrW'(written_q - r_meta));
      assert (PtrW'(written_q - r_meta) <= PtrW'(written_q - r_seen));
      assert (PtrW'(written_q - r_seen) <= PtrW'(Depth));
      WatchedComesOutOfFull_C : cover (found_q && held == PtrW'(Depth));
    end
    if (seen_wr_q) assert (u_dut.wodd_q == written_q[0] && binary(u_dut.wgray_q) == written_q);
    if (seen_rd_q) assert (u_dut.rodd_q == taken_q[0] && binary(u_dut.rgray_q) == taken_q);
    if (seen_wr_q && !live_wr_q) assert (r_meta == 0 && r_seen == 0);
    if (seen_rd_q && !live_rd_q) assert (w_meta == 0 && w_seen == 0);
    if (live_wr_q || live_rd_q) assert (seen_wr_q && seen_rd_q);
    if (!live_wr_q) assert (written_q == 0 && !picked_q);
    if (!live_rd_q) assert (taken_q == 0 && !found_q);
  end

  logic [PtrW-1:0] wgray_past_q, rgray_past_q;
  always_ff @(posedge clk_wr_i) wgray_past_q <= u_dut.wgray_q;
  always_ff @(posedge clk_rd_i) rgray_past_q <= u_dut.rgray_q;
  always_comb begin
    if (live_wr_q) OneBitOfWrite_A : assert ($onehot0(u_dut.wgray_q ^ wgray_past_q));
    if (live_rd_q) OneBitOfRead_A : assert ($onehot0(u_dut.rgray_q ^ rgray_past_q));
  end
endmodule
