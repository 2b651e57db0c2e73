// rl_memory_hub with a port for each signal, named as those of rl_memory_share. Manager 0 is the shell; all have one
// clock.
module rl_memory_hub_tb
  import rl_role_pkg::*;
#(
  parameter int unsigned Memories = 2,
  parameter int unsigned ShareW = 4,
  localparam int unsigned N = Memories + 1,
  localparam int unsigned IdUpW = AxiIdW + $clog2(Memories) + 1
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic [1:0][ShareW-1:0]     share_i,
  input  logic [Memories-1:0][ShareW-1:0] weight_i,
  output logic                       busy_o,
  input  logic [N-1:0]               s_awvalid_i,
  output logic [N-1:0]               s_awready_o,
  input  logic [N-1:0][AxiAddrW-1:0] s_awaddr_i,
  input  logic [N-1:0][7:0]          s_awlen_i,
  input  logic [N-1:0][AxiIdW-1:0]   s_awid_i,
  input  logic [N-1:0]               s_wvalid_i,
  output logic [N-1:0]               s_wready_o,
  input  logic [N-1:0][511:0]        s_wdata_i,
  input  logic [N-1:0][63:0]         s_wstrb_i,
  input  logic [N-1:0]               s_wlast_i,
  output logic [N-1:0]               s_bvalid_o,
  input  logic [N-1:0]               s_bready_i,
  output logic [N-1:0][1:0]          s_bresp_o,
  output logic [N-1:0][AxiIdW-1:0]   s_bid_o,
  input  logic [N-1:0]               s_arvalid_i,
  output logic [N-1:0]               s_arready_o,
  input  logic [N-1:0][AxiAddrW-1:0] s_araddr_i,
  input  logic [N-1:0][7:0]          s_arlen_i,
  input  logic [N-1:0][AxiIdW-1:0]   s_arid_i,
  output logic [N-1:0]               s_rvalid_o,
  input  logic [N-1:0]               s_rready_i,
  output logic [N-1:0][511:0]        s_rdata_o,
  output logic [N-1:0][1:0]          s_rresp_o,
  output logic [N-1:0]               s_rlast_o,
  output logic [N-1:0][AxiIdW-1:0]   s_rid_o,
  output logic                       m_awvalid_o,
  input  logic                       m_awready_i,
  output logic [AxiAddrW-1:0]        m_awaddr_o,
  output logic [7:0]                 m_awlen_o,
  output logic [IdUpW-1:0]           m_awid_o,
  output logic                       m_wvalid_o,
  input  logic                       m_wready_i,
  output logic [511:0]               m_wdata_o,
  output logic [63:0]                m_wstrb_o,
  output logic                       m_wlast_o,
  input  logic                       m_bvalid_i,
  output logic                       m_bready_o,
  input  logic [1:0]                 m_bresp_i,
  input  logic [IdUpW-1:0]           m_bid_i,
  output logic                       m_arvalid_o,
  input  logic                       m_arready_i,
  output logic [AxiAddrW-1:0]        m_araddr_o,
  output logic [7:0]                 m_arlen_o,
  output logic [IdUpW-1:0]           m_arid_o,
  input  logic                       m_rvalid_i,
  output logic                       m_rready_o,
  input  logic [511:0]               m_rdata_i,
  input  logic [1:0]                 m_rresp_i,
  input  logic                       m_rlast_i,
  input  logic [IdUpW-1:0]           m_rid_i
);
  axi_req_t [N-1:0] req;
  axi_rsp_t [N-1:0] rsp;
  for (genvar n = 0; n < N; n++) begin : gen_manager
    assign req[n] = '{
      awid: s_awid_i[n],
      awaddr: s_awaddr_i[n],
      awlen: s_awlen_i[n],
      awvalid: s_awvalid_i[n],
      wdata: s_wdata_i[n],
      wstrb: s_wstrb_i[n],
      wlast: s_wlast_i[n],
      wvalid: s_wvalid_i[n],
      bready: s_bready_i[n],
      arid: s_arid_i[n],
      araddr: s_araddr_i[n],
      arlen: s_arlen_i[n],
      arvalid: s_arvalid_i[n],
      rready: s_rready_i[n]
    };
    assign s_awready_o[n] = rsp[n].awready;
    assign s_wready_o[n] = rsp[n].wready;
    assign s_bid_o[n] = rsp[n].bid;
    assign s_bresp_o[n] = rsp[n].bresp;
    assign s_bvalid_o[n] = rsp[n].bvalid;
    assign s_arready_o[n] = rsp[n].arready;
    assign s_rid_o[n] = rsp[n].rid;
    assign s_rdata_o[n] = rsp[n].rdata;
    assign s_rresp_o[n] = rsp[n].rresp;
    assign s_rlast_o[n] = rsp[n].rlast;
    assign s_rvalid_o[n] = rsp[n].rvalid;
  end
  axi_rsp_t unused_bridge, unused_links;
  rl_memory_hub #(
    .Memories(Memories),
    .ShareW(ShareW)
  ) u_hub (
    .clk_role_i(clk_i),
    .rst_role_ni(rst_ni),
    .clk_ddr_i(clk_i),
    .rst_ddr_ni(rst_ni),
    .role_i(req[N-1:1]),
    .role_o(rsp[N-1:1]),
    .shell_i(req[0]),
    .shell_o(rsp[0]),
    .bridge_i('0),
    .bridge_o(unused_bridge),
    .links_i('0),
    .links_o(unused_links),
    .*
  );
endmodule
