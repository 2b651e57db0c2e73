// The Verilated card: the shell, the built-in roles as its region, and flat ports for the program around
// it, which plays MAC, DDR and time.
module rl_card_sim
  import rl_shell_pkg::*;
  import rl_role_pkg::*;
(
  input  logic          clk_net_i,
  input  logic          clk_ddr_i,
  input  logic          clk_role_i,
  input  logic          clk_cfg_i,
  input  logic          rst_ni, // All domains; held for some cycles of each clock.
  input  logic          rx_valid_i,
  input  logic [63:0]   rx_data_i,
  input  logic [7:0]    rx_keep_i,
  input  logic          rx_last_i,
  input  logic          rx_bad_i,
  output logic          tx_valid_o,
  input  logic          tx_ready_i,
  output logic [63:0]   tx_data_o,
  output logic [7:0]    tx_keep_o,
  output logic          tx_last_o,
  input  logic [47:0]   time_us_i,
  input  logic [15:0][31:0] strap_i,
  output logic          idle_o, // Nothing is under way: time may jump to the next frame or the alarm.
  output logic          alarm_valid_o,
  output logic [31:0]   alarm_us_o,
  output logic          firmware_fault_o,
  output logic          start_o, // A kernel is started: the write to its control register is offered.
  input  logic [7:0]    planted_i, // Number of a bug to suffer from, 0: none.
  input  logic          cfg_hold_i, // The configuration port is not ready.
  output logic          m_shell_awvalid,
  input  logic          m_shell_awready,
  output logic [39:0]   m_shell_awaddr,
  output logic [7:0]    m_shell_awlen,
  output logic [1:0]    m_shell_awid,
  output logic          m_shell_wvalid,
  input  logic          m_shell_wready,
  output logic [511:0]  m_shell_wdata,
  output logic [63:0]   m_shell_wstrb,
  output logic          m_shell_wlast,
  input  logic          m_shell_bvalid,
  output logic          m_shell_bready,
  input  logic [1:0]    m_shell_bresp,
  input  logic [1:0]    m_shell_bid,
  output logic          m_shell_arvalid,
  input  logic          m_shell_arready,
  output logic [39:0]   m_shell_araddr,
  output logic [7:0]    m_shell_arlen,
  output logic [1:0]    m_shell_arid,
  input  logic          m_shell_rvalid,
  output logic          m_shell_rready,
  input  logic [511:0]  m_shell_rdata,
  input  logic [1:0]    m_shell_rresp,
  input  logic          m_shell_rlast,
  input  logic [1:0]    m_shell_rid,
  output logic          m_role_awvalid,
  input  logic          m_role_awready,
  output logic [39:0]   m_role_awaddr,
  output logic [7:0]    m_role_awlen,
  output logic [1:0]    m_role_awid,
  output logic          m_role_wvalid,
  input  logic          m_role_wready,
  output logic [511:0]  m_role_wdata,
  output logic [63:0]   m_role_wstrb,
  output logic          m_role_wlast,
  input  logic          m_role_bvalid,
  output logic          m_role_bready,
  input  logic [1:0]    m_role_bresp,
  input  logic [1:0]    m_role_bid,
  output logic          m_role_arvalid,
  input  logic          m_role_arready,
  output logic [39:0]   m_role_araddr,
  output logic [7:0]    m_role_arlen,
  output logic [1:0]    m_role_arid,
  input  logic          m_role_rvalid,
  output logic          m_role_rready,
  input  logic [511:0]  m_role_rdata,
  input  logic [1:0]    m_role_rresp,
  input  logic          m_role_rlast,
  input  logic [1:0]    m_role_rid
);
  axi_req_t m_shell, m_role, role_axi;
  axi_rsp_t m_shell_rsp, m_role_rsp, role_axi_rsp;
  axil_req_t axil;
  axil_rsp_t axil_rsp;
  assign m_shell_awvalid = m_shell.awvalid;
  assign m_shell_awaddr = m_shell.awaddr;
  assign m_shell_awlen = m_shell.awlen;
  assign m_shell_awid = m_shell.awid;
  assign m_shell_wvalid = m_shell.wvalid;
  assign m_shell_wdata = m_shell.wdata;
  assign m_shell_wstrb = m_shell.wstrb;
  assign m_shell_wlast = m_shell.wlast;
  assign m_shell_bready = m_shell.bready;
  assign m_shell_arvalid = m_shell.arvalid;
  assign m_shell_araddr = m_shell.araddr;
  assign m_shell_arlen = m_shell.arlen;
  assign m_shell_arid = m_shell.arid;
  assign m_shell_rready = m_shell.rready;
  assign m_shell_rsp = '{
      awready: m_shell_awready,
      wready: m_shell_wready,
      bid: m_shell_bid,
      bresp: m_shell_bresp,
      bvalid: m_shell_bvalid,
      arready: m_shell_arready,
      rid: m_shell_rid,
      rdata: m_shell_rdata,
      rresp: m_shell_rresp,
      rlast: m_shell_rlast,
      rvalid: m_shell_rvalid
  };
  assign m_role_awvalid = m_role.awvalid;
  assign m_role_awaddr = m_role.awaddr;
  assign m_role_awlen = m_role.awlen;
  assign m_role_awid = m_role.awid;
  assign m_role_wvalid = m_role.wvalid;
  assign m_role_wdata = m_role.wdata;
  assign m_role_wstrb = m_role.wstrb;
  assign m_role_wlast = m_role.wlast;
  assign m_role_bready = m_role.bready;
  assign m_role_arvalid = m_role.arvalid;
  assign m_role_araddr = m_role.araddr;
  assign m_role_arlen = m_role.arlen;
  assign m_role_arid = m_role.arid;
  assign m_role_rready = m_role.rready;
  assign m_role_rsp = '{
      awready: m_role_awready,
      wready: m_role_wready,
      bid: m_role_bid,
      bresp: m_role_bresp,
      bvalid: m_role_bvalid,
      arready: m_role_arready,
      rid: m_role_rid,
      rdata: m_role_rdata,
      rresp: m_role_rresp,
      rlast: m_role_rlast,
      rvalid: m_role_rvalid
  };

  logic interrupt, role_rst_n;
  logic cfg_start, cfg_stop, cfg_valid, cfg_ready, cfg_region_ready, cfg_done, cfg_error;
  logic [31:0] cfg_data;
  logic [7:0] cfg_code;
  logic [15:0] cfg_role;
  logic sleeping, quiet, ddr_error, local_granted, local_ready;
  assign idle_o = quiet && sleeping;
  assign cfg_ready = cfg_region_ready && !cfg_hold_i;

  logic [3:0] rst_n, released;
  for (genvar i = 0; i < 4; i++) begin : gen_reset
    logic clk;
    assign clk = i == 0 ? clk_net_i : i == 1 ? clk_ddr_i : i == 2 ? clk_role_i : clk_cfg_i;
    // Asserted at once: before the first edge a register holds anything.
    always_ff @(posedge clk) released[i] <= rst_ni;
    assign rst_n[i] = released[i] && rst_ni;
  end

  identity_t identity;
  logic [3:0] strap_index;
  logic [31:0] strap;
  rl_straps u_straps (
    .strap_i,
    .index_i(strap_index),
    .data_o(strap),
    .identity_o(identity)
  );
  logic alarm_valid, ack_waits;
  logic [15:0] ack_late;
  logic [31:0] alarm_us;
  rl_shell u_shell (
    .clk_net_i,
    .rst_net_ni(rst_n[0]),
    .clk_ddr_i,
    .rst_ddr_ni(rst_n[1]),
    .clk_role_i,
    .rst_role_ni(rst_n[2]),
    .clk_cfg_i,
    .rst_cfg_ni(rst_n[3]),
    .identity_i(identity),
    .strap_index_o(strap_index),
    .strap_i(strap),
    .time_us_i,
    .rx_valid_i,
    .rx_data_i,
    .rx_keep_i,
    .rx_last_i,
    .rx_bad_i,
    .tx_valid_o,
    .tx_ready_i,
    .tx_data_o,
    .tx_keep_o,
    .tx_last_o,
    .shell_axi_o(m_shell),
    .shell_axi_i(m_shell_rsp),
    .role_axi_o(m_role),
    .role_axi_i(m_role_rsp),
    .axil_o(axil),
    .axil_i(axil_rsp),
    .axi_i(role_axi),
    .axi_o(role_axi_rsp),
    .interrupt_i(interrupt),
    .role_rst_no(role_rst_n),
    .cfg_start_o(cfg_start),
    .cfg_stop_o(cfg_stop),
    .cfg_valid_o(cfg_valid),
    .cfg_ready_i(cfg_ready),
    .cfg_data_o(cfg_data),
    .cfg_done_i(cfg_done),
    .cfg_error_i(cfg_error),
    .cfg_code_i(cfg_code),
    .cfg_role_i(cfg_role),
    .local_busy_i(1'b0),
    .local_granted_o(local_granted),
    .local_start_i(1'b0),
    .local_stop_i(1'b0),
    .local_valid_i(1'b0),
    .local_ready_o(local_ready),
    .local_data_i('0),
    .sleeping_o(sleeping),
    .alarm_valid_o(alarm_valid),
    .alarm_us_o(alarm_us),
    .ack_waits_o(ack_waits),
    .ack_late_o(ack_late),
    .fault_o(firmware_fault_o),
    .ddr_error_o(ddr_error),
    .quiet_o(quiet)
  );
  // The next moment at which something is due: the firmware's, or an acknowledgement.
  logic alarm_first;
  logic [31:0] ack_us;
  assign ack_us = time_us_i[31:0] - {{16{ack_late[15]}}, ack_late};
  assign alarm_first = alarm_valid && signed'(alarm_us - ack_us) < 0;
  assign alarm_valid_o = alarm_valid || ack_waits;
  assign alarm_us_o = ack_waits && !alarm_first ? ack_us : alarm_us;

  rl_region u_region (
    .clk_cfg_i,
    .rst_cfg_ni(rst_n[3]),
    .cfg_start_i(cfg_start),
    .cfg_stop_i(cfg_stop),
    .cfg_valid_i(cfg_valid && !cfg_hold_i),
    .cfg_ready_o(cfg_region_ready),
    .cfg_data_i(cfg_data),
    .cfg_done_o(cfg_done),
    .cfg_error_o(cfg_error),
    .cfg_code_o(cfg_code),
    .cfg_role_o(cfg_role),
    .clk_role_i,
    .role_rst_ni(role_rst_n),
    .axil_i(axil),
    .axil_o(axil_rsp),
    .axi_o(role_axi),
    .axi_i(role_axi_rsp),
    .interrupt_o(interrupt)
  );
  rl_planted u_planted (.planted_i);
  assign start_o = axil.awvalid && axil.awaddr == RegControl;

  // There is no local channel here; the memory around never fails.
  logic unused;
  assign unused = ^{ddr_error, local_granted, local_ready};
endmodule : rl_card_sim
