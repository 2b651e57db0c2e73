// The wire side of a node: the transport's segments as frames to the network, and the network's frames, as far as they
// are sound and a peer's, as segments to the transport; and the table of peers.
//
//   transport (tx) ==> rl_bridge_tx ==> frames out        rl_bridge_peers: Ethernet address <-> node
//   transport (rx) <== rl_bridge_rx <== frames in
//
// A peer of the transport is a node and a channel: {node, channel}.
module rl_bridge_wire
  import rl_bridge_pkg::*;
  import rl_bridge_node_pkg::*;
  import rl_bridge_wire_pkg::*;
  import rl_transport_pkg::segment_t;
#(
  parameter int unsigned DataW = 64,         // 64, 128, 256 or 512.
  parameter int unsigned Nodes = 8,          // A power of two, 2 or more.
  parameter int unsigned LengthMax = 1408,   // Most payload bytes that are taken.
  parameter int unsigned Words = 512,        // As rl_bridge_rx says.
  parameter int unsigned Heads = 16,
  localparam int unsigned KeepW = DataW / 8,
  localparam int unsigned NodeW = $clog2(Nodes),
  localparam int unsigned PeerW = NodeW + $clog2(32'(Channels))
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  input  mac_addr_t                     mac_i,               // This node's, steady. No group's.

  // -- the owner writes the table of peers
  input  logic                          peer_write_i,
  input  logic [NodeW-1:0]              peer_node_i,
  input  logic                          peer_valid_i,
  input  mac_addr_t                     peer_mac_i,

  // -- segments from the transport: all but the words is steady during one
  input  logic                          tx_valid_i,
  output logic                          tx_ready_o,
  input  logic [PeerW-1:0]              tx_peer_i,
  input  segment_t                      tx_segment_i,
  input  head_t                         tx_desc_i,
  input  logic [DataW-1:0]              tx_data_i,
  input  logic                          tx_last_i,

  // -- and to it: a head for each, and its words
  output logic                          rx_head_valid_o,
  input  logic                          rx_head_ready_i,
  output logic [PeerW-1:0]              rx_head_peer_o,
  output segment_t                      rx_head_segment_o,
  output head_t                         rx_head_desc_o,
  output logic                          rx_valid_o,
  input  logic                          rx_ready_i,
  output logic [DataW-1:0]              rx_data_o,
  output logic                          rx_last_o,

  // -- frames to the network
  output logic                          out_valid_o,
  input  logic                          out_ready_i,
  output logic [DataW-1:0]              out_data_o,
  output logic [KeepW-1:0]              out_keep_o,
  output logic                          out_last_o,

  // -- and from it, which never waits
  input  logic                          in_valid_i,
  input  logic [DataW-1:0]              in_data_i,
  input  logic [KeepW-1:0]              in_keep_i,
  input  logic                          in_last_i,
  input  logic                          in_bad_i,

  // -- what became of frames: how many, for each verdict_e and departure_e
  output logic                          judged_o,            // Of a frame that has come: for one cycle.
  output verdict_e                      verdict_o,
  input  logic [$clog2(Verdicts)-1:0]   verdict_count_of_i,
  output logic [31:0]                   verdict_count_o,
  input  logic [$clog2(Departures)-1:0] departure_count_of_i,
  output logic [31:0]                   departure_count_o
);
  logic find, found, known;
  mac_addr_t find_mac, tx_mac;
  logic [NodeW-1:0] found_node, tx_node;
  rl_bridge_peers #(
    .Nodes(Nodes)
  ) u_peers (
    .clk_i,
    .rst_ni,
    .write_i(peer_write_i),
    .write_node_i(peer_node_i),
    .write_valid_i(peer_valid_i),
    .write_mac_i(peer_mac_i),
    .find_i(find),
    .find_mac_i(find_mac),
    .found_o(found),
    .found_node_o(found_node),
    .node_i(tx_node),
    .known_o(known),
    .mac_o(tx_mac)
  );

  rl_bridge_tx #(
    .DataW(DataW),
    .Nodes(Nodes)
  ) u_tx (
    .clk_i,
    .rst_ni,
    .mac_i,
    .valid_i(tx_valid_i),
    .ready_o(tx_ready_o),
    .peer_i(tx_peer_i),
    .segment_i(tx_segment_i),
    .desc_i(tx_desc_i),
    .data_i(tx_data_i),
    .last_i(tx_last_i),
    .node_o(tx_node),
    .known_i(known),
    .peer_mac_i(tx_mac),
    .valid_o(out_valid_o),
    .ready_i(out_ready_i),
    .data_o(out_data_o),
    .keep_o(out_keep_o),
    .last_o(out_last_o),
    .count_of_i(departure_count_of_i),
    .count_o(departure_count_o)
  );

  rl_bridge_rx #(
    .DataW(DataW),
    .Nodes(Nodes),
    .LengthMax(LengthMax),
    .Words(Words),
    .Heads(Heads)
  ) u_rx (
    .clk_i,
    .rst_ni,
    .mac_i,
    .valid_i(in_valid_i),
    .data_i(in_data_i),
    .keep_i(in_keep_i),
    .last_i(in_last_i),
    .bad_i(in_bad_i),
    .find_o(find),
    .find_mac_o(find_mac),
    .found_i(found),
    .found_node_i(found_node),
    .head_valid_o(rx_head_valid_o),
    .head_ready_i(rx_head_ready_i),
    .head_peer_o(rx_head_peer_o),
    .head_segment_o(rx_head_segment_o),
    .head_desc_o(rx_head_desc_o),
    .valid_o(rx_valid_o),
    .ready_i(rx_ready_i),
    .data_o(rx_data_o),
    .last_o(rx_last_o),
    .judged_o,
    .verdict_o,
    .count_of_i(verdict_count_of_i),
    .count_o(verdict_count_o)
  );
endmodule
