// The ports of a simulated card beside port 0, each for the role's stream of its place or none; and what is not for its
// own address passes to the others, if it passes frames. One of them may have a host behind it instead, whose frames
// pass to port 0 and from it. They live through a restart of the shell: there is no firmware in them that could fail.
module rl_card_ports
  import rl_wire_pkg::mac_addr_t;
  import rl_role_pkg::*;
  import rl_port_pkg::*;
  import rl_nic_pkg::nic_config_t;
  import rl_nic_pkg::nic_counts_t;
#(
  parameter int unsigned DataW = 64,  // Bits of port 0's words, of which these have the lower 64.
  parameter int unsigned Ports = 3,   // Port 0 among them.
  parameter bit          Host = 1'b0, // There may be a host, at 64 bits.
  localparam int unsigned KeepW = DataW / 8
) (
  input  logic          clk_net_i,
  input  logic          rst_power_net_ni,
  input  logic          clk_role_i,
  input  logic          rst_power_role_ni,
  input  logic [Ports-1:1][50:0] port_i,  // As rl_card_sim has them.

  // -- for a host: what comes in at port 0, all of it, and frames to port 0; otherwise tied off
  input  mac_addr_t     card_i,           // The card's address, steady.
  input  logic [15:0]   time_us_i,
  input  logic          wire_valid_i,
  input  logic [DataW-1:0] wire_data_i,
  input  logic [KeepW-1:0] wire_keep_i,
  input  logic          wire_last_i,
  input  logic          wire_bad_i,
  output logic          wire_valid_o,     // Words of a frame follow each other without a gap.
  input  logic          wire_ready_i,
  output logic [DataW-1:0] wire_data_o,
  output logic [KeepW-1:0] wire_keep_o,
  output logic          wire_last_o,
  output nic_config_t   nic_o,            // Who is who, if there is a host; steady.
  output nic_counts_t   counts_o,

  input  logic [Ports-1:1]       rx_valid_i,
  input  logic [Ports-1:1][DataW-1:0] rx_data_i,
  input  logic [Ports-1:1][KeepW-1:0] rx_keep_i,
  input  logic [Ports-1:1]       rx_last_i,
  input  logic [Ports-1:1]       rx_bad_i,
  output logic [Ports-1:1]       tx_valid_o,
  input  logic [Ports-1:1]       tx_ready_i,
  output logic [Ports-1:1][DataW-1:0] tx_data_o,
  output logic [Ports-1:1][KeepW-1:0] tx_keep_o,
  output logic [Ports-1:1]       tx_last_o,

  // -- for the counters
  input  logic          rx_event_ready_i,
  output port_event_t   rx_event_o,
  output logic          tx_event_valid_o,
  input  logic          tx_event_ready_i,
  output logic [13:0]   tx_event_bytes_o,
  output logic          busy_o,

  // -- the role's streams, role domain
  input  logic          role_rst_ni,
  input  logic          listens_i,
  output message_t [Ports-1:1] message_o,
  input  logic [Ports-1:1] message_ready_i,
  input  message_t [Ports-1:1] message_i,
  output logic [Ports-1:1] message_ready_o
);
  localparam int unsigned Others = Ports - 1;
  localparam int unsigned PortRules = 2 * Others + 1;
  logic [Others-1:0]
      in_valid,
      in_last,
      out_valid,
      out_last,
      other_rx_valid,
      other_tx_valid,
      other_tx_ready,
      other_tx_last;
  logic [Others-1:0][63:0] other_rx_data, other_tx_data, in_data, out_data;
  logic [Others-1:0][7:0] other_rx_keep, other_tx_keep, in_keep, out_keep;
  logic layer_busy, layer_tx_valid, layer_tx_ready;
  logic [13:0] layer_tx_bytes;
  port_event_t layer_rx;
  port_config_t [Others-1:0] port_config;
  stream_config_t [Others-1:0] stream_config;
  port_rule_t [PortRules-1:0] port_rules;
  always_comb begin
    port_rules = '0;
    {port_rules[PortRules-1].group, port_rules[PortRules-1].other} = '1;
    {port_rules[PortRules-1].ours, port_rules[PortRules-1].rest} = '1;
    port_rules[PortRules-1].pass = '1;
    for (int unsigned i = 0; i < Others; i++) begin
      port_config[i] = '{mac: port_i[i+1][47:0], routed: 1'b0, subnet: '0};
      stream_config[i] = '{open: port_i[i+1][48], port: port_t'(i), forwards: 1'b0};
      if (port_i[i+1][48]) begin
        port_rules[2*i] = stream_rule(port_t'(i), 3'(i));
        port_rules[2*i+1] = stream_rule(port_t'(i), 3'(i));
      end
      // What is for a group does both.
      port_rules[2*i].own = 1'b0;
      port_rules[2*i+1].group = 1'b0;
      if (port_i[i+1][49]) begin
        port_rules[2*i].pass = '1;
        port_rules[PortRules-1].from[i] = 1'b1;
      end
    end
  end
  for (genvar i = 0; i < Others; i++) begin : gen_other
    assign other_rx_data[i] = rx_data_i[i+1][63:0];
    assign other_rx_keep[i] = rx_keep_i[i+1][7:0];
    assign message_o[i+1] = '{valid: in_valid[i], data: in_data[i], keep: in_keep[i], last: in_last[i]};
    assign out_valid[i] = message_i[i+1].valid;
    assign out_data[i] = message_i[i+1].data;
    assign out_keep[i] = message_i[i+1].keep;
    assign out_last[i] = message_i[i+1].last;
    if (DataW > 64) begin : gen_unused
      logic unused;
      assign unused = ^{rx_data_i[i+1][DataW-1:64], rx_keep_i[i+1][KeepW-1:8]};
    end
  end

  // -- a host
  if (Host) begin : gen_host
    logic [Others-1:0] hosts;
    mac_addr_t [Others-1:0] macs;
    logic nic_busy, nic_tx_valid;
    logic [13:0] nic_tx_bytes;
    port_event_t nic_rx;
    for (genvar i = 0; i < Others; i++) begin : gen_who
      assign {hosts[i], macs[i]} = {port_i[i+1][50], port_i[i+1][47:0]};
    end
    rl_card_nic #(
      .Ports(Ports)
    ) u_nic (
      .clk_net_i,
      .rst_power_ni(rst_power_net_ni),
      .card_i,
      .mac_i(macs),
      .hosts_i(hosts),
      .time_us_i,
      .wire_valid_i,
      .wire_data_i,
      .wire_keep_i,
      .wire_last_i,
      .wire_bad_i,
      .wire_valid_o,
      .wire_ready_i,
      .wire_data_o,
      .wire_keep_o,
      .wire_last_o,
      .rx_valid_i,
      .rx_data_i(other_rx_data),
      .rx_keep_i(other_rx_keep),
      .rx_last_i,
      .rx_bad_i,
      .tx_valid_o,
      .tx_ready_i,
      .tx_data_o,
      .tx_keep_o,
      .tx_last_o,
      .other_rx_valid_o(other_rx_valid),
      .other_tx_valid_i(other_tx_valid),
      .other_tx_ready_o(other_tx_ready),
      .other_tx_data_i(other_tx_data),
      .other_tx_keep_i(other_tx_keep),
      .other_tx_last_i(other_tx_last),
      .rx_event_ready_i(rx_event_ready_i && !layer_rx.frame),
      .rx_event_o(nic_rx),
      .tx_event_valid_o(nic_tx_valid),
      .tx_event_ready_i(tx_event_ready_i && !layer_tx_valid),
      .tx_event_bytes_o(nic_tx_bytes),
      .config_o(nic_o),
      .counts_o,
      .busy_o(nic_busy)
    );
    assign rx_event_o = layer_rx.frame ? layer_rx : nic_rx;
    assign tx_event_valid_o = layer_tx_valid || nic_tx_valid;
    assign tx_event_bytes_o = layer_tx_valid ? layer_tx_bytes : nic_tx_bytes;
    assign busy_o = layer_busy || nic_busy;
  end else begin : gen_no_host
    assign {other_rx_valid, other_tx_ready} = {rx_valid_i, tx_ready_i};
    assign {tx_valid_o, tx_last_o} = {other_tx_valid, other_tx_last};
    for (genvar i = 0; i < Others; i++) begin : gen_wide
      assign tx_data_o[i+1] = DataW'(other_tx_data[i]);
      assign tx_keep_o[i+1] = KeepW'(other_tx_keep[i]);
    end
    assign {wire_valid_o, wire_data_o, wire_keep_o, wire_last_o, nic_o, counts_o} = '0;
    assign {rx_event_o, tx_event_valid_o, tx_event_bytes_o, busy_o} =
        {layer_rx, layer_tx_valid, layer_tx_bytes, layer_busy};
    logic unused;
    assign unused = ^{card_i, time_us_i, wire_valid_i, wire_data_i, wire_keep_i, wire_last_i, wire_bad_i, wire_ready_i};
    for (genvar i = 1; i < Ports; i++) begin : gen_unused_host
      logic unused_host;
      assign unused_host = port_i[i][50];
    end
  end
  assign layer_tx_ready = tx_event_ready_i;

  // Their clocks rest while no frame is there and none has been for some time, which costs nothing then. Whether the
  // role listens has to arrive as well.
  logic clk_ports_net, clk_ports_role, ports_awake, listens_net, listens_net_q;
  logic [7:0] ports_rest_q;
  rl_sync u_listens (
    .clk_i(clk_net_i),
    .rst_ni(rst_power_net_ni),
    .d_i(listens_i && role_rst_ni),
    .q_o(listens_net)
  );
  always_comb begin
    ports_awake = !rst_power_net_ni || !rst_power_role_ni || layer_busy || listens_net != listens_net_q ||
        other_rx_valid != 0;
    for (int unsigned i = 0; i < Ports - 1; i++) ports_awake |= message_i[i+1].valid;
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
  logic [Others-1:0] unused_bad;
  logic [Others-1:0][0:0][31:0] unused_dropped;
  logic [Others-1:0][31:0] unused_spoilt, unused_refused;
  logic unused_local_valid, unused_local_last, unused_local_ready;
  logic [63:0] unused_local_data;
  logic [7:0] unused_local_keep;
  rl_port_layer #(
    .Ports(Others),
    .Streams(Others),
    .Rules(PortRules),
    .Words(1024),
    // Port and stream of one place, and each port to the other.
    .There({4'b1001, 4'b0110})
  ) u_ports (
    .clk_net_i(clk_ports_net),
    .rst_net_ni(rst_power_net_ni),
    .config_i(port_config),
    .stream_i(stream_config),
    .rules_i(port_rules),
    .share_i({2 * Others{12'd400}}),
    .rx_valid_i(other_rx_valid),
    .rx_data_i(other_rx_data),
    .rx_keep_i(other_rx_keep),
    .rx_last_i,
    .rx_bad_i,
    .tx_valid_o(other_tx_valid),
    .tx_ready_i(other_tx_ready),
    .tx_data_o(other_tx_data),
    .tx_keep_o(other_tx_keep),
    .tx_last_o(other_tx_last),
    .tx_bad_o(unused_bad),
    .local_listens_i('0),
    .local_valid_o(unused_local_valid),
    .local_ready_i('0),
    .local_data_o(unused_local_data),
    .local_keep_o(unused_local_keep),
    .local_last_o(unused_local_last),
    .local_valid_i('0),
    .local_ready_o(unused_local_ready),
    .local_port_i('0),
    .local_data_i('0),
    .local_keep_i('0),
    .local_last_i('0),
    .rx_event_ready_i,
    .rx_event_o(layer_rx),
    .tx_event_valid_o(layer_tx_valid),
    .tx_event_ready_i(layer_tx_ready),
    .tx_event_bytes_o(layer_tx_bytes),
    .dropped_o(unused_dropped),
    .spoilt_o(unused_spoilt),
    .busy_o(layer_busy),
    .clk_role_i(clk_ports_role),
    .rst_role_ni(rst_power_role_ni),
    .role_rst_ni,
    .role_listens_i(listens_i),
    .refused_o(unused_refused),
    .role_valid_o(in_valid),
    .role_ready_i(message_ready_i),
    .role_data_o(in_data),
    .role_keep_o(in_keep),
    .role_last_o(in_last),
    .role_valid_i(out_valid),
    .role_ready_o(message_ready_o),
    .role_data_i(out_data),
    .role_keep_i(out_keep),
    .role_last_i(out_last)
  );
endmodule
