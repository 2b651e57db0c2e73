// A manager's AXI4 port in another clock domain than the memory's: a FIFO for each channel.
// Both resets must be asserted together, as those of rl_fifo_async.
module rl_memory_crossing
  import rl_role_pkg::*;
#(
  parameter int unsigned Depth = 16  // Words of each FIFO. 8 and more let a beat through each cycle.
) (
  input  logic     clk_manager_i,
  input  logic     rst_manager_ni,
  input  axi_req_t manager_i,
  output axi_rsp_t manager_o,

  input  logic     clk_memory_i,
  input  logic     rst_memory_ni,
  output axi_req_t memory_o,
  input  axi_rsp_t memory_i
);
  typedef struct packed {
    logic [AxiIdW-1:0]   id;
    logic [AxiAddrW-1:0] addr;
    logic [7:0]          len;
  } ask_t;
  typedef struct packed {
    logic         last;
    logic [63:0]  strb;
    logic [511:0] data;
  } write_t;
  typedef struct packed {
    logic [AxiIdW-1:0] id;
    logic [1:0]        resp;
    logic              last;
    logic [511:0]      data;
  } read_t;

  ask_t aw, ar;
  write_t w;
  read_t r;
  logic [4:0] unused_spare;
  rl_fifo_async #(
    .Width($bits(ask_t)),
    .Depth(Depth)
  ) u_aw (
    .clk_wr_i(clk_manager_i),
    .rst_wr_ni(rst_manager_ni),
    .wvalid_i(manager_i.awvalid),
    .wready_o(manager_o.awready),
    .wspare_o(unused_spare[0]),
    .wdata_i({manager_i.awid, manager_i.awaddr, manager_i.awlen}),
    .clk_rd_i(clk_memory_i),
    .rst_rd_ni(rst_memory_ni),
    .rvalid_o(memory_o.awvalid),
    .rready_i(memory_i.awready),
    .rdata_o(aw)
  );
  assign {memory_o.awid, memory_o.awaddr, memory_o.awlen} = aw;
  rl_fifo_async #(
    .Width($bits(write_t)),
    .Depth(Depth)
  ) u_w (
    .clk_wr_i(clk_manager_i),
    .rst_wr_ni(rst_manager_ni),
    .wvalid_i(manager_i.wvalid),
    .wready_o(manager_o.wready),
    .wspare_o(unused_spare[1]),
    .wdata_i({manager_i.wlast, manager_i.wstrb, manager_i.wdata}),
    .clk_rd_i(clk_memory_i),
    .rst_rd_ni(rst_memory_ni),
    .rvalid_o(memory_o.wvalid),
    .rready_i(memory_i.wready),
    .rdata_o(w)
  );
  assign {memory_o.wlast, memory_o.wstrb, memory_o.wdata} = w;
  rl_fifo_async #(
    .Width(AxiIdW + 2),
    .Depth(Depth)
  ) u_b (
    .clk_wr_i(clk_memory_i),
    .rst_wr_ni(rst_memory_ni),
    .wvalid_i(memory_i.bvalid),
    .wready_o(memory_o.bready),
    .wspare_o(unused_spare[2]),
    .wdata_i({memory_i.bid, memory_i.bresp}),
    .clk_rd_i(clk_manager_i),
    .rst_rd_ni(rst_manager_ni),
    .rvalid_o(manager_o.bvalid),
    .rready_i(manager_i.bready),
    .rdata_o({manager_o.bid, manager_o.bresp})
  );
  rl_fifo_async #(
    .Width($bits(ask_t)),
    .Depth(Depth)
  ) u_ar (
    .clk_wr_i(clk_manager_i),
    .rst_wr_ni(rst_manager_ni),
    .wvalid_i(manager_i.arvalid),
    .wready_o(manager_o.arready),
    .wspare_o(unused_spare[3]),
    .wdata_i({manager_i.arid, manager_i.araddr, manager_i.arlen}),
    .clk_rd_i(clk_memory_i),
    .rst_rd_ni(rst_memory_ni),
    .rvalid_o(memory_o.arvalid),
    .rready_i(memory_i.arready),
    .rdata_o(ar)
  );
  assign {memory_o.arid, memory_o.araddr, memory_o.arlen} = ar;
  rl_fifo_async #(
    .Width($bits(read_t)),
    .Depth(Depth)
  ) u_r (
    .clk_wr_i(clk_memory_i),
    .rst_wr_ni(rst_memory_ni),
    .wvalid_i(memory_i.rvalid),
    .wready_o(memory_o.rready),
    .wspare_o(unused_spare[4]),
    .wdata_i({memory_i.rid, memory_i.rresp, memory_i.rlast, memory_i.rdata}),
    .clk_rd_i(clk_manager_i),
    .rst_rd_ni(rst_manager_ni),
    .rvalid_o(manager_o.rvalid),
    .rready_i(manager_i.rready),
    .rdata_o(r)
  );
  assign {manager_o.rid, manager_o.rresp, manager_o.rlast, manager_o.rdata} = r;
endmodule
