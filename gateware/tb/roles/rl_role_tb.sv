// A role behind its guard, with ports that cocotbext-axi knows.
module rl_role_tb
  import rl_shell_pkg::*;
  import rl_role_pkg::*;
#(
  parameter int unsigned Role = 0  // 0 vadd, 1 ptrans, 2 probe, 3 copy, 4 copy with one port for both ways.
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic [39:0]  memory_i,
  input  logic         isolate_i,
  output logic         drained_o,
  output logic [2:0]   fault_o,
  output logic         interrupt_o,
  output logic         busy_o,
  output logic         event_valid_o,
  output logic [63:0]  event_word_o,
  input  logic         event_ready_i,

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
  output logic         m_axi_rready,

  // The second memory port; quiet with roles that have one.
  output logic [5:0]   n_axi_awid,
  output logic [39:0]  n_axi_awaddr,
  output logic [7:0]   n_axi_awlen,
  output logic [2:0]   n_axi_awsize,
  output logic [1:0]   n_axi_awburst,
  output logic         n_axi_awvalid,
  input  logic         n_axi_awready,
  output logic [511:0] n_axi_wdata,
  output logic [63:0]  n_axi_wstrb,
  output logic         n_axi_wlast,
  output logic         n_axi_wvalid,
  input  logic         n_axi_wready,
  input  logic [5:0]   n_axi_bid,
  input  logic [1:0]   n_axi_bresp,
  input  logic         n_axi_bvalid,
  output logic         n_axi_bready,
  output logic [5:0]   n_axi_arid,
  output logic [39:0]  n_axi_araddr,
  output logic [7:0]   n_axi_arlen,
  output logic [2:0]   n_axi_arsize,
  output logic [1:0]   n_axi_arburst,
  output logic         n_axi_arvalid,
  input  logic         n_axi_arready,
  input  logic [5:0]   n_axi_rid,
  input  logic [511:0] n_axi_rdata,
  input  logic [1:0]   n_axi_rresp,
  input  logic         n_axi_rlast,
  input  logic         n_axi_rvalid,
  output logic         n_axi_rready
);
  role_in_t role_in;
  role_out_t role_out;
  axil_rsp_t axil_rsp;
  axi_req_t [1:0] role_req, ddr_req;
  axi_rsp_t [1:0] role_rsp, ddr_rsp;
  guard_fault_t fault;
  assign fault_o = fault;
  assign axil_rsp = role_out.axil;
  assign interrupt_o = role_out.irq;
  assign busy_o = role_out.busy;
  assign {event_valid_o, event_word_o} = role_out.raises;
  assign role_in.event_ready = event_ready_i;
  logic unused;
  assign unused = role_out.listens;

  assign role_in.axil = '{
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

  if (Role == 4) begin : gen_copy_one
    rl_role_copy #(
      .Memories(1)
    ) u_role (
      .clk_i,
      .rst_ni,
      .role_i(role_in),
      .role_o(role_out),
      .axi_o(role_req[0]),
      .axi_i(role_rsp[0])
    );
  end else if (Role == 3) begin : gen_copy
    rl_role_copy #(
      .Memories(2)
    ) u_role (
      .clk_i,
      .rst_ni,
      .role_i(role_in),
      .role_o(role_out),
      .axi_o(role_req),
      .axi_i(role_rsp)
    );
  end else if (Role == 0) begin : gen_vadd
    rl_role_vadd u_role (
      .clk_i,
      .rst_ni,
      .role_i(role_in),
      .role_o(role_out),
      .axi_o(role_req[0]),
      .axi_i(role_rsp[0])
    );
  end else if (Role == 1) begin : gen_ptrans
    rl_role_ptrans u_role (
      .clk_i,
      .rst_ni,
      .role_i(role_in),
      .role_o(role_out),
      .axi_o(role_req[0]),
      .axi_i(role_rsp[0])
    );
  end else if (Role == 2) begin : gen_probe
    rl_role_probe u_role (
      .clk_i,
      .rst_ni,
      .role_i(role_in),
      .role_o(role_out),
      .axi_o(role_req[0]),
      .axi_i(role_rsp[0])
    );
  end
  if (Role != 3) begin : gen_one
    logic unused_second;
    assign unused_second = ^role_rsp[1];
    assign role_req[1] = '0;
  end

  rl_guards #(
    .Memories(2)
  ) u_guards (
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

  assign m_axi_awid = ddr_req[0].awid;
  assign m_axi_awaddr = ddr_req[0].awaddr;
  assign m_axi_awlen = ddr_req[0].awlen;
  assign m_axi_awsize = 3'd6;
  assign m_axi_awburst = 2'd1;
  assign m_axi_awvalid = ddr_req[0].awvalid;
  assign m_axi_wdata = ddr_req[0].wdata;
  assign m_axi_wstrb = ddr_req[0].wstrb;
  assign m_axi_wlast = ddr_req[0].wlast;
  assign m_axi_wvalid = ddr_req[0].wvalid;
  assign m_axi_bready = ddr_req[0].bready;
  assign m_axi_arid = ddr_req[0].arid;
  assign m_axi_araddr = ddr_req[0].araddr;
  assign m_axi_arlen = ddr_req[0].arlen;
  assign m_axi_arsize = 3'd6;
  assign m_axi_arburst = 2'd1;
  assign m_axi_arvalid = ddr_req[0].arvalid;
  assign m_axi_rready = ddr_req[0].rready;
  assign ddr_rsp[0] = '{
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

  assign n_axi_awid = ddr_req[1].awid;
  assign n_axi_awaddr = ddr_req[1].awaddr;
  assign n_axi_awlen = ddr_req[1].awlen;
  assign n_axi_awsize = 3'd6;
  assign n_axi_awburst = 2'd1;
  assign n_axi_awvalid = ddr_req[1].awvalid;
  assign n_axi_wdata = ddr_req[1].wdata;
  assign n_axi_wstrb = ddr_req[1].wstrb;
  assign n_axi_wlast = ddr_req[1].wlast;
  assign n_axi_wvalid = ddr_req[1].wvalid;
  assign n_axi_bready = ddr_req[1].bready;
  assign n_axi_arid = ddr_req[1].arid;
  assign n_axi_araddr = ddr_req[1].araddr;
  assign n_axi_arlen = ddr_req[1].arlen;
  assign n_axi_arsize = 3'd6;
  assign n_axi_arburst = 2'd1;
  assign n_axi_arvalid = ddr_req[1].arvalid;
  assign n_axi_rready = ddr_req[1].rready;
  assign ddr_rsp[1] = '{
    awready: n_axi_awready,
    wready: n_axi_wready,
    bid: n_axi_bid,
    bresp: n_axi_bresp,
    bvalid: n_axi_bvalid,
    arready: n_axi_arready,
    rid: n_axi_rid,
    rdata: n_axi_rdata,
    rresp: n_axi_rresp,
    rlast: n_axi_rlast,
    rvalid: n_axi_rvalid
  };
endmodule
