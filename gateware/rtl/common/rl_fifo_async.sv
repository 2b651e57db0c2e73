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

  // The pointers are in Gray code only: one that counts is smaller than a number that is coded. With it goes
  // whether it has an odd number of ones, that is, whether it is odd as a number.
  typedef logic [PtrW-1:0] ptr_t;
  function automatic ptr_t after(ptr_t gray, logic odd);
    ptr_t next;
    logic zeros;  // It is odd, and the bits further down are 0: this bit changes if the one below is 1.
    next[0] = gray[0] ^ !odd;
    zeros = odd;
    for (int unsigned i = 1; i < PtrW; i++) begin
      next[i] = gray[i] ^ (zeros && (gray[i-1] || i == PtrW - 1));
      zeros &= !gray[i-1];
    end
    return next;
  endfunction
  // The same code with a bit less: it goes through all places.
  function automatic logic [PtrW-2:0] place(ptr_t gray);
    place = gray[PtrW-2:0];
    place[PtrW-2] ^= gray[PtrW-1];
  endfunction

  ptr_t wgray_q, rgray_q, wgray_seen, rgray_seen, wgray_d;
  logic wodd_q, rodd_q, push, pop;

  assign push = wvalid_i && wready_o;
  assign pop = rvalid_o && rready_i;
  assign wgray_d = after(wgray_q, wodd_q);
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
    .waddr_i(place(wgray_q)),
    .wdata_i,
    .raddr_i(place(rgray_q)),
    .rdata_o
  );
  rl_gray_sync #(
    .Width(PtrW)
  ) u_sync_w (
    .clk_i(clk_rd_i),
    .rst_ni(rst_rd_ni),
    .gray_i(wgray_q),
    .gray_o(wgray_seen)
  );
  rl_gray_sync #(
    .Width(PtrW)
  ) u_sync_r (
    .clk_i(clk_wr_i),
    .rst_ni(rst_wr_ni),
    .gray_i(rgray_q),
    .gray_o(rgray_seen)
  );

  always_ff @(posedge clk_wr_i) begin
    if (!rst_wr_ni) begin
      wodd_q <= 1'b0;
      wgray_q <= '0;
    end else if (push) begin
      wodd_q <= !wodd_q;
      wgray_q <= wgray_d;
    end
  end

  always_ff @(posedge clk_rd_i) begin
    if (!rst_rd_ni) begin
      rodd_q <= 1'b0;
      rgray_q <= '0;
    end else if (pop) begin
      rodd_q <= !rodd_q;
      rgray_q <= after(rgray_q, rodd_q);
    end
  end

`ifndef SYNTHESIS
  rl_stays #(
    .Width(Width)
  ) u_stays (
    .clk_i(clk_rd_i),
    .rst_ni(rst_rd_ni),
    .valid_i(rvalid_o),
    .ready_i(rready_i),
    .data_i(rdata_o)
  );
`endif
endmodule
