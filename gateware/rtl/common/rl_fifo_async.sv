// A FIFO between two clock domains (Cummings, Simulation and Synthesis Techniques for Asynchronous
// FIFO Design, SNUG 2002): Gray-coded pointers cross, data stays in a memory both sides see.
// Both resets must be asserted together; either may be released first.
module rl_fifo_async #(
  parameter int unsigned Width = 64,
  parameter int unsigned Depth = 16, // A power of two, 4 or more. Distributed RAM.
  localparam int unsigned PtrW = $clog2(Depth) + 1
) (
  input  logic             clk_wr_i,
  input  logic             rst_wr_ni,
  input  logic             wvalid_i,
  output logic             wready_o,
  output logic             wspare_o,  // Room for two words.
  input  logic [Width-1:0] wdata_i,

  input  logic             clk_rd_i,
  input  logic             rst_rd_ni,
  output logic             rvalid_o,
  input  logic             rready_i,
  output logic [Width-1:0] rdata_o
);
  if (Depth < 4 || Depth != 1 << $clog2(Depth)) begin : gen_check
    $fatal(0, "rl_fifo_async: Depth must be a power of two (%m)");
  end

  logic [PtrW-1:0] wbin_q, wgray_q, rbin_q, rgray_q, wgray_seen, rgray_seen;
  logic [PtrW-1:0] wbin_d, wgray_d, rbin_d;  // The next ones.
  logic push, pop;

  assign push = wvalid_i && wready_o;
  assign pop = rvalid_o && rready_i;
  assign wbin_d = wbin_q + 1'b1;
  assign wgray_d = wbin_d ^ (wbin_d >> 1);
  assign rbin_d = rbin_q + 1'b1;
  // Full: the pointers are Depth apart, which in Gray code differs in the two upper bits.
  assign wready_o = wgray_q != {~rgray_seen[PtrW-1-:2], rgray_seen[PtrW-3:0]};
  assign rvalid_o = rgray_q != wgray_seen;
  assign wspare_o = wready_o && wgray_d != {~rgray_seen[PtrW-1-:2], rgray_seen[PtrW-3:0]};

  rl_lutram #(
    .Width(Width),
    .Depth(Depth)
  ) u_ram (
    .clk_i(clk_wr_i),
    .we_i(push),
    .waddr_i(wbin_q[PtrW-2:0]),
    .wdata_i,
    .raddr_i(rbin_q[PtrW-2:0]),
    .rdata_o
  );
  rl_sync #(
    .Width(PtrW)
  ) u_sync_w (
    .clk_i(clk_rd_i),
    .rst_ni(rst_rd_ni),
    .d_i(wgray_q),
    .q_o(wgray_seen)
  );
  rl_sync #(
    .Width(PtrW)
  ) u_sync_r (
    .clk_i(clk_wr_i),
    .rst_ni(rst_wr_ni),
    .d_i(rgray_q),
    .q_o(rgray_seen)
  );

  always_ff @(posedge clk_wr_i) begin
    if (!rst_wr_ni) begin
      wbin_q <= '0;
      wgray_q <= '0;
    end else if (push) begin
      wbin_q <= wbin_d;
      wgray_q <= wgray_d;
    end
  end

  always_ff @(posedge clk_rd_i) begin
    if (!rst_rd_ni) begin
      rbin_q <= '0;
      rgray_q <= '0;
    end else if (pop) begin
      rbin_q <= rbin_d;
      rgray_q <= rbin_d ^ (rbin_d >> 1);
    end
  end

`ifndef SYNTHESIS
  HeadIsStable_A :
  assert property (@(posedge clk_rd_i) disable iff (!rst_rd_ni)
    rvalid_o && !rready_i |=> rvalid_o && $stable(
      rdata_o
  ));
`endif
endmodule
