// rl_memory_crossing with a port for each signal, named as those of rl_memory_share.
module rl_memory_crossing_tb
  import rl_role_pkg::*;
#(
  parameter int unsigned Depth = 16
) (
  input  logic clk_manager_i,
  input  logic rst_manager_ni,
  input  logic clk_memory_i,
  input  logic rst_memory_ni,

  input  logic [AxiIdW-1:0] s_awid_i,
  input  logic [AxiAddrW-1:0] s_awaddr_i,
  input  logic [7:0] s_awlen_i,
  input  logic s_awvalid_i,
  input  logic [511:0] s_wdata_i,
  input  logic [63:0] s_wstrb_i,
  input  logic s_wlast_i,
  input  logic s_wvalid_i,
  input  logic s_bready_i,
  input  logic [AxiIdW-1:0] s_arid_i,
  input  logic [AxiAddrW-1:0] s_araddr_i,
  input  logic [7:0] s_arlen_i,
  input  logic s_arvalid_i,
  input  logic s_rready_i,
  output logic s_awready_o,
  output logic s_wready_o,
  output logic [AxiIdW-1:0] s_bid_o,
  output logic [1:0] s_bresp_o,
  output logic s_bvalid_o,
  output logic s_arready_o,
  output logic [AxiIdW-1:0] s_rid_o,
  output logic [511:0] s_rdata_o,
  output logic [1:0] s_rresp_o,
  output logic s_rlast_o,
  output logic s_rvalid_o,
  output logic [AxiIdW-1:0] m_awid_o,
  output logic [AxiAddrW-1:0] m_awaddr_o,
  output logic [7:0] m_awlen_o,
  output logic m_awvalid_o,
  output logic [511:0] m_wdata_o,
  output logic [63:0] m_wstrb_o,
  output logic m_wlast_o,
  output logic m_wvalid_o,
  output logic m_bready_o,
  output logic [AxiIdW-1:0] m_arid_o,
  output logic [AxiAddrW-1:0] m_araddr_o,
  output logic [7:0] m_arlen_o,
  output logic m_arvalid_o,
  output logic m_rready_o,
  input  logic m_awready_i,
  input  logic m_wready_i,
  input  logic [AxiIdW-1:0] m_bid_i,
  input  logic [1:0] m_bresp_i,
  input  logic m_bvalid_i,
  input  logic m_arready_i,
  input  logic [AxiIdW-1:0] m_rid_i,
  input  logic [511:0] m_rdata_i,
  input  logic [1:0] m_rresp_i,
  input  logic m_rlast_i,
  input  logic m_rvalid_i
);
  axi_req_t manager_req, memory_req;
  axi_rsp_t manager_rsp, memory_rsp;
  always_comb begin
    manager_req.awid = s_awid_i;
    manager_req.awaddr = s_awaddr_i;
    manager_req.awlen = s_awlen_i;
    manager_req.awvalid = s_awvalid_i;
    manager_req.wdata = s_wdata_i;
    manager_req.wstrb = s_wstrb_i;
    manager_req.wlast = s_wlast_i;
    manager_req.wvalid = s_wvalid_i;
    manager_req.bready = s_bready_i;
    manager_req.arid = s_arid_i;
    manager_req.araddr = s_araddr_i;
    manager_req.arlen = s_arlen_i;
    manager_req.arvalid = s_arvalid_i;
    manager_req.rready = s_rready_i;
    memory_rsp.awready = m_awready_i;
    memory_rsp.wready = m_wready_i;
    memory_rsp.bid = m_bid_i;
    memory_rsp.bresp = m_bresp_i;
    memory_rsp.bvalid = m_bvalid_i;
    memory_rsp.arready = m_arready_i;
    memory_rsp.rid = m_rid_i;
    memory_rsp.rdata = m_rdata_i;
    memory_rsp.rresp = m_rresp_i;
    memory_rsp.rlast = m_rlast_i;
    memory_rsp.rvalid = m_rvalid_i;
  end
  assign s_awready_o = manager_rsp.awready;
  assign s_wready_o = manager_rsp.wready;
  assign s_bid_o = manager_rsp.bid;
  assign s_bresp_o = manager_rsp.bresp;
  assign s_bvalid_o = manager_rsp.bvalid;
  assign s_arready_o = manager_rsp.arready;
  assign s_rid_o = manager_rsp.rid;
  assign s_rdata_o = manager_rsp.rdata;
  assign s_rresp_o = manager_rsp.rresp;
  assign s_rlast_o = manager_rsp.rlast;
  assign s_rvalid_o = manager_rsp.rvalid;
  assign m_awid_o = memory_req.awid;
  assign m_awaddr_o = memory_req.awaddr;
  assign m_awlen_o = memory_req.awlen;
  assign m_awvalid_o = memory_req.awvalid;
  assign m_wdata_o = memory_req.wdata;
  assign m_wstrb_o = memory_req.wstrb;
  assign m_wlast_o = memory_req.wlast;
  assign m_wvalid_o = memory_req.wvalid;
  assign m_bready_o = memory_req.bready;
  assign m_arid_o = memory_req.arid;
  assign m_araddr_o = memory_req.araddr;
  assign m_arlen_o = memory_req.arlen;
  assign m_arvalid_o = memory_req.arvalid;
  assign m_rready_o = memory_req.rready;
  rl_memory_crossing #(
    .Depth(Depth)
  ) u_dut (
    .clk_manager_i,
    .rst_manager_ni,
    .manager_i(manager_req),
    .manager_o(manager_rsp),
    .clk_memory_i,
    .rst_memory_ni,
    .memory_o(memory_req),
    .memory_i(memory_rsp)
  );
endmodule
