// A card's memory for its bridge: beats of the bridge's width become the memory's, and cross to its clock.
module rl_bridge_memory
  import rl_role_pkg::*;
#(
  parameter int unsigned DataW = 64,
  localparam int unsigned KeepW = DataW / 8
) (
  input  logic                clk_i,       // The bridge's.
  input  logic                rst_ni,
  output logic                busy_o,
  output logic                failed_o,    // Memory has answered with an error since the reset.

  input  logic                awvalid_i,
  output logic                awready_o,
  input  logic [AxiAddrW-1:0] awaddr_i,
  input  logic [7:0]          awlen_i,
  input  logic                wvalid_i,
  output logic                wready_o,
  input  logic [DataW-1:0]    wdata_i,
  input  logic [KeepW-1:0]    wstrb_i,
  input  logic                wlast_i,
  output logic                bvalid_o,
  input  logic                bready_i,
  output logic [1:0]          bresp_o,
  input  logic                arvalid_i,
  output logic                arready_o,
  input  logic [AxiAddrW-1:0] araddr_i,
  input  logic [7:0]          arlen_i,
  output logic                rvalid_o,
  input  logic                rready_i,
  output logic [DataW-1:0]    rdata_o,
  output logic [1:0]          rresp_o,
  output logic                rlast_o,

  input  logic                clk_ddr_i,
  input  logic                rst_ddr_ni,
  output axi_req_t            axi_o,
  input  axi_rsp_t            axi_i
);
  axi_req_t wide;
  axi_rsp_t wide_rsp;
  rl_axi_widen #(
    .NarrowW(DataW),
    .WideW(512),
    .AddrW(AxiAddrW)
  ) u_widen (
    .clk_i,
    .rst_ni,
    .busy_o,
    .s_awvalid_i(awvalid_i),
    .s_awready_o(awready_o),
    .s_awaddr_i(awaddr_i),
    .s_awlen_i(awlen_i),
    .s_wvalid_i(wvalid_i),
    .s_wready_o(wready_o),
    .s_wdata_i(wdata_i),
    .s_wstrb_i(wstrb_i),
    .s_wlast_i(wlast_i),
    .s_bvalid_o(bvalid_o),
    .s_bready_i(bready_i),
    .s_arvalid_i(arvalid_i),
    .s_arready_o(arready_o),
    .s_araddr_i(araddr_i),
    .s_arlen_i(arlen_i),
    .s_rvalid_o(rvalid_o),
    .s_rready_i(rready_i),
    .s_rdata_o(rdata_o),
    .s_rlast_o(rlast_o),
    .m_awvalid_o(wide.awvalid),
    .m_awready_i(wide_rsp.awready),
    .m_awaddr_o(wide.awaddr),
    .m_awlen_o(wide.awlen),
    .m_wvalid_o(wide.wvalid),
    .m_wready_i(wide_rsp.wready),
    .m_wdata_o(wide.wdata),
    .m_wstrb_o(wide.wstrb),
    .m_wlast_o(wide.wlast),
    .m_bvalid_i(wide_rsp.bvalid),
    .m_bready_o(wide.bready),
    .m_arvalid_o(wide.arvalid),
    .m_arready_i(wide_rsp.arready),
    .m_araddr_o(wide.araddr),
    .m_arlen_o(wide.arlen),
    .m_rvalid_i(wide_rsp.rvalid),
    .m_rready_o(wide.rready),
    .m_rdata_i(wide_rsp.rdata)
  );
  assign {wide.awid, wide.arid} = '0;
  assign {bresp_o, rresp_o} = {wide_rsp.bresp, wide_rsp.rresp};
  rl_memory_crossing u_crossing (
    .clk_manager_i(clk_i),
    .rst_manager_ni(rst_ni),
    .manager_i(wide),
    .manager_o(wide_rsp),
    .clk_memory_i(clk_ddr_i),
    .rst_memory_ni(rst_ddr_ni),
    .memory_o(axi_o),
    .memory_i(axi_i)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) failed_o <= 1'b0;
    else if ((wide_rsp.bvalid && bresp_o != RespOkay) || (wide_rsp.rvalid && rresp_o != RespOkay))
      failed_o <= 1'b1;
  end
  logic unused;
  assign unused = ^{wide_rsp.bid, wide_rsp.rid, wide_rsp.rlast};
endmodule
