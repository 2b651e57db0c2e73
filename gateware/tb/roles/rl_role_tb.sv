// A role behind its guard, with ports that cocotbext-axi knows.
module rl_role_tb
  import rl_shell_pkg::*;
  import rl_role_pkg::*;
#(
  parameter int unsigned Role = 0  // 0 vadd, 1 ptrans, 2 probe.
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic [39:0]  memory_i,
  input  logic         isolate_i,
  output logic         drained_o,
  output logic [2:0]   fault_o,
  output logic         interrupt_o,

  input  logic [9:0]   s_axil_awaddr,
  input  logic         s_axil_awvalid,
  output logic         s_axil_awready,
  input  logic [63:0]  s_axil_wdata,
  input  logic [7:0]   s_axil_wstrb,
  input  logic         s_axil_wvalid,
  output logic         s_axil_wready,
  output logic [1:0]   s_axil_bresp,
  output logic         s_axil_bvalid,
  input  logic         s_axil_bready,
  input  logic [9:0]   s_axil_araddr,
  input  logic         s_axil_arvalid,
  output logic         s_axil_arready,
  output logic [63:0]  s_axil_rdata,
  output logic [1:0]   s_axil_rresp,
  output logic         s_axil_rvalid,
  input  logic         s_axil_rready,

  output logic [1:0]   m_axi_awid,
  output logic [39:0]  m_axi_awaddr,
  output logic [7:0]   m_axi_awlen,
  output logic [2:0]   m_axi_awsize,
  output logic [1:0]   m_axi_awburst,
  output logic         m_axi_awvalid,
  input  logic         m_axi_awready,
  output logic [511:0] m_axi_wdata,
  output logic [63:0]  m_axi_wstrb,
  output logic         m_axi_wlast,
  output logic         m_axi_wvalid,
  input  logic         m_axi_wready,
  input  logic [1:0]   m_axi_bid,
  input  logic [1:0]   m_axi_bresp,
  input  logic         m_axi_bvalid,
  output logic         m_axi_bready,
  output logic [1:0]   m_axi_arid,
  output logic [39:0]  m_axi_araddr,
  output logic [7:0]   m_axi_arlen,
  output logic [2:0]   m_axi_arsize,
  output logic [1:0]   m_axi_arburst,
  output logic         m_axi_arvalid,
  input  logic         m_axi_arready,
  input  logic [1:0]   m_axi_rid,
  input  logic [511:0] m_axi_rdata,
  input  logic [1:0]   m_axi_rresp,
  input  logic         m_axi_rlast,
  input  logic         m_axi_rvalid,
  output logic         m_axi_rready
);
  axil_req_t axil_req;
  axil_rsp_t axil_rsp;
  axi_req_t role_req, ddr_req;
  axi_rsp_t role_rsp, ddr_rsp;
  guard_fault_t fault;
  assign fault_o = fault;

  assign axil_req = '{
    awaddr: s_axil_awaddr,
    awvalid: s_axil_awvalid,
    wdata: s_axil_wdata,
    wstrb: s_axil_wstrb,
    wvalid: s_axil_wvalid,
    bready: s_axil_bready,
    araddr: s_axil_araddr,
    arvalid: s_axil_arvalid,
    rready: s_axil_rready
  };
  assign s_axil_awready = axil_rsp.awready;
  assign s_axil_wready = axil_rsp.wready;
  assign s_axil_bresp = axil_rsp.bresp;
  assign s_axil_bvalid = axil_rsp.bvalid;
  assign s_axil_arready = axil_rsp.arready;
  assign s_axil_rdata = axil_rsp.rdata;
  assign s_axil_rresp = axil_rsp.rresp;
  assign s_axil_rvalid = axil_rsp.rvalid;

  if (Role == 0) begin : gen_vadd
    rl_role_vadd u_role (
      .clk_i,
      .rst_ni,
      .axil_i(axil_req),
      .axil_o(axil_rsp),
      .axi_o(role_req),
      .axi_i(role_rsp),
      .interrupt_o
    );
  end else if (Role == 1) begin : gen_ptrans
    rl_role_ptrans u_role (
      .clk_i,
      .rst_ni,
      .axil_i(axil_req),
      .axil_o(axil_rsp),
      .axi_o(role_req),
      .axi_i(role_rsp),
      .interrupt_o
    );
  end else begin : gen_probe
    rl_role_probe u_role (
      .clk_i,
      .rst_ni,
      .axil_i(axil_req),
      .axil_o(axil_rsp),
      .axi_o(role_req),
      .axi_i(role_rsp),
      .interrupt_o
    );
  end

  rl_guard u_guard (
    .clk_role_i(clk_i),
    .rst_role_ni(rst_ni),
    .memory_i,
    .isolate_i,
    .drained_o,
    .fault_o(fault),
    .role_i(role_req),
    .role_o(role_rsp),
    .ddr_o(ddr_req),
    .ddr_i(ddr_rsp)
  );

  assign m_axi_awid = ddr_req.awid;
  assign m_axi_awaddr = ddr_req.awaddr;
  assign m_axi_awlen = ddr_req.awlen;
  assign m_axi_awsize = 3'd6;
  assign m_axi_awburst = 2'd1;
  assign m_axi_awvalid = ddr_req.awvalid;
  assign m_axi_wdata = ddr_req.wdata;
  assign m_axi_wstrb = ddr_req.wstrb;
  assign m_axi_wlast = ddr_req.wlast;
  assign m_axi_wvalid = ddr_req.wvalid;
  assign m_axi_bready = ddr_req.bready;
  assign m_axi_arid = ddr_req.arid;
  assign m_axi_araddr = ddr_req.araddr;
  assign m_axi_arlen = ddr_req.arlen;
  assign m_axi_arsize = 3'd6;
  assign m_axi_arburst = 2'd1;
  assign m_axi_arvalid = ddr_req.arvalid;
  assign m_axi_rready = ddr_req.rready;
  assign ddr_rsp = '{
    awready: m_axi_awready,
    wready: m_axi_wready,
    bid: m_axi_bid,
    bresp: m_axi_bresp,
    bvalid: m_axi_bvalid,
    arready: m_axi_arready,
    rid: m_axi_rid,
    rdata: m_axi_rdata,
    rresp: m_axi_rresp,
    rlast: m_axi_rlast,
    rvalid: m_axi_rvalid
  };
endmodule
