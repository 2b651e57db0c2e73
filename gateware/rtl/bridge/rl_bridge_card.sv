// The bridge of a card: a node (rl_bridge_node) at port 0, the card's memory for others as far as the firmware opens it
// by registers, and what a card needs around that.
//
//   port 0 ==> rl_bridge_door ==> rl_bridge_node ==> a source of port 0's rl_egress
//                                       |
//   firmware ==> rl_bridge_control ==>  + ==> rl_bridge_memory ==> rl_memory_hub
//                                       + <==> rl_bridge_streams <==> role, and its streams' ports
//                                       + <== rl_bridge_port <== role
//
// Its clock rests while it has nothing to do. That costs no time: it wakes with the word or the register that comes.
module rl_bridge_card
  import rl_bridge_pkg::*;
  import rl_bridge_node_pkg::*;
  import rl_bridge_wire_pkg::*;
  import rl_transport_pkg::*;
  import rl_control_pkg::bridge_ctl_t;
  import rl_role_pkg::*;
#(
  parameter int unsigned Nodes = 8,
  parameter int unsigned RoleStreams = 2,
  localparam int unsigned DataW = 64
) (
  input  logic              clk_net_i,
  input  logic              rst_power_ni,  // When power comes, net domain,
  input  logic              rst_net_ni,    // and whenever the shell restarts.
  input  logic              clk_ddr_i,
  input  logic              rst_ddr_ni,

  input  mac_addr_t         mac_i,         // The card's. Steady, as are these.
  input  logic [31:0]       boot_i,        // A random number of this boot,
  input  logic [7:0]        restarts_i,    // and how often the shell has restarted since.
  input  logic [31:0]       resend_us_i,   // After this time hosts are patient no longer: see the time-outs below.
  input  logic [47:0]       time_us_i,

  // -- registers
  input  bridge_ctl_t       ctl_i,
  output logic [31:0]       data_o,

  // -- rl_restart
  input  logic              halt_i,        // Nothing more goes in or out.
  output logic              moves_o,       // Memory or a frame moves.
  output logic              failed_o,      // Memory has answered with an error, in this life.
  output logic              busy_o,        // It has something to do, or has had until lately.

  // -- what comes in at port 0, all of it
  input  logic              rx_valid_i,
  input  logic [DataW-1:0]  rx_data_i,
  input  logic [7:0]        rx_keep_i,
  input  logic              rx_last_i,
  input  logic              rx_bad_i,

  // -- frames to port 0, without a gap
  output logic              tx_valid_o,
  input  logic              tx_ready_i,
  output logic [DataW-1:0]  tx_data_o,
  output logic [7:0]        tx_keep_o,
  output logic              tx_last_o,
  // and how long each was, for the counters of the card
  output logic              tx_event_valid_o,
  input  logic              tx_event_ready_i,
  output logic [13:0]       tx_event_bytes_o,

  // -- memory, ddr domain
  output axi_req_t          axi_o,
  input  axi_rsp_t          axi_i,

  // -- the role's streams, as rl_bridge_streams says, and its port to other nodes' memory: role domain
  input  logic              clk_role_i,
  input  logic              rst_role_ni,
  input  logic              role_rst_ni,
  input  logic              listens_i,
  input  message_t [RoleStreams-1:0] port_i,
  output logic [RoleStreams-1:0] port_ready_o,
  output message_t [RoleStreams-1:0] role_o,
  input  logic [RoleStreams-1:0] role_ready_i,
  input  message_t [RoleStreams-1:0] role_i,
  output logic [RoleStreams-1:0] role_ready_o,
  output message_t [RoleStreams-1:0] port_o,
  input  logic [RoleStreams-1:0] port_ready_i,
  input  remote_req_t       remote_i,
  output remote_rsp_t       remote_o
);
  localparam int unsigned PeerW = $clog2(Nodes) + 1;
  // The least power of two that holds the payload of a standard frame.
  localparam int unsigned Longest = 2048;
  localparam int unsigned Words = 8 * Longest / DataW;

  // -- the clock
  logic
      clk,
      awake,
      door_valid,
      owner_busy,
      node_busy,
      memory_busy,
      streams_busy,
      streams_hold,
      asks_hold;
  logic role_moves, role_moved, role_moved_net, asks, asks_net;
  logic [8:0] rest_q;
  assign awake = !rst_net_ni || door_valid || ctl_i.write || owner_busy || node_busy || memory_busy ||
      streams_busy || role_moved_net || asks_net || tx_valid_o || tx_event_valid_o;
  always_ff @(posedge clk_net_i) begin
    if (awake) rest_q <= '1;
    else if (rest_q != 0) rest_q <= rest_q - 1'b1;
  end
  rl_sync #(
    .Width(2)
  ) u_role_moved (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .d_i({asks, role_moved}),
    .q_o({asks_net, role_moved_net})
  );
  // For simulated cards, which must not seem idle while that crosses.
  assign busy_o = awake || rest_q != 0 || role_moves || role_moved || asks;
  rl_clock_gate u_clock (
    .clk_i(clk_net_i),
    .enable_i(busy_o),
    .clk_o(clk)
  );

  // -- time, by which simulated cards are as patient as others however fast they run: ticks of 4 us. A host owes word
  // within a quarter of its shortest time-out, 12.5 us in virtual time and 1.25 ms in that of a busy machine, where
  // results are sent again after 2 and 20 ms. Ours is an eighth of that.
  logic time_q, tick;
  transport_config_t cfg;
  always_ff @(posedge clk_net_i) time_q <= time_us_i[2];
  assign tick = time_us_i[2] != time_q;
  function automatic tick_t ticks(logic [31:0] us, tick_t least, tick_t most);
    return us >> 2 < 32'(least) ? least : us >> 2 > 32'(most) ? most : tick_t'(us >> 2);
  endfunction
  always_comb begin
    cfg = '0;
    // Later than all of the life before, which used up one for each connection that ended.
    cfg.epoch = {2'b0, boot_i[29:0]} + {8'b0, restarts_i, 16'b0};
    if (cfg.epoch == '0) cfg.epoch = 32'd1;
    cfg.first = 32'd1;
    cfg.window = 9'd32;
    cfg.ack_every = 9'd8;
    cfg.ack_delay = ticks(resend_us_i >> 7, 16'd1, 16'd1023);
    cfg.rto = ticks(resend_us_i >> 3, 16'd8, 16'd8191);
  end

  // -- frames in
  logic [DataW-1:0] door_data;
  logic [7:0] door_keep;
  logic door_last, door_bad;
  rl_bridge_door u_door (
    .clk_i(clk_net_i),
    .rst_power_ni,
    .rst_ni(rst_net_ni),
    .halt_i,
    .valid_i(rx_valid_i),
    .data_i(rx_data_i),
    .keep_i(rx_keep_i),
    .last_i(rx_last_i),
    .bad_i(rx_bad_i),
    .valid_o(door_valid),
    .data_o(door_data),
    .keep_o(door_keep),
    .last_o(door_last),
    .bad_o(door_bad)
  );

  // -- who may do what
  logic
      ends_all,
      route_valid,
      region_valid,
      window_valid,
      peer_valid,
      peer_known,
      judged,
      sent,
      lately;
  logic [3:0] route_index, region_index, window_index;
  mac_addr_t peer_mac;
  logic [PeerW-2:0] peer_node;
  window_t window;
  route_t route;
  region_t region;
  verdict_e verdict;
  bridge_event_t event_of;
  transport_event_t transport_event;
  logic [PeerW-1:0] transport_peer;
  logic [1:0] drop;
  node_t drop_node;
  rl_bridge_control #(
    .Nodes(Nodes)
  ) u_control (
    .clk_i(clk),
    .rst_ni(rst_net_ni),
    .mac_i,
    .ctl_i,
    .data_o,
    .moves_i(memory_busy || lately || streams_hold || asks_hold),
    .busy_o(owner_busy),
    .ends_o(ends_all),
    .window_valid_o(window_valid),
    .window_index_o(window_index),
    .window_o(window),
    .route_valid_o(route_valid),
    .route_index_o(route_index),
    .route_o(route),
    .region_valid_o(region_valid),
    .region_index_o(region_index),
    .region_o(region),
    .peer_valid_o(peer_valid),
    .peer_node_o(peer_node),
    .peer_known_o(peer_known),
    .peer_mac_o(peer_mac),
    .drop_o(drop),
    .drop_node_o(drop_node),
    .judged_i(judged),
    .verdict_i(verdict),
    .event_i(event_of),
    .transport_event_i(transport_event),
    .transport_peer_i(transport_peer),
    .sent_i(sent)
  );

  // -- the node
  logic n_awvalid, n_awready, n_wvalid, n_wready, n_wlast, n_bvalid, n_bready;
  logic n_arvalid, n_arready, n_rvalid, n_rready, n_rlast, n_txvalid, n_txready;
  logic [AxiAddrW-1:0] n_awaddr, n_araddr;
  logic [7:0] n_awlen, n_arlen, n_wstrb;
  logic [DataW-1:0] n_wdata, n_rdata;
  logic [1:0] n_bresp, n_rresp;
  message_t out, in;
  logic out_ready;
  logic [23:0] out_user;
  logic [24:0] in_user;
  sinks_t sinks;
  remote_req_t port;
  remote_rsp_t port_rsp;
  logic [1:0] unused_id;
  logic [31:0] unused_verdicts, unused_departures;
  rl_bridge_node #(
    .Nodes(Nodes),
    .DataW(DataW),
    .MemoryW(AxiAddrW),
    .PortW($bits(remote_addr_t)),
    .IdW(1),
    .Longest(Longest),
    .Most(32'(MessageStandard)),
    .Regions(32'(Streams)),
    .ServeWords(4 * Words),
    .ReadWords(8 * Words),
    .WriteWords(4 * Words),
    .SendWords(4 * Words),
    .TakeWords(Nodes * 32'(Credit) * Words),
    .Sinks(RoleStreams),
    .Words(64 * Words),
    .ArriveWords(8 * Words)
  ) u_node (
    .clk_i(clk),
    .rst_ni(rst_net_ni),
    .mac_i,
    .config_i(cfg),
    .tick_i(tick),
    .window_valid_i(window_valid),
    .window_index_i(window_index),
    .window_i(window),
    .region_valid_i(region_valid),
    .region_index_i(region_index),
    .region_i(region),
    .peer_valid_i(peer_valid),
    .peer_node_i(peer_node),
    .peer_known_i(peer_known),
    .peer_mac_i(peer_mac),
    .drop_i(drop),
    .drop_node_i(drop_node),
    .p_awvalid_i(port.awvalid),
    .p_awready_o(port_rsp.awready),
    .p_awid_i('0),
    .p_awaddr_i(port.awaddr),
    .p_awlen_i(port.awlen),
    .p_awsize_i(port.awsize),
    .p_awburst_i(2'b01),
    .p_wvalid_i(port.wvalid),
    .p_wready_o(port_rsp.wready),
    .p_wdata_i(port.wdata),
    .p_wstrb_i(port.wstrb),
    .p_wlast_i(port.wlast),
    .p_bvalid_o(port_rsp.bvalid),
    .p_bready_i(port.bready),
    .p_bid_o(unused_id[0]),
    .p_bresp_o(port_rsp.bresp),
    .p_arvalid_i(port.arvalid),
    .p_arready_o(port_rsp.arready),
    .p_arid_i('0),
    .p_araddr_i(port.araddr),
    .p_arlen_i(port.arlen),
    .p_arsize_i(port.arsize),
    .p_arburst_i(2'b01),
    .p_rvalid_o(port_rsp.rvalid),
    .p_rready_i(port.rready),
    .p_rid_o(unused_id[1]),
    .p_rdata_o(port_rsp.rdata),
    .p_rresp_o(port_rsp.rresp),
    .p_rlast_o(port_rsp.rlast),
    .m_awvalid_o(n_awvalid),
    .m_awready_i(n_awready),
    .m_awaddr_o(n_awaddr),
    .m_awlen_o(n_awlen),
    .m_wvalid_o(n_wvalid),
    .m_wready_i(n_wready),
    .m_wdata_o(n_wdata),
    .m_wstrb_o(n_wstrb),
    .m_wlast_o(n_wlast),
    .m_bvalid_i(n_bvalid),
    .m_bready_o(n_bready),
    .m_bresp_i(n_bresp),
    .m_arvalid_o(n_arvalid),
    .m_arready_i(n_arready),
    .m_araddr_o(n_araddr),
    .m_arlen_o(n_arlen),
    .m_rvalid_i(n_rvalid),
    .m_rready_o(n_rready),
    .m_rdata_i(n_rdata),
    .m_rresp_i(n_rresp),
    .m_rlast_i(n_rlast),
    .out_valid_i(out.valid),
    .out_ready_o(out_ready),
    .out_data_i(out.data),
    .out_keep_i(out.keep),
    .out_last_i(out.last),
    .out_user_i(out_user),
    .in_valid_o(in.valid),
    .in_ready_i(1'b0),
    .in_sinks_i(sinks),
    .in_data_o(in.data),
    .in_keep_o(in.keep),
    .in_last_o(in.last),
    .in_user_o(in_user),
    .tx_valid_o(n_txvalid),
    .tx_ready_i(n_txready),
    .tx_data_o,
    .tx_keep_o,
    .tx_last_o,
    .rx_valid_i(door_valid),
    .rx_data_i(door_data),
    .rx_keep_i(door_keep),
    .rx_last_i(door_last),
    .rx_bad_i(door_bad),
    .event_o(event_of),
    .transport_event_o(transport_event),
    .transport_peer_o(transport_peer),
    .busy_o(node_busy),
    .holds_o(asks_hold),
    .judged_o(judged),
    .verdict_o(verdict),
    .verdict_count_of_i('0),
    .verdict_count_o(unused_verdicts),
    .departure_count_of_i('0),
    .departure_count_o(unused_departures)
  );

  rl_bridge_streams #(
    .Streams(RoleStreams)
  ) u_streams (
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
    .clk_net_i(clk),
    .rst_net_ni,
    .clear_i(ends_all),
    .route_valid_i(route_valid),
    .route_index_i(route_index),
    .route_i(route),
    .out_ready_i(out_ready),
    .out_o(out),
    .out_user_o(out_user),
    .in_i(in),
    .in_stream_i(in_user[15:0]),
    .in_sinks_o(sinks),
    .holds_o(streams_hold),
    .busy_o(streams_busy),
    .role_moves_o(role_moves),
    .role_moved_o(role_moved)
  );

  rl_bridge_port u_port (
    .clk_role_i,
    .rst_role_ni,
    .role_rst_ni,
    .role_i(remote_i),
    .role_o(remote_o),
    .asks_o(asks),
    .clk_net_i(clk),
    .rst_net_ni,
    .port_o(port),
    .port_i(port_rsp)
  );

  // -- frames out: none begins after memory has failed, so that nothing is said of what it gave
  rl_bridge_exit #(
    .DataW(DataW)
  ) u_exit (
    .clk_i(clk),
    .rst_ni(rst_net_ni),
    .stop_i(halt_i || failed_o),
    .valid_i(n_txvalid),
    .ready_o(n_txready),
    .last_i(tx_last_o),
    .keep_i(tx_keep_o),
    .valid_o(tx_valid_o),
    .ready_i(tx_ready_i),
    .sent_o(sent),
    .event_valid_o(tx_event_valid_o),
    .event_ready_i(tx_event_ready_i),
    .event_bytes_o(tx_event_bytes_o)
  );

  // -- memory
  logic [7:0] lately_q;
  rl_bridge_memory #(
    .DataW(DataW)
  ) u_memory (
    .clk_i(clk),
    .rst_ni(rst_net_ni),
    .busy_o(memory_busy),
    .failed_o,
    .awvalid_i(n_awvalid),
    .awready_o(n_awready),
    .awaddr_i(n_awaddr),
    .awlen_i(n_awlen),
    .wvalid_i(n_wvalid),
    .wready_o(n_wready),
    .wdata_i(n_wdata),
    .wstrb_i(n_wstrb),
    .wlast_i(n_wlast),
    .bvalid_o(n_bvalid),
    .bready_i(n_bready),
    .bresp_o(n_bresp),
    .arvalid_i(n_arvalid),
    .arready_o(n_arready),
    .araddr_i(n_araddr),
    .arlen_i(n_arlen),
    .rvalid_o(n_rvalid),
    .rready_i(n_rready),
    .rdata_o(n_rdata),
    .rresp_o(n_rresp),
    .rlast_o(n_rlast),
    .clk_ddr_i,
    .rst_ddr_ni,
    .axi_o,
    .axi_i
  );
  always_ff @(posedge clk) begin
    if (!rst_net_ni) lately_q <= '0;
    else lately_q <= memory_busy || peer_valid ? '1 : lately_q - 8'(lately);
  end
  assign lately = lately_q != '0;
  assign moves_o = memory_busy || tx_valid_o;

  logic unused;
  assign unused = ^{unused_id, in_user[24:16], unused_verdicts, unused_departures, time_us_i, boot_i[31:30]};
endmodule
