// rl_guard with ports that cocotbext-axi knows: the role's, s_axi, and DDR's, m_axi.
module rl_guard_tb
  import rl_shell_pkg::*;
  import rl_role_pkg::*;
#(
  parameter int unsigned Outstanding = 16,
  parameter int unsigned PatienceW = 9
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         role_rst_ni,  // Of the role that the bench plays.
  input  logic [39:0]  memory_i,
  input  logic         isolate_i,
  output logic         drained_o,
  output logic [2:0]   fault_o,

  input  logic [5:0]   s_axi_awid,
  input  logic [39:0]  s_axi_awaddr,
  input  logic [7:0]   s_axi_awlen,
  input  logic [2:0]   s_axi_awsize,
  input  logic [1:0]   s_axi_awburst,
  input  logic         s_axi_awvalid,
  output logic         s_axi_awready,
  input  logic [511:0] s_axi_wdata,
  input  logic [63:0]  s_axi_wstrb,
  input  logic         s_axi_wlast,
  input  logic         s_axi_wvalid,
  output logic         s_axi_wready,
  output logic [5:0]   s_axi_bid,
  output logic [1:0]   s_axi_bresp,
  output logic         s_axi_bvalid,
  input  logic         s_axi_bready,
  input  logic [5:0]   s_axi_arid,
  input  logic [39:0]  s_axi_araddr,
  input  logic [7:0]   s_axi_arlen,
  input  logic [2:0]   s_axi_arsize,
  input  logic [1:0]   s_axi_arburst,
  input  logic         s_axi_arvalid,
  output logic         s_axi_arready,
  output logic [5:0]   s_axi_rid,
  output logic [511:0] s_axi_rdata,
  output logic [1:0]   s_axi_rresp,
  output logic         s_axi_rlast,
  output logic         s_axi_rvalid,
  input  logic         s_axi_rready,

  output logic [5:0]   m_axi_awid,
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
  input  logic [5:0]   m_axi_bid,
  input  logic [1:0]   m_axi_bresp,
  input  logic         m_axi_bvalid,
  output logic         m_axi_bready,
  output logic [5:0]   m_axi_arid,
  output logic [39:0]  m_axi_araddr,
  output logic [7:0]   m_axi_arlen,
  output logic [2:0]   m_axi_arsize,
  output logic [1:0]   m_axi_arburst,
  output logic         m_axi_arvalid,
  input  logic         m_axi_arready,
  input  logic [5:0]   m_axi_rid,
  input  logic [511:0] m_axi_rdata,
  input  logic [1:0]   m_axi_rresp,
  input  logic         m_axi_rlast,
  input  logic         m_axi_rvalid,
  output logic         m_axi_rready
);
  axi_req_t role_req, ddr_req;
  axi_rsp_t role_rsp, ddr_rsp;
  guard_fault_t fault;
  assign fault_o = fault;

  rl_guard #(
    .Outstanding(Outstanding),
    .PatienceW(PatienceW)
  ) u_guard (
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

  assign role_req = '{
    awid: s_axi_awid,
    awaddr: s_axi_awaddr,
    awlen: s_axi_awlen,
    awvalid: s_axi_awvalid,
    wdata: s_axi_wdata,
    wstrb: s_axi_wstrb,
    wlast: s_axi_wlast,
    wvalid: s_axi_wvalid,
    bready: s_axi_bready,
    arid: s_axi_arid,
    araddr: s_axi_araddr,
    arlen: s_axi_arlen,
    arvalid: s_axi_arvalid,
    rready: s_axi_rready
  };
  assign s_axi_awready = role_rsp.awready;
  assign s_axi_wready = role_rsp.wready;
  assign s_axi_bid = role_rsp.bid;
  assign s_axi_bresp = role_rsp.bresp;
  assign s_axi_bvalid = role_rsp.bvalid;
  assign s_axi_arready = role_rsp.arready;
  assign s_axi_rid = role_rsp.rid;
  assign s_axi_rdata = role_rsp.rdata;
  assign s_axi_rresp = role_rsp.rresp;
  assign s_axi_rlast = role_rsp.rlast;
  assign s_axi_rvalid = role_rsp.rvalid;

  assign m_axi_awid = ddr_req.awid;
  assign m_axi_awaddr = ddr_req.awaddr;
  assign m_axi_awlen = ddr_req.awlen;
  assign m_axi_awvalid = ddr_req.awvalid;
  assign m_axi_wdata = ddr_req.wdata;
  assign m_axi_wstrb = ddr_req.wstrb;
  assign m_axi_wlast = ddr_req.wlast;
  assign m_axi_wvalid = ddr_req.wvalid;
  assign m_axi_bready = ddr_req.bready;
  assign m_axi_arid = ddr_req.arid;
  assign m_axi_araddr = ddr_req.araddr;
  assign m_axi_arlen = ddr_req.arlen;
  assign m_axi_arvalid = ddr_req.arvalid;
  assign m_axi_rready = ddr_req.rready;
  assign m_axi_awsize = 3'd6;
  assign m_axi_awburst = 2'd1;
  assign m_axi_arsize = 3'd6;
  assign m_axi_arburst = 2'd1;
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

  // The guard looks at neither; the role's bursts are of whole beats.
  logic unused;
  assign unused = ^{role_rst_ni, s_axi_awsize, s_axi_awburst, s_axi_arsize, s_axi_arburst};
endmodule
