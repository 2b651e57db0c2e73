// Port 0 of a simulated card, which its shell, its bridge and a host behind another port share.
//
//   shell --.
//           '--> rl_egress --.
//   bridge -'                '--> rl_egress --> port 0
//   host ------------------------'
//
// A host has half of the wire and the card the other half, as in the model; of the card's half the bridge has half. A
// card without a bridge has no host either, and its shell the wire for itself.
module rl_card_wire
  import rl_role_pkg::*;
#(
  parameter int unsigned DataW = 64,
  parameter bit Bridge = 1'b0,
  parameter int unsigned Streams = 2,
  localparam int unsigned KeepW = DataW / 8
) (
  input  logic              clk_net_i,
  input  logic              rst_power_ni,  // These are as rl_bridge_card says.
  input  logic              rst_net_ni,
  input  logic              clk_ddr_i,
  input  logic              rst_ddr_ni,
  input  rl_wire_pkg::mac_addr_t mac_i,
  input  logic [31:0]       boot_i,
  input  logic [7:0]        restarts_i,
  input  logic [31:0]       resend_us_i,
  input  logic [47:0]       time_us_i,
  input  rl_control_pkg::bridge_ctl_t ctl_i,
  output logic [31:0]       data_o,
  input  logic              halt_i,
  output logic              moves_o,
  output logic              failed_o,
  output logic              busy_o,        // A frame of port 0 waits here, or the bridge has something to do.

  input  logic              rx_valid_i,    // What comes in at port 0.
  input  logic [DataW-1:0]  rx_data_i,
  input  logic [KeepW-1:0]  rx_keep_i,
  input  logic              rx_last_i,
  input  logic              rx_bad_i,

  input  logic [1:0]        valid_i,       // Frames of shell [0] and host [1], without gaps.
  output logic [1:0]        ready_o,
  input  logic [1:0][DataW-1:0] data_i,
  input  logic [1:0][KeepW-1:0] keep_i,
  input  logic [1:0]        last_i,

  output logic              tx_valid_o,    // Port 0.
  input  logic              tx_ready_i,
  output logic [DataW-1:0]  tx_data_o,
  output logic [KeepW-1:0]  tx_keep_o,
  output logic              tx_last_o,

  input  logic              event_valid_i, // Frames that other ports have sent, by their length,
  output logic              event_ready_o,
  input  logic [13:0]       event_bytes_i,
  output logic              event_valid_o, // and with those of the bridge, for the card's counters.
  input  logic              event_ready_i,
  output logic [13:0]       event_bytes_o,

  output axi_req_t          axi_o,         // The bridge's memory, ddr domain.
  input  axi_rsp_t          axi_i,

  input  logic              clk_role_i,    // The role's streams and its port, as rl_bridge_card says.
  input  logic              rst_role_ni,
  input  logic              role_rst_ni,
  input  logic              listens_i,
  input  message_t [Streams-1:0] port_i,
  output logic [Streams-1:0] port_ready_o,
  output message_t [Streams-1:0] role_o,
  input  logic [Streams-1:0] role_ready_i,
  input  message_t [Streams-1:0] role_i,
  output logic [Streams-1:0] role_ready_o,
  output message_t [Streams-1:0] port_o,
  input  logic [Streams-1:0] port_ready_i,
  input  remote_req_t       remote_i,
  output remote_rsp_t       remote_o
);
  if (Bridge) begin : gen_bridge
    // Words of the longest frame: that of a payload of 2 KiB, which the bridge sends to nobody, with its head.
    localparam int unsigned FrameWords = 268;
    localparam logic [1:0][11:0] Shares = {2{12'd400}};
    logic
        bridge_valid,
        bridge_ready,
        bridge_last,
        card_valid,
        card_ready,
        card_last,
        sent,
        bridge_busy;
    logic [DataW-1:0] bridge_data, card_data;
    logic [KeepW-1:0] bridge_keep, card_keep;
    logic [13:0] sent_bytes;
    logic [1:0] unused_bad;
    rl_bridge_card #(
      .RoleStreams(Streams)
    ) u_bridge (
      .clk_net_i,
      .rst_power_ni,
      .rst_net_ni,
      .clk_ddr_i,
      .rst_ddr_ni,
      .mac_i,
      .boot_i,
      .restarts_i,
      .resend_us_i,
      .time_us_i,
      .ctl_i,
      .data_o,
      .halt_i,
      .moves_o,
      .failed_o,
      .busy_o(bridge_busy),
      .rx_valid_i,
      .rx_data_i,
      .rx_keep_i,
      .rx_last_i,
      .rx_bad_i,
      .tx_valid_o(bridge_valid),
      .tx_ready_i(bridge_ready),
      .tx_data_o(bridge_data),
      .tx_keep_o(bridge_keep),
      .tx_last_o(bridge_last),
      .tx_event_valid_o(sent),
      .tx_event_ready_i(event_ready_i),
      .tx_event_bytes_o(sent_bytes),
      .axi_o,
      .axi_i,
      .clk_role_i,
      .rst_role_ni,
      .role_rst_ni,
      .listens_i,
      .port_i,
      .port_ready_o,
      .role_o,
      .role_ready_i,
      .role_i,
      .role_ready_o,
      .port_o,
      .port_ready_i,
      .remote_i,
      .remote_o
    );
    assign busy_o = bridge_busy || card_valid || tx_valid_o;
    rl_egress #(
      .DataW(DataW),
      .Sources(2),
      .FrameWords(FrameWords)
    ) u_card (
      .clk_i(clk_net_i),
      .rst_ni(rst_power_ni),
      .share_i(Shares),
      .valid_i({bridge_valid, valid_i[0]}),
      .ready_o({bridge_ready, ready_o[0]}),
      .data_i({bridge_data, data_i[0]}),
      .keep_i({bridge_keep, keep_i[0]}),
      .last_i({bridge_last, last_i[0]}),
      .bad_i('0),
      .valid_o(card_valid),
      .ready_i(card_ready),
      .data_o(card_data),
      .keep_o(card_keep),
      .last_o(card_last),
      .bad_o(unused_bad[0])
    );
    rl_egress #(
      .DataW(DataW),
      .Sources(2),
      .FrameWords(FrameWords)
    ) u_wire (
      .clk_i(clk_net_i),
      .rst_ni(rst_power_ni),
      .share_i(Shares),
      .valid_i({valid_i[1], card_valid}),
      .ready_o({ready_o[1], card_ready}),
      .data_i({data_i[1], card_data}),
      .keep_i({keep_i[1], card_keep}),
      .last_i({last_i[1], card_last}),
      .bad_i('0),
      .valid_o(tx_valid_o),
      .ready_i(tx_ready_i),
      .data_o(tx_data_o),
      .keep_o(tx_keep_o),
      .last_o(tx_last_o),
      .bad_o(unused_bad[1])
    );
    assign event_valid_o = sent || event_valid_i;
    assign event_bytes_o = sent ? sent_bytes : event_bytes_i;
    assign event_ready_o = event_ready_i && !sent;
  end else begin : gen_shell_alone
    assign {tx_valid_o, tx_data_o, tx_keep_o, tx_last_o} = {valid_i[0], data_i[0], keep_i[0], last_i[0]};
    assign ready_o = {1'b0, tx_ready_i};
    assign {event_valid_o, event_bytes_o, event_ready_o} = {event_valid_i, event_bytes_i, event_ready_i};
    assign {data_o, moves_o, failed_o, busy_o} = '0;
    assign axi_o = '0;
    assign remote_o = '0;
    assign {role_o, port_ready_o, port_o, role_ready_o} = {port_i, role_ready_i, role_i, port_ready_i};
    logic unused;
    assign unused = ^{clk_net_i, rst_power_ni, rst_net_ni, clk_ddr_i, rst_ddr_ni, mac_i, boot_i, restarts_i,
        resend_us_i, time_us_i, ctl_i, halt_i, rx_valid_i, rx_data_i, rx_keep_i, rx_last_i, rx_bad_i,
        valid_i[1], data_i[1], keep_i[1], last_i[1], axi_i, clk_role_i, rst_role_ni, role_rst_ni, listens_i,
        remote_i};
  end
endmodule : rl_card_wire
