// A FIFO in one clock domain whose first word shows without being asked for. Small ones are
// distributed RAM and add one cycle; large ones are block RAM and add two.
module rl_fifo #(
  parameter int unsigned Width = 64,
  parameter int unsigned Depth = 16,        // A power of two, 2 or more.
  parameter bit          Block = Depth > 64, // Block RAM.
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

  output logic [CountW-1:0] count_o   // Words inside. With Block, the shown one is one more.
);
  if (Depth < 2 || Depth != 1 << $clog2(Depth)) begin : gen_check
    $fatal(0, "rl_fifo: Depth must be a power of two (%m)");
  end

  logic push;
  logic [CountW-1:0] wptr_q, rptr_q, held;

  assign push = wvalid_i && wready_o;
  assign held = wptr_q - rptr_q;
  // Full: the pointers differ in the upper bit only. An equality is smaller than the difference.
  assign wready_o = wptr_q != {~rptr_q[CountW-1], rptr_q[CountW-2:0]};

  if (Block) begin : gen_block
    // The output register holds one word more than the RAM; `fetch` moves the next word there.
    logic fetch, valid_q;
    assign fetch = wptr_q != rptr_q && (!valid_q || rready_i);
    assign rvalid_o = valid_q;
    assign count_o = held;
    rl_ram #(
      .Width(Width),
      .Depth(Depth),
      .Block(1'b1)
    ) u_ram (
      .clk_wr_i(clk_i),
      .we_i(push),
      .waddr_i(wptr_q[CountW-2:0]),
      .wdata_i,
      .clk_rd_i(clk_i),
      .re_i(fetch),
      .raddr_i(rptr_q[CountW-2:0]),
      .rdata_o
    );
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        wptr_q <= '0;
        rptr_q <= '0;
        valid_q <= 1'b0;
      end else begin
        if (push) wptr_q <= wptr_q + 1'b1;
        if (fetch) rptr_q <= rptr_q + 1'b1;
        valid_q <= fetch || (valid_q && !rready_i);
      end
    end
  end else begin : gen_small
    assign rvalid_o = wptr_q != rptr_q;
    assign count_o = held;
    rl_lutram #(
      .Width(Width),
      .Depth(Depth)
    ) u_ram (
      .clk_i,
      .we_i(push),
      .waddr_i(wptr_q[CountW-2:0]),
      .wdata_i,
      .raddr_i(rptr_q[CountW-2:0]),
      .rdata_o
    );
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        wptr_q <= '0;
        rptr_q <= '0;
      end else begin
        if (push) wptr_q <= wptr_q + 1'b1;
        if (rvalid_o && rready_i) rptr_q <= rptr_q + 1'b1;
      end
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
