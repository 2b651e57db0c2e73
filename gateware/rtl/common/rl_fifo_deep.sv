// rl_fifo for so many words that a block RAM holds a few bits of each: every such slice is a memory of its own, so that
// no multiplexer has to choose between block RAMs, of which each has a part of the words. That takes some more of them.
module rl_fifo_deep #(
  parameter int unsigned Width = 64,
  parameter int unsigned Depth = 8192,          // A power of two, 2 or more.
  parameter int unsigned SliceW = Depth < 32768 ? 32768 / Depth : 1,  // Bits of a slice.
  localparam int unsigned CountW = $clog2(Depth) + 1
) (
  input  logic              clk_i,
  input  logic              rst_ni,

  input  logic              wvalid_i,
  output logic              wready_o,  // Does not depend on rready_i.
  input  logic [Width-1:0]  wdata_i,

  output logic              rvalid_o,
  input  logic              rready_i,
  output logic [Width-1:0]  rdata_o,

  output logic [CountW-1:0] count_o    // Words inside. The shown one is one more.
);
  if (Depth < 2 || Depth != 1 << $clog2(Depth)) begin : gen_check
    $fatal(0, "rl_fifo_deep: Depth must be a power of two (%m)");
  end
  localparam int unsigned Slices = (Width + SliceW - 1) / SliceW;
  logic push, fetch;
  logic [CountW-1:0] wptr_q, rptr_q;
  assign push = wvalid_i && wready_o;
  // The output registers hold one word more than the RAM; `fetch` moves the next word there.
  assign fetch = wptr_q != rptr_q && (!rvalid_o || rready_i);
  assign wready_o = wptr_q != {~rptr_q[CountW-1], rptr_q[CountW-2:0]};
  assign count_o = wptr_q - rptr_q;
  for (genvar s = 0; s < int'(Slices); s++) begin : gen_slice
    localparam int unsigned From = s * SliceW;
    localparam int unsigned PartW = Width - From < SliceW ? Width - From : SliceW;
    rl_ram #(
      .Width(PartW),
      .Depth(Depth),
      .Block(1'b1)
    ) u_ram (
      .clk_wr_i(clk_i),
      .we_i(push),
      .waddr_i(wptr_q[CountW-2:0]),
      .wdata_i(wdata_i[From+:PartW]),
      .clk_rd_i(clk_i),
      .re_i(fetch),
      .raddr_i(rptr_q[CountW-2:0]),
      .rdata_o(rdata_o[From+:PartW])
    );
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      wptr_q <= '0;
      rptr_q <= '0;
      rvalid_o <= 1'b0;
    end else begin
      if (push) wptr_q <= wptr_q + 1'b1;
      if (fetch) rptr_q <= rptr_q + 1'b1;
      rvalid_o <= fetch || (rvalid_o && !rready_i);
    end
  end

`ifndef SYNTHESIS
  rl_stays #(
    .Width(Width)
  ) u_stays (
    .clk_i,
    .rst_ni,
    .valid_i(rvalid_o),
    .ready_i(rready_i),
    .data_i(rdata_o)
  );
`endif
endmodule
