// The Verilated card: the shell, the built-in roles as its region, and flat ports for the program around
// it, which plays MAC, DDR and time.
module rl_card_sim
  import rl_shell_pkg::*;
  import rl_role_pkg::*;
  import rl_config_pkg::*;
  import rl_port_pkg::*;
#(
  parameter int unsigned DataW = 64,  // Bits of port 0's words. Other ports take the lower 64.
  localparam int unsigned KeepW = DataW / 8,
  localparam int unsigned Ports = 3
) (
  input  logic          clk_net_i,
  input  logic          clk_ddr_i,
  input  logic          clk_role_i,
  input  logic          clk_cfg_i,
  input  logic          rst_ni, // All domains; held for some cycles of each clock.
  input  logic [Ports-1:0]       rx_valid_i, // The ports' MACs.
  input  logic [Ports-1:0][DataW-1:0] rx_data_i,
  input  logic [Ports-1:0][KeepW-1:0] rx_keep_i,
  input  logic [Ports-1:0]       rx_last_i,
  input  logic [Ports-1:0]       rx_bad_i,
  output logic [Ports-1:0]       tx_valid_o,
  input  logic [Ports-1:0]       tx_ready_i,
  output logic [Ports-1:0][DataW-1:0] tx_data_o,
  output logic [Ports-1:0][KeepW-1:0] tx_keep_o,
  output logic [Ports-1:0]       tx_last_o,
  input  logic [Ports-1:1][48:0] port_i,     // port_config_t of the ports beside port 0.
  input  logic [47:0]   time_us_i,
  input  logic [17:0][31:0] strap_i,    // Those of rl_straps, without the last two.
  output logic          idle_o, // Nothing is under way: time may jump to the next frame or the alarm.
  output logic          alarm_valid_o,
  output logic [31:0]   alarm_us_o,
  output logic [7:0]    restarts_o, // How often firmware or memory have failed and the shell been restarted.
  output logic          start_o, // A kernel is started: the write to its control register is offered.
  output logic          foreign_o, // A port beside port 0 has dropped a frame that no stream takes.
  input  logic [7:0]    planted_i, // Number of a bug to suffer from, 0: none.
  input  logic          cfg_hold_i, // The configuration port is not ready.
  output logic          shell_write_o, // The shell offers a write to the memory.
  output logic          m_memory_awvalid,
  input  logic          m_memory_awready,
  output logic [39:0]   m_memory_awaddr,
  output logic [7:0]    m_memory_awlen,
  output logic [AxiIdW:0] m_memory_awid,
  output logic          m_memory_wvalid,
  input  logic          m_memory_wready,
  output logic [511:0]  m_memory_wdata,
  output logic [63:0]   m_memory_wstrb,
  output logic          m_memory_wlast,
  input  logic          m_memory_bvalid,
  output logic          m_memory_bready,
  input  logic [1:0]    m_memory_bresp,
  input  logic [AxiIdW:0] m_memory_bid,
  output logic          m_memory_arvalid,
  input  logic          m_memory_arready,
  output logic [39:0]   m_memory_araddr,
  output logic [7:0]    m_memory_arlen,
  output logic [AxiIdW:0] m_memory_arid,
  input  logic          m_memory_rvalid,
  output logic          m_memory_rready,
  input  logic [511:0]  m_memory_rdata,
  input  logic [1:0]    m_memory_rresp,
  input  logic          m_memory_rlast,
  input  logic [AxiIdW:0] m_memory_rid
);
  axi_req_t shell, role, role_axi, role_crossed;
  axi_rsp_t shell_rsp, role_rsp, role_axi_rsp, role_crossed_rsp;
  axil_req_t axil;
  axil_rsp_t axil_rsp;

  logic interrupt, role_rst_n;
  config_req_t config_req, region_req;
  config_rsp_t config_rsp, region_rsp;
  local_rsp_t unused_local;  // There is no programmer beside the shell.
  board_t unused_board;      // Roles are enabled while the card runs.
  logic
      sleeping,
      quiet,
      memory_failed,
      memory_late,
      memory_owes,
      for_memory,
      ports_busy,
      role_busy_net,
      memory_busy,
      memory_busy_net;
  logic rst_shell_n, firmware_failed, halt, drained, moves;
  assign idle_o = quiet && sleeping && !halt && !ports_busy && !role_busy_net && !memory_busy_net;
  always_comb begin
    region_req = config_req;
    region_req.valid = config_req.valid && !cfg_hold_i;
    config_rsp = region_rsp;
    config_rsp.ready = region_rsp.ready && !cfg_hold_i;
  end

  // The ports' layer lives through a restart of the shell: it has no firmware that could fail.
  logic [3:0] rst_n;
  logic rst_power_net_n, rst_power_ddr_n, rst_power_role_n;
  for (genvar i = 0; i < 4; i++) begin : gen_reset
    logic clk;
    assign clk = i == 0 ? clk_net_i : i == 1 ? clk_ddr_i : i == 2 ? clk_role_i : clk_cfg_i;
    rl_reset u_reset (
      .clk_i(clk),
      .rst_ni(rst_ni && rst_shell_n),
      .rst_no(rst_n[i])
    );
  end
  rl_reset u_power_net (
    .clk_i(clk_net_i),
    .rst_ni,
    .rst_no(rst_power_net_n)
  );
  rl_reset u_power_ddr (
    .clk_i(clk_ddr_i),
    .rst_ni,
    .rst_no(rst_power_ddr_n)
  );
  rl_reset u_power_role (
    .clk_i(clk_role_i),
    .rst_ni,
    .rst_no(rst_power_role_n)
  );
  rl_restart u_restart (
    .clk_net_i,
    .rst_por_ni(rst_power_net_n),
    .failed_i(firmware_failed),
    .memory_failed_i(memory_failed || memory_late),
    .drained_i(drained),
    .rx_valid_i(rx_valid_i[0]),
    .rx_last_i(rx_last_i[0]),
    .moves_i(moves),
    .halt_o(halt),
    .rst_shell_no(rst_shell_n),
    .restarts_o,
    .for_memory_o(for_memory)
  );

  identity_t identity;
  logic [4:0] strap_index;
  logic [31:0] strap;
  logic [19:0][31:0] straps;
  always_comb begin
    straps = {32'd0, 32'({memory_owes, for_memory, restarts_o}), strap_i};
    // A card that was restarted is another one to its hosts.
    straps[4] = strap_i[4] + 32'(restarts_o);
  end
  rl_straps u_straps (
    .strap_i(straps),
    .index_i(strap_index),
    .data_o(strap),
    .identity_o(identity)
  );
  logic alarm_valid, ack_waits;
  logic [15:0] ack_late;
  logic [31:0] alarm_us;
  port_event_t port_rx;
  logic port_rx_ready, port_tx_valid, port_tx_ready;
  logic [13:0] port_tx_bytes;
  rl_shell #(
    .DataW(DataW),
    .PatienceW(20),
    .Ports(Ports)
  ) u_shell (
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
    .rx_valid_i(rx_valid_i[0]),
    .rx_data_i(rx_data_i[0]),
    .rx_keep_i(rx_keep_i[0]),
    .rx_last_i(rx_last_i[0]),
    .rx_bad_i(rx_bad_i[0]),
    .tx_valid_o(tx_valid_o[0]),
    .tx_ready_i(tx_ready_i[0]),
    .tx_data_o(tx_data_o[0]),
    .tx_keep_o(tx_keep_o[0]),
    .tx_last_o(tx_last_o[0]),
    .port_rx_ready_o(port_rx_ready),
    .port_rx_i(port_rx),
    .port_tx_valid_i(port_tx_valid),
    .port_tx_ready_o(port_tx_ready),
    .port_tx_bytes_i(port_tx_bytes),
    .shell_axi_o(shell),
    .shell_axi_i(shell_rsp),
    .role_axi_o(role),
    .role_axi_i(role_rsp),
    .axil_o(axil),
    .axil_i(axil_rsp),
    .axi_i(role_axi),
    .axi_o(role_axi_rsp),
    .interrupt_i(interrupt),
    .role_rst_no(role_rst_n),
    .config_o(config_req),
    .board_o(unused_board),
    .config_i(config_rsp),
    .local_i('0),
    .local_o(unused_local),
    .sleeping_o(sleeping),
    .alarm_valid_o(alarm_valid),
    .alarm_us_o(alarm_us),
    .ack_waits_o(ack_waits),
    .ack_late_o(ack_late),
    .fault_o(firmware_failed),
    .halt_i(halt),
    .drained_o(drained),
    .moves_o(moves),
    .memory_failed_o(memory_failed),
    .quiet_o(quiet)
  );
  // -- one memory for both: half of it each, if both want it
  assign shell_write_o = shell.awvalid;
  rl_memory_crossing u_crossing (
    .clk_manager_i(clk_role_i),
    .rst_manager_ni(rst_n[2]),
    .manager_i(role),
    .manager_o(role_rsp),
    .clk_memory_i(clk_ddr_i),
    .rst_memory_ni(rst_n[1]),
    .memory_o(role_crossed),
    .memory_i(role_crossed_rsp)
  );
  logic door_awvalid, door_awready, door_wvalid, door_wready, door_wlast, door_bvalid, door_bready;
  logic door_arvalid, door_arready, door_rvalid, door_rready;
  logic [63:0] door_wstrb;
  rl_memory_share #(
    .AddrW(AxiAddrW),
    .IdW(AxiIdW),
    .ShareW(2),
    .Longest({8'(BurstMax), 8'd1}),
    .Buffer({16'd64, 16'd0})  // The shell takes what it has asked for.
  ) u_share (
    .clk_i(clk_ddr_i),
    .rst_ni(rst_n[1]),
    .share_i({2'd1, 2'd1}),
    .busy_o(memory_busy),
    .s_awvalid_i({role_crossed.awvalid, shell.awvalid}),
    .s_awready_o({role_crossed_rsp.awready, shell_rsp.awready}),
    .s_awaddr_i({role_crossed.awaddr, shell.awaddr}),
    .s_awlen_i({role_crossed.awlen, shell.awlen}),
    .s_awid_i({role_crossed.awid, shell.awid}),
    .s_wvalid_i({role_crossed.wvalid, shell.wvalid}),
    .s_wready_o({role_crossed_rsp.wready, shell_rsp.wready}),
    .s_wdata_i({role_crossed.wdata, shell.wdata}),
    .s_wstrb_i({role_crossed.wstrb, shell.wstrb}),
    .s_wlast_i({role_crossed.wlast, shell.wlast}),
    .s_bvalid_o({role_crossed_rsp.bvalid, shell_rsp.bvalid}),
    .s_bready_i({role_crossed.bready, shell.bready}),
    .s_bresp_o({role_crossed_rsp.bresp, shell_rsp.bresp}),
    .s_bid_o({role_crossed_rsp.bid, shell_rsp.bid}),
    .s_arvalid_i({role_crossed.arvalid, shell.arvalid}),
    .s_arready_o({role_crossed_rsp.arready, shell_rsp.arready}),
    .s_araddr_i({role_crossed.araddr, shell.araddr}),
    .s_arlen_i({role_crossed.arlen, shell.arlen}),
    .s_arid_i({role_crossed.arid, shell.arid}),
    .s_rvalid_o({role_crossed_rsp.rvalid, shell_rsp.rvalid}),
    .s_rready_i({role_crossed.rready, shell.rready}),
    .s_rdata_o({role_crossed_rsp.rdata, shell_rsp.rdata}),
    .s_rresp_o({role_crossed_rsp.rresp, shell_rsp.rresp}),
    .s_rlast_o({role_crossed_rsp.rlast, shell_rsp.rlast}),
    .s_rid_o({role_crossed_rsp.rid, shell_rsp.rid}),
    .m_awvalid_o(door_awvalid),
    .m_awready_i(door_awready),
    .m_awaddr_o(m_memory_awaddr),
    .m_awlen_o(m_memory_awlen),
    .m_awid_o(m_memory_awid),
    .m_wvalid_o(door_wvalid),
    .m_wready_i(door_wready),
    .m_wdata_o(m_memory_wdata),
    .m_wstrb_o(door_wstrb),
    .m_wlast_o(door_wlast),
    .m_bvalid_i(door_bvalid),
    .m_bready_o(door_bready),
    .m_bresp_i(m_memory_bresp),
    .m_bid_i(m_memory_bid),
    .m_arvalid_o(door_arvalid),
    .m_arready_i(door_arready),
    .m_araddr_o(m_memory_araddr),
    .m_arlen_o(m_memory_arlen),
    .m_arid_o(m_memory_arid),
    .m_rvalid_i(door_rvalid),
    .m_rready_o(door_rready),
    .m_rdata_i(m_memory_rdata),
    .m_rresp_i(m_memory_rresp),
    .m_rlast_i(m_memory_rlast),
    .m_rid_i(m_memory_rid)
  );
  logic late, owes, fills;
  rl_memory_watch u_watch (
    .clk_i(clk_ddr_i),
    .rst_por_ni(rst_power_ddr_n),
    .rst_ni(rst_n[1]),
    .s_awvalid_i(door_awvalid),
    .s_awready_o(door_awready),
    .s_awlen_i(m_memory_awlen),
    .s_wvalid_i(door_wvalid),
    .s_wready_o(door_wready),
    .s_wlast_i(door_wlast),
    .s_bvalid_o(door_bvalid),
    .s_bready_i(door_bready),
    .s_arvalid_i(door_arvalid),
    .s_arready_o(door_arready),
    .s_rvalid_o(door_rvalid),
    .s_rready_i(door_rready),
    .m_awvalid_o(m_memory_awvalid),
    .m_awready_i(m_memory_awready),
    .m_wvalid_o(m_memory_wvalid),
    .m_wready_i(m_memory_wready),
    .m_wlast_o(m_memory_wlast),
    .fills_o(fills),
    .m_bvalid_i(m_memory_bvalid),
    .m_bready_o(m_memory_bready),
    .m_arvalid_o(m_memory_arvalid),
    .m_arready_i(m_memory_arready),
    .m_rvalid_i(m_memory_rvalid),
    .m_rlast_i(m_memory_rlast),
    .m_rready_o(m_memory_rready),
    .late_o(late),
    .owes_o(owes)
  );
  assign m_memory_wstrb = fills ? '0 : door_wstrb;
  rl_sync #(
    .Width(2)
  ) u_watched (
    .clk_i(clk_net_i),
    .rst_ni(rst_power_net_n),
    .d_i({late, owes}),
    .q_o({memory_late, memory_owes})
  );
  rl_sync u_memory_busy (
    .clk_i(clk_net_i),
    .rst_ni(rst_n[0]),
    .d_i(memory_busy),
    .q_o(memory_busy_net)
  );

  // The next moment at which something is due: the firmware's, or an acknowledgement.
  logic alarm_first;
  logic [31:0] ack_us;
  assign ack_us = time_us_i[31:0] - {{16{ack_late[15]}}, ack_late};
  assign alarm_first = alarm_valid && signed'(alarm_us - ack_us) < 0;
  assign alarm_valid_o = alarm_valid || ack_waits;
  assign alarm_us_o = ack_waits && !alarm_first ? ack_us : alarm_us;

  logic role_listens, role_busy;
  message_t [Ports-2:0] message_in, message_out;
  logic [Ports-2:0] message_in_ready, message_out_ready;
  logic [Ports-2:0][63:0] other_rx_data, other_tx_data;
  logic [Ports-2:0][7:0] other_rx_keep, other_tx_keep;
  for (genvar i = 0; i < Ports - 1; i++) begin : gen_other
    assign other_rx_data[i] = rx_data_i[i+1][63:0];
    assign other_rx_keep[i] = rx_keep_i[i+1][7:0];
    assign tx_data_o[i+1] = DataW'(other_tx_data[i]);
    assign tx_keep_o[i+1] = KeepW'(other_tx_keep[i]);
    if (DataW > 64) begin : gen_unused
      logic unused;
      assign unused = ^{rx_data_i[i+1][DataW-1:64], rx_keep_i[i+1][KeepW-1:8]};
    end
  end
  // Their clocks rest while no frame is there and none has been for some time, which costs nothing then. Whether the
  // role listens has to arrive as well.
  logic clk_ports_net, clk_ports_role, ports_awake, listens_net, listens_net_q;
  logic [7:0] ports_rest_q;
  rl_sync u_listens (
    .clk_i(clk_net_i),
    .rst_ni(rst_power_net_n),
    .d_i(role_listens && role_rst_n && rst_n[2]),
    .q_o(listens_net)
  );
  always_comb begin
    ports_awake = !rst_power_net_n || !rst_power_role_n || ports_busy || listens_net != listens_net_q ||
        rx_valid_i[Ports-1:1] != 0;
    for (int unsigned i = 0; i < Ports - 1; i++) ports_awake |= message_out[i].valid;
  end
  always_ff @(posedge clk_net_i) begin
    listens_net_q <= listens_net;
    if (ports_awake) ports_rest_q <= '1;
    else if (ports_rest_q != 0) ports_rest_q <= ports_rest_q - 1'b1;
  end
  rl_clock_gate u_ports_net (
    .clk_i(clk_net_i),
    .enable_i(ports_awake || ports_rest_q != 0),
    .clk_o(clk_ports_net)
  );
  rl_clock_gate u_ports_role (
    .clk_i(clk_role_i),
    .enable_i(ports_awake || ports_rest_q != 0),
    .clk_o(clk_ports_role)
  );
  rl_port_layer #(
    .Others(Ports - 1)
  ) u_ports (
    .clk_net_i(clk_ports_net),
    .rst_net_ni(rst_power_net_n),
    .config_i(port_i),
    .rx_valid_i(rx_valid_i[Ports-1:1]),
    .rx_data_i(other_rx_data),
    .rx_keep_i(other_rx_keep),
    .rx_last_i(rx_last_i[Ports-1:1]),
    .rx_bad_i(rx_bad_i[Ports-1:1]),
    .tx_valid_o(tx_valid_o[Ports-1:1]),
    .tx_ready_i(tx_ready_i[Ports-1:1]),
    .tx_data_o(other_tx_data),
    .tx_keep_o(other_tx_keep),
    .tx_last_o(tx_last_o[Ports-1:1]),
    .rx_event_ready_i(port_rx_ready),
    .rx_event_o(port_rx),
    .tx_event_valid_o(port_tx_valid),
    .tx_event_ready_i(port_tx_ready),
    .tx_event_bytes_o(port_tx_bytes),
    .busy_o(ports_busy),
    .clk_role_i(clk_ports_role),
    .rst_role_ni(rst_power_role_n),
    .role_rst_ni(role_rst_n && rst_n[2]),
    .role_listens_i(role_listens),
    .message_o(message_in),
    .message_ready_i(message_in_ready),
    .message_i(message_out),
    .message_ready_o(message_out_ready)
  );
  assign foreign_o = port_rx.foreign && port_rx_ready;
  rl_sync u_role_busy (
    .clk_i(clk_net_i),
    .rst_ni(rst_n[0]),
    .d_i(role_busy),
    .q_o(role_busy_net)
  );
  rl_region #(
    .Streams(Ports - 1)
  ) u_region (
    .listens_o(role_listens),
    .message_i(message_in),
    .message_ready_o(message_in_ready),
    .message_o(message_out),
    .message_ready_i(message_out_ready),
    .busy_o(role_busy),
    .clk_cfg_i,
    .rst_cfg_ni(rst_n[3]),
    .config_i(region_req),
    .config_o(region_rsp),
    .clk_role_i,
    .role_rst_ni(role_rst_n),
    .axil_i(axil),
    .axil_o(axil_rsp),
    .axi_o(role_axi),
    .axi_i(role_axi_rsp),
    .interrupt_o(interrupt)
  );
  rl_planted #(.DataW(DataW)) u_planted (.planted_i);
  assign start_o = axil.awvalid && axil.awaddr == RegControl;
endmodule : rl_card_sim
