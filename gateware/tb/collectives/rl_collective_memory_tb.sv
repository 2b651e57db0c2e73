// rl_collective_memory before a memory, into which the bench looks from the side.
module rl_collective_memory_tb
  import rl_role_pkg::*;
#(
  parameter int unsigned Ports = 3,
  parameter int unsigned DataW = 64,
  parameter int unsigned Words = 1024
) (
  input  logic                              clk_i,
  input  logic                              rst_ni,
  input  logic                              stop_i,
  output logic                              busy_o,
  output logic                              failed_o,
  input  logic [Ports-1:0]                  aw_valid_i,
  output logic [Ports-1:0]                  aw_ready_o,
  input  logic [Ports-1:0][AxiAddrW-1:0]    aw_addr_i,
  input  logic [Ports-1:0][7:0]             aw_len_i,
  input  logic [Ports-1:0]                  w_valid_i,
  output logic [Ports-1:0]                  w_ready_o,
  input  logic [Ports-1:0][DataW-1:0]       w_data_i,
  input  logic [Ports-1:0][DataW/8-1:0]     w_strb_i,
  input  logic [Ports-1:0]                  w_last_i,
  output logic [Ports-1:0]                  b_valid_o,
  output logic [Ports-1:0][1:0]             b_resp_o,
  input  logic [Ports-1:0]                  ar_valid_i,
  output logic [Ports-1:0]                  ar_ready_o,
  input  logic [Ports-1:0][AxiAddrW-1:0]    ar_addr_i,
  input  logic [Ports-1:0][7:0]             ar_len_i,
  output logic [Ports-1:0]                  r_valid_o,
  output logic [Ports-1:0][DataW-1:0]       r_data_o,
  output logic [Ports-1:0][1:0]             r_resp_o,
  output logic [Ports-1:0]                  r_last_o,

  input  logic                              clk_ddr_i,
  input  logic                              rst_ddr_ni,
  input  logic [15:0]                       latency_i,
  input  logic [7:0]                        pause_i,
  input  logic                              fails_i,
  input  logic                              poke_i,
  input  logic [$clog2(Words)-1:0]          at_i,
  input  logic [511:0]                      poke_data_i,
  output logic [511:0]                      peek_data_o,
  output logic                              wrong_o
);
  axi_req_t req;
  axi_rsp_t rsp;
  rl_collective_memory #(
    .Ports(Ports),
    .DataW(DataW)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .stop_i,
    .busy_o,
    .failed_o,
    .aw_valid_i,
    .aw_ready_o,
    .aw_addr_i,
    .aw_len_i,
    .w_valid_i,
    .w_ready_o,
    .w_data_i,
    .w_strb_i,
    .w_last_i,
    .b_valid_o,
    .b_resp_o,
    .ar_valid_i,
    .ar_ready_o,
    .ar_addr_i,
    .ar_len_i,
    .r_valid_o,
    .r_data_o,
    .r_resp_o,
    .r_last_o,
    .clk_ddr_i,
    .rst_ddr_ni,
    .axi_o(req),
    .axi_i(rsp)
  );
  logic [31:0] unused_beats;
  assign rsp.bid = '0;
  assign rsp.rid = '0;
  bridge_memory #(
    .DataW(512),
    .AddrW(AxiAddrW),
    .Words(Words)
  ) u_memory (
    .clk_i(clk_ddr_i),
    .rst_ni(rst_ddr_ni),
    .latency_i,
    .pause_i,
    .fails_i,
    .seed_i(32'd1),
    .awvalid_i(req.awvalid),
    .awready_o(rsp.awready),
    .awaddr_i(req.awaddr),
    .awlen_i(req.awlen),
    .wvalid_i(req.wvalid),
    .wready_o(rsp.wready),
    .wdata_i(req.wdata),
    .wstrb_i(req.wstrb),
    .wlast_i(req.wlast),
    .bvalid_o(rsp.bvalid),
    .bready_i(req.bready),
    .bresp_o(rsp.bresp),
    .arvalid_i(req.arvalid),
    .arready_o(rsp.arready),
    .araddr_i(req.araddr),
    .arlen_i(req.arlen),
    .rvalid_o(rsp.rvalid),
    .rready_i(req.rready),
    .rdata_o(rsp.rdata),
    .rresp_o(rsp.rresp),
    .rlast_o(rsp.rlast),
    .poke_i,
    .at_i,
    .poke_data_i,
    .peek_data_o,
    .wrong_o,
    .beats_o(unused_beats)
  );
  logic unused;
  assign unused = ^{req.awid, req.arid, unused_beats};
endmodule
