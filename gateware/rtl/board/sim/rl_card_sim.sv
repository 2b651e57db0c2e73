// The Verilated card: the shell, the built-in roles as its region, and flat ports for the program around
// it, which plays MAC, DDR and time.
module rl_card_sim
  import rl_shell_pkg::*;
  import rl_role_pkg::*;
  import rl_config_pkg::*;
  import rl_port_pkg::*;
  import rl_nic_pkg::nic_counts_t;
#(
  parameter int unsigned DataW = 64,  // Bits of port 0's words. Other ports take the lower 64.
  parameter bit          Bridge = 1'b0, // It has a bridge, and may have a host behind it; at 64 bits only.
  parameter bit          Keys = 1'b0,   // Its frames have tags; at 64 bits, and without a bridge.
  parameter int unsigned Links = 0,     // So many links, up to 4, and programs over them; without keys.
  localparam int unsigned KeepW = DataW / 8,
  localparam int unsigned Ports = 3,
  localparam int unsigned Macs = Ports + Links,  // Those of links behind the others, of 64 bits.
  localparam int unsigned Memories = 2,  // Memory ports of the role.
  localparam int unsigned MemoryIdW = AxiIdW + $clog2(Memories + 32'(Bridge) + 32'(Links != 0)) + 1
) (
  input  logic          clk_net_i,
  input  logic          clk_ddr_i,
  input  logic          clk_role_i,
  input  logic          clk_cfg_i,
  input  logic          rst_ni, // All domains; held for some cycles of each clock.
  input  logic          drive_i, // Inputs below are taken as it rises, all but those that are steady.
  input  logic [Macs-1:0]       rx_valid_i, // The ports' MACs.
  input  logic [Macs-1:0][DataW-1:0] rx_data_i,
  input  logic [Macs-1:0][KeepW-1:0] rx_keep_i,
  input  logic [Macs-1:0]       rx_last_i,
  input  logic [Macs-1:0]       rx_bad_i,
  output logic [Macs-1:0]       tx_valid_o,
  input  logic [Macs-1:0]       tx_ready_i,
  output logic [Macs-1:0][DataW-1:0] tx_data_o,
  output logic [Macs-1:0][KeepW-1:0] tx_keep_o,
  output logic [Macs-1:0]       tx_last_o,
  // Ports beside port 0: bit 50 a host is there, 49 it passes, 48 it is a stream's, address.
  input  logic [Ports-1:1][50:0] port_i,
  // Links. Word 0: ticks until a link is dead [31:16], and until something is sent again; word 1: a tick is 64 us,
  // shifted by [31:28], and the early areas begin at [23:0], of 64 KiB each. Then two words each: port [63:56],
  // address [47:0].
  input  logic [9:0][31:0] link_i,
  input  logic [47:0]   time_us_i,
  input  logic [17:0][31:0] strap_i,    // Those of rl_straps, without the last three.
  // With Keys: a word for rl_key_store, or with bit 12 for rl_sign_store.
  input  logic          key_write_i,
  input  logic [12:0]   key_at_i,
  input  logic [31:0]   key_word_i,
  output logic          key_ready_o, // It is taken,
  output logic          key_news_o,  // and what was written was not taken by the firmware.
  output logic          kept_valid_o,  // A word of versions that the board is to keep.
  output logic [10:0]   kept_at_o,
  output logic [31:0]   kept_word_o,
  output logic          idle_o, // Nothing is under way: time may jump to the next frame or the alarm.
  output logic          alarm_valid_o,
  output logic [31:0]   alarm_us_o,
  output logic [7:0]    restarts_o, // How often firmware or memory have failed and the shell been restarted.
  output logic          start_o, // A kernel is started: the write to its control register is offered.
  output nic_counts_t   nic_o,     // What became of the host's frames.
  output logic          foreign_o, // A port beside port 0 has dropped a frame that no stream takes.
  input  logic [7:0]    planted_i, // Number of a bug to suffer from, 0: none.
  input  logic          cfg_hold_i, // The configuration port is not ready.
  input  logic [1:0][3:0] share_i,  // Parts of the memory's bandwidth of shell [0] and role [1]. Steady.
  output logic          event_valid_o,  // A word for the card's owner, from the role.
  input  logic          event_ready_i,
  output logic [63:0]   event_word_o,
  output logic          shell_write_o, // The shell offers a write to the memory.
  output logic          m_memory_awvalid,
  input  logic          m_memory_awready,
  output logic [39:0]   m_memory_awaddr,
  output logic [7:0]    m_memory_awlen,
  output logic [MemoryIdW-1:0] m_memory_awid,
  output logic          m_memory_wvalid,
  input  logic          m_memory_wready,
  output logic [511:0]  m_memory_wdata,
  output logic [63:0]   m_memory_wstrb,
  output logic          m_memory_wlast,
  input  logic          m_memory_bvalid,
  output logic          m_memory_bready,
  input  logic [1:0]    m_memory_bresp,
  input  logic [MemoryIdW-1:0] m_memory_bid,
  output logic          m_memory_arvalid,
  input  logic          m_memory_arready,
  output logic [39:0]   m_memory_araddr,
  output logic [7:0]    m_memory_arlen,
  output logic [MemoryIdW-1:0] m_memory_arid,
  input  logic          m_memory_rvalid,
  output logic          m_memory_rready,
  input  logic [511:0]  m_memory_rdata,
  input  logic [1:0]    m_memory_rresp,
  input  logic          m_memory_rlast,
  input  logic [MemoryIdW-1:0] m_memory_rid
);
  // What the program around it says is taken when that says so (drive_i): what is made of an input itself would be
  // computed each time that the model is evaluated.
  logic [Macs-1:0] rx_valid, rx_last, rx_bad, tx_ready;
  logic [Macs-1:0][DataW-1:0] rx_data;
  logic [Macs-1:0][KeepW-1:0] rx_keep;
  logic [47:0] time_us;
  logic cfg_hold, event_ready;
  rl_auth_pkg::store_write_t key_write;
  rl_auth_pkg::sign_write_t sign_write, kept;
  always_ff @(posedge drive_i) begin
    {rx_valid, rx_last, rx_bad, tx_ready} <= {rx_valid_i, rx_last_i, rx_bad_i, tx_ready_i};
    {rx_data, rx_keep, time_us} <= {rx_data_i, rx_keep_i, time_us_i};
    {cfg_hold, event_ready} <= {cfg_hold_i, event_ready_i};
    key_write <= {key_write_i && !key_at_i[12], key_at_i[8:0], key_word_i};
    sign_write <= {key_write_i && key_at_i[12], key_at_i[11:0], key_word_i};
  end

  axi_req_t shell;
  axi_rsp_t shell_rsp;
  axi_req_t [Memories-1:0] role_axi, guarded;  // Before and behind the shell's guards.
  axi_rsp_t [Memories-1:0] role_axi_rsp, guarded_rsp;
  remote_req_t remote;  // To the memory of other nodes.
  remote_rsp_t remote_rsp;
  role_in_t role_in;
  role_out_t role;
  logic role_rst_n;
  config_req_t config_req, region_req;
  config_rsp_t config_rsp, region_rsp;
  local_rsp_t unused_local;  // There is no programmer beside the shell.
  board_t unused_board;      // Roles are enabled while the card runs.
  shell_view_t view;
  logic memory_late, memory_owes, for_memory, ports_busy, role_busy_net, memory_busy;
  logic rst_shell_n, halt, drained, moves, wire_busy, bridge_moves, bridge_failed;
  logic clk_shell;  // clk_ddr_i, which rests.
  logic shell_rests;
  logic [6:0] role_says;
  logic links_busy, links_moves, links_failed, links_alarm, program_ended;
  logic [31:0] links_alarm_us, links_word;
  axi_req_t links_axi;
  axi_rsp_t links_axi_rsp;
  assign idle_o = view.quiet && view.sleeping && !halt && !ports_busy && !role_busy_net &&
      !memory_busy && !wire_busy && !links_busy;
  always_comb begin
    region_req = config_req;
    region_req.valid = config_req.valid && !cfg_hold;
    config_rsp = region_rsp;
    config_rsp.ready = region_rsp.ready && !cfg_hold;
  end

  // The ports' layer lives through a restart of the shell: it has no firmware that could fail.
  logic [3:0] rst_n;
  logic [2:0] rst_power_n;
  logic rst_power_net_n, rst_power_ddr_n, rst_power_role_n;
  for (genvar i = 0; i < 4; i++) begin : gen_reset
    logic clk;
    assign clk = i == 0 ? clk_net_i : i == 1 ? clk_ddr_i : i == 2 ? clk_role_i : clk_cfg_i;
    rl_reset u_reset (
      .clk_i(clk),
      .rst_ni(rst_ni && rst_shell_n),
      .rst_no(rst_n[i])
    );
    if (i < 3) begin : gen_power
      rl_reset u_reset (
        .clk_i(clk),
        .rst_ni,
        .rst_no(rst_power_n[i])
      );
    end
  end
  assign {rst_power_role_n, rst_power_ddr_n, rst_power_net_n} = rst_power_n;
  rl_restart u_restart (
    .clk_net_i,
    .rst_por_ni(rst_power_net_n),
    .failed_i(view.fault),
    .memory_failed_i(view.memory_failed || bridge_failed || links_failed || memory_late),
    .drained_i(drained),
    .rx_valid_i(rx_valid[0]),
    .rx_last_i(rx_last[0]),
    .moves_i(moves || bridge_moves || links_moves),
    .halt_o(halt),
    .rst_shell_no(rst_shell_n),
    .restarts_o,
    .for_memory_o(for_memory)
  );

  // What is steady is taken into registers: what is made of an input is computed whenever the model is evaluated.
  logic [17:0][31:0] strap_q;
  logic [Ports-1:1][50:0] port_q;
  logic [1:0][3:0] share_q;
  logic [9:0][31:0] link_q;
  always_ff @(posedge clk_net_i) begin
    if (!rst_ni) begin
      strap_q <= strap_i;
      port_q  <= port_i;
      link_q  <= link_i;
    end
    share_q <= share_i;
  end

  identity_t identity;
  logic [4:0] strap_index;
  logic [31:0] strap;
  logic [20:0][31:0] straps;
  always_comb begin
    straps = {32'(1 << rl_csr_pkg::LinkUpBit), 32'd0, 32'({memory_owes, for_memory, restarts_o}), strap_q};
    // A card that was restarted is another one to its hosts.
    straps[4] = strap_q[4] + 32'(restarts_o);
  end
  rl_straps u_straps (
    .strap_i(straps),
    .index_i(strap_index),
    .data_o(strap),
    .identity_o(identity)
  );
  // A card that was restarted has its keys from here again.
  rl_auth_pkg::store_t store;
  rl_auth_pkg::store_ask_t store_ask;
  rl_auth_pkg::sign_t sign;
  rl_auth_pkg::sign_ask_t sign_ask;
  logic store_ready, key_ready, sign_ready;
  assign {kept_valid_o, kept_word_o} = {kept.valid, kept.word};
  assign kept_at_o = kept.at[10:0];
  assign key_ready_o = sign_write.valid ? sign_ready : key_ready;
  if (Keys) begin : gen_store
    rl_auth_pkg::sign_looked_t unused_looked;
    rl_sign_store u_signers (
      .clk_i(clk_net_i),
      .rst_power_ni(rst_power_net_n),
      .write_i(sign_write),
      .write_ready_o(sign_ready),
      .ask_i(sign_ask),
      .sign_o(sign),
      .kept_o(kept),
      // The program around it has taken each word at once.
      .keeps_i(1'b0),
      .fails_i(1'b0),
      .look_i('0),
      .looked_o(unused_looked)
    );
    rl_key_store u_store (
      .clk_i(clk_net_i),
      .rst_power_ni(rst_power_net_n),
      .rst_ni(rst_n[0]),
      .write_i(key_write),
      .write_ready_o(key_ready),
      .ask_i(store_ask),
      .store_o(store),
      .ready_i(store_ready)
    );
    assign key_news_o = store.news;
  end else begin : gen_no_store
    assign store = '0;
    assign sign = '0;
    assign kept = '0;
    assign {key_ready, sign_ready, key_news_o} = '0;
    logic unused_keys;
    assign unused_keys = ^{key_write, sign_write, store_ask, store_ready, sign_ask};
  end

  port_event_t port_rx;
  logic port_rx_ready, port_tx_valid, port_tx_ready, layer_tx_valid, layer_tx_ready;
  logic [13:0] port_tx_bytes, layer_tx_bytes;
  rl_control_pkg::bridge_ctl_t bridge_ctl;
  rl_nic_pkg::nic_config_t nic_config;
  logic [31:0] bridge_word;
  logic shell_tx_valid, shell_tx_ready, shell_tx_last;
  logic [DataW-1:0] shell_tx_data;
  logic [KeepW-1:0] shell_tx_keep;
  rl_shell #(
    .DataW(DataW),
    .PatienceW(20),
    .Ports(Ports),
    .Memories(Memories),
    .Bridge(Bridge),
    .Keys(Keys),
    .Links(Links != 0)
  ) u_shell (
    .clk_net_i,
    .rst_net_ni(rst_n[0]),
    .clk_ddr_i(clk_shell),
    .rst_ddr_ni(rst_n[1]),
    .clk_role_i,
    .rst_role_ni(rst_n[2]),
    .clk_cfg_i,
    .rst_cfg_ni(rst_n[3]),
    .identity_i(identity),
    .strap_index_o(strap_index),
    .strap_i(strap),
    .time_us_i(time_us),
    .rest_i(shell_rests),
    .role_says_o(role_says),
    .rx_valid_i(rx_valid[0]),
    .rx_data_i(rx_data[0]),
    .rx_keep_i(rx_keep[0]),
    .rx_last_i(rx_last[0]),
    .rx_bad_i(rx_bad[0]),
    .tx_valid_o(shell_tx_valid),
    .tx_ready_i(shell_tx_ready),
    .tx_data_o(shell_tx_data),
    .tx_keep_o(shell_tx_keep),
    .tx_last_o(shell_tx_last),
    .port_rx_ready_o(port_rx_ready),
    .port_rx_i(port_rx),
    .port_tx_valid_i(port_tx_valid),
    .port_tx_ready_o(port_tx_ready),
    .port_tx_bytes_i(port_tx_bytes),
    .bridge_o(bridge_ctl),
    .bridge_i(bridge_word | links_word),
    .program_ended_i(program_ended),
    .nic_i(nic_config),
    .store_i(store),
    .store_ready_o(store_ready),
    .store_ask_o(store_ask),
    .sign_i(sign),
    .sign_ask_o(sign_ask),
    .shell_axi_o(shell),
    .shell_axi_i(shell_rsp),
    .role_axi_o(guarded),
    .role_axi_i(guarded_rsp),
    .axil_o(role_in.axil),
    .axil_i(role.axil),
    .axi_i(role_axi),
    .axi_o(role_axi_rsp),
    .interrupt_i(role.irq),
    .role_rst_no(role_rst_n),
    .config_o(config_req),
    .board_o(unused_board),
    .config_i(config_rsp),
    .local_i('0),
    .local_o(unused_local),
    .view_o(view),
    .halt_i(halt),
    .drained_o(drained),
    .moves_o(moves)
  );
  rl_card_shell_rest #(
    .Width($bits(role_says) + 2)
  ) u_shell_rest (
    .clk_i(clk_net_i),
    .rst_ni(rst_n[0]),
    .rests_i(view.rests),
    .asks_i(halt || store.valid),
    .news_i({role_says, program_ended, store.news}),
    .time_us_i(time_us[31:0]),
    .alarm_us_i(view.alarm_us),
    .rest_o(shell_rests)
  );
  rl_wire_pkg::mac_addr_t card_mac;
  assign card_mac = {strap_q[0][15:0], strap_q[1]};
  logic host_tx_valid, host_tx_ready, host_tx_last;
  logic [DataW-1:0] host_tx_data;
  logic [KeepW-1:0] host_tx_keep;
  axi_req_t bridge_axi;
  axi_rsp_t bridge_axi_rsp;
  message_t [Ports-1:1] message_in, message_out, port_in, port_out;
  logic [Ports-1:1] message_in_ready, message_out_ready, port_in_ready, port_out_ready;
  rl_card_wire #(
    .DataW(DataW),
    .Bridge(Bridge),
    .Streams(Ports - 1)
  ) u_wire (
    .clk_net_i,
    .rst_power_ni(rst_power_net_n),
    .rst_net_ni(rst_n[0]),
    .clk_ddr_i,
    .rst_ddr_ni(rst_n[1]),
    .mac_i(card_mac),
    .boot_i(strap_q[4]),
    .restarts_i(restarts_o),
    .resend_us_i(strap_q[14]),
    .time_us_i(time_us),
    .ctl_i(bridge_ctl),
    .data_o(bridge_word),
    .halt_i(halt),
    .moves_o(bridge_moves),
    .failed_o(bridge_failed),
    .busy_o(wire_busy),
    .rx_valid_i(rx_valid[0]),
    .rx_data_i(rx_data[0]),
    .rx_keep_i(rx_keep[0]),
    .rx_last_i(rx_last[0]),
    .rx_bad_i(rx_bad[0]),
    .valid_i({host_tx_valid, shell_tx_valid}),
    .ready_o({host_tx_ready, shell_tx_ready}),
    .data_i({host_tx_data, shell_tx_data}),
    .keep_i({host_tx_keep, shell_tx_keep}),
    .last_i({host_tx_last, shell_tx_last}),
    .tx_valid_o(tx_valid_o[0]),
    .tx_ready_i(tx_ready[0]),
    .tx_data_o(tx_data_o[0]),
    .tx_keep_o(tx_keep_o[0]),
    .tx_last_o(tx_last_o[0]),
    .event_valid_i(layer_tx_valid),
    .event_ready_o(layer_tx_ready),
    .event_bytes_i(layer_tx_bytes),
    .event_valid_o(port_tx_valid),
    .event_ready_i(port_tx_ready),
    .event_bytes_o(port_tx_bytes),
    .axi_o(bridge_axi),
    .axi_i(bridge_axi_rsp),
    .clk_role_i,
    .rst_role_ni(rst_n[2]),
    .role_rst_ni(role_rst_n && rst_n[2]),
    .listens_i(role.listens),
    .port_i(port_in),
    .port_ready_o(port_in_ready),
    .role_o(message_in),
    .role_ready_i(message_in_ready),
    .role_i(message_out),
    .role_ready_o(message_out_ready),
    .port_o(port_out),
    .port_ready_i(port_out_ready),
    .remote_i(remote),
    .remote_o(remote_rsp)
  );
  // -- one memory for all
  assign shell_write_o = shell.awvalid;
  rl_card_memory #(
    .DataW(DataW),
    .Bridge(Bridge),
    .Links(Links != 0),
    .Memories(Memories)
  ) u_memory (
    .clk_net_i,
    .rst_power_net_ni(rst_power_net_n),
    .rst_net_ni(rst_n[0]),
    .clk_ddr_i,
    .rst_power_ddr_ni(rst_power_ddr_n),
    .rst_ddr_ni(rst_n[1]),
    .clk_role_i,
    .rst_role_ni(rst_n[2]),
    .clk_shell_o(clk_shell),
    .drive_i,
    .shell_rests_i(view.memory_rests),
    .share_i(share_q),
    .shell_i(shell),
    .shell_o(shell_rsp),
    .role_i(guarded),
    .role_o(guarded_rsp),
    .bridge_i(bridge_axi),
    .bridge_o(bridge_axi_rsp),
    .links_i(links_axi),
    .links_o(links_axi_rsp),
    .busy_o(memory_busy),
    .late_o(memory_late),
    .owes_o(memory_owes),
    .m_memory_awvalid,
    .m_memory_awready,
    .m_memory_awaddr,
    .m_memory_awlen,
    .m_memory_awid,
    .m_memory_wvalid,
    .m_memory_wready,
    .m_memory_wdata,
    .m_memory_wstrb,
    .m_memory_wlast,
    .m_memory_bvalid,
    .m_memory_bready,
    .m_memory_bresp,
    .m_memory_bid,
    .m_memory_arvalid,
    .m_memory_arready,
    .m_memory_araddr,
    .m_memory_arlen,
    .m_memory_arid,
    .m_memory_rvalid,
    .m_memory_rready,
    .m_memory_rdata,
    .m_memory_rresp,
    .m_memory_rlast,
    .m_memory_rid
  );

  rl_card_alarm u_alarm (
    .time_us_i(time_us[31:0]),
    .firmware_valid_i(view.alarm_valid),
    .firmware_us_i(view.alarm_us),
    .ack_waits_i(view.ack_waits),
    .ack_late_i(view.ack_late),
    .links_valid_i(links_alarm),
    .links_us_i(links_alarm_us),
    .valid_o(alarm_valid_o),
    .us_o(alarm_us_o)
  );

  // -- links
  if (Links > 0) begin : gen_links
    logic [Links-1:0][63:0] in_data, out_data;
    logic [Links-1:0][7:0] in_keep, out_keep;
    for (genvar l = 0; l < Links; l++) begin : gen_link
      assign {in_data[l], in_keep[l]} = {rx_data[Ports+l][63:0], rx_keep[Ports+l][7:0]};
      assign {tx_data_o[Ports+l], tx_keep_o[Ports+l]} = {DataW'(out_data[l]), KeepW'(out_keep[l])};
    end
    rl_card_links #(
      .Links(Links)
    ) u_links (
      .clk_net_i,
      .rst_power_ni(rst_power_net_n),
      .rst_net_ni(rst_n[0]),
      .clk_ddr_i,
      .rst_ddr_ni(rst_n[1]),
      .mac_i(card_mac),
      .boot_i(strap_q[4]),
      .link_i(link_q),
      .memory_i(40'(identity.memory)),
      .restarts_i(restarts_o),
      .time_us_i(time_us),
      .ctl_i(bridge_ctl),
      .data_o(links_word),
      .ended_o(program_ended),
      .halt_i(halt),
      .moves_o(links_moves),
      .failed_o(links_failed),
      .busy_o(links_busy),
      .alarm_valid_o(links_alarm),
      .alarm_us_o(links_alarm_us),
      .rx_valid_i(rx_valid[Macs-1:Ports]),
      .rx_data_i(in_data),
      .rx_keep_i(in_keep),
      .rx_last_i(rx_last[Macs-1:Ports]),
      .rx_bad_i(rx_bad[Macs-1:Ports]),
      .tx_valid_o(tx_valid_o[Macs-1:Ports]),
      .tx_ready_i(tx_ready[Macs-1:Ports]),
      .tx_data_o(out_data),
      .tx_keep_o(out_keep),
      .tx_last_o(tx_last_o[Macs-1:Ports]),
      .axi_o(links_axi),
      .axi_i(links_axi_rsp)
    );
  end else begin : gen_no_links
    assign {links_word, program_ended, links_moves, links_failed, links_busy, links_alarm, links_alarm_us} = '0;
    assign links_axi = '0;
    logic unused_links;
    assign unused_links = ^{link_q, links_axi_rsp};
  end

  // -- the ports beside port 0, and the streams of the role
  rl_card_ports #(
    .DataW(DataW),
    .Ports(Ports),
    .Host(Bridge)
  ) u_ports (
    .clk_net_i,
    .rst_power_net_ni(rst_power_net_n),
    .clk_role_i,
    .rst_power_role_ni(rst_power_role_n),
    .port_i(port_q),
    .card_i(card_mac),
    .time_us_i(time_us[15:0]),
    .wire_valid_i(rx_valid[0]),
    .wire_data_i(rx_data[0]),
    .wire_keep_i(rx_keep[0]),
    .wire_last_i(rx_last[0]),
    .wire_bad_i(rx_bad[0]),
    .wire_valid_o(host_tx_valid),
    .wire_ready_i(host_tx_ready),
    .wire_data_o(host_tx_data),
    .wire_keep_o(host_tx_keep),
    .wire_last_o(host_tx_last),
    .nic_o(nic_config),
    .counts_o(nic_o),
    .rx_valid_i(rx_valid[Ports-1:1]),
    .rx_data_i(rx_data[Ports-1:1]),
    .rx_keep_i(rx_keep[Ports-1:1]),
    .rx_last_i(rx_last[Ports-1:1]),
    .rx_bad_i(rx_bad[Ports-1:1]),
    .tx_valid_o(tx_valid_o[Ports-1:1]),
    .tx_ready_i(tx_ready[Ports-1:1]),
    .tx_data_o(tx_data_o[Ports-1:1]),
    .tx_keep_o(tx_keep_o[Ports-1:1]),
    .tx_last_o(tx_last_o[Ports-1:1]),
    .rx_event_ready_i(port_rx_ready),
    .rx_event_o(port_rx),
    .tx_event_valid_o(layer_tx_valid),
    .tx_event_ready_i(layer_tx_ready),
    .tx_event_bytes_o(layer_tx_bytes),
    .busy_o(ports_busy),
    .role_rst_ni(role_rst_n && rst_n[2]),
    .listens_i(role.listens),
    .message_o(port_in),
    .message_ready_i(port_in_ready),
    .message_i(port_out),
    .message_ready_o(port_out_ready)
  );
  assign foreign_o = port_rx.foreign && port_rx_ready;
  rl_sync u_role_busy (
    .clk_i(clk_net_i),
    .rst_ni(rst_n[0]),
    .d_i(role.busy),
    .q_o(role_busy_net)
  );
  rl_role_events u_events (
    .clk_role_i,
    .rst_role_ni(rst_n[2]),
    .role_rst_ni(role_rst_n),
    .raises_i(role.raises),
    .ready_o(role_in.event_ready),
    .clk_net_i,
    .rst_net_ni(rst_n[0]),
    .valid_o(event_valid_o),
    .ready_i(event_ready),
    .word_o(event_word_o)
  );
  rl_region #(
    .Memories(Memories),
    .Streams(Ports - 1)
  ) u_region (
    .clk_cfg_i,
    .rst_cfg_ni(rst_n[3]),
    .config_i(region_req),
    .config_o(region_rsp),
    .clk_role_i,
    .role_rst_ni(role_rst_n),
    .role_i(role_in),
    .role_o(role),
    .axi_o(role_axi),
    .axi_i(role_axi_rsp),
    .message_i(message_in),
    .message_ready_o(message_in_ready),
    .message_o(message_out),
    .message_ready_i(message_out_ready),
    .remote_o(remote),
    .remote_i(remote_rsp)
  );
  rl_planted #(
    .DataW(DataW),
    .Keys(Keys)
  ) u_planted (
    .planted_i
  );
  assign start_o = role_in.axil.awvalid && role_in.axil.awaddr == RegControl;
endmodule : rl_card_sim
