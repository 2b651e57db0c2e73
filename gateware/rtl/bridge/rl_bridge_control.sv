// Who may do what at a card's bridge, and with whom it speaks: what the firmware says by registers, which nodes have
// places for that, and which of them have gone.
module rl_bridge_control
  import rl_bridge_pkg::*;
  import rl_bridge_node_pkg::*;
  import rl_bridge_wire_pkg::*;
  import rl_transport_pkg::transport_event_t;
  import rl_control_pkg::bridge_ctl_t;
#(
  parameter int unsigned Nodes = 8,
  localparam int unsigned NodeW = $clog2(Nodes),
  localparam int unsigned PeerW = NodeW + 1
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  mac_addr_t        mac_i,
  input  bridge_ctl_t      ctl_i,        // The registers,
  output logic [31:0]      data_o,
  input  logic             moves_i,      // and what the end of all waits for, beside a place that changes hands.
  output logic             busy_o,
  output logic             ends_o,       // These are rl_bridge_owner's.
  output logic             window_valid_o,
  output logic [3:0]       window_index_o,
  output window_t          window_o,
  output logic             route_valid_o,
  output logic [3:0]       route_index_o,
  output route_t           route_o,
  output logic             region_valid_o,
  output logic [3:0]       region_index_o,
  output region_t          region_o,
  output logic             peer_valid_o,
  output logic [NodeW-1:0] peer_node_o,
  output logic             peer_known_o,
  output mac_addr_t        peer_mac_o,
  output logic [1:0]       drop_o,       // As rl_bridge_patience says.
  output node_t            drop_node_o,

  // -- what has happened
  input  logic             judged_i,
  input  verdict_e         verdict_i,
  input  bridge_event_t    event_i,
  input  transport_event_t transport_event_i,
  input  logic [PeerW-1:0] transport_peer_i,
  input  logic             sent_i
);
  logic set, set_route, ends, full;
  window_t set_window;
  mac_addr_t set_peer;
  rl_bridge_csr u_csr (
    .clk_i,
    .rst_ni,
    .mac_i,
    .ctl_i,
    .data_o,
    .set_o(set),
    .set_route_o(set_route),
    .set_index_o(route_index_o),
    .set_window_o(set_window),
    .set_peer_o(set_peer),
    .end_o(ends),
    .sets_i(busy_o),
    .full_i(full),
    .moves_i(moves_i || busy_o),
    .judged_i,
    .verdict_i,
    .event_i,
    .transport_event_i,
    .sent_i
  );
  rl_bridge_owner #(
    .Nodes(Nodes)
  ) u_owner (
    .clk_i,
    .rst_ni,
    .mac_i,
    .set_i(set),
    .set_route_i(set_route),
    .set_index_i(route_index_o),
    .set_window_i(set_window),
    .set_peer_i(set_peer),
    .end_i(ends),
    .ends_o,
    .full_o(full),
    .busy_o,
    .window_valid_o,
    .window_index_o,
    .window_o,
    .route_valid_o,
    .route_o,
    .region_valid_o,
    .region_index_o,
    .region_o,
    .peer_valid_o,
    .peer_node_o,
    .peer_known_o,
    .peer_mac_o
  );
  rl_bridge_patience #(
    .Nodes(Nodes)
  ) u_patience (
    .clk_i,
    .rst_ni,
    .event_i(transport_event_i),
    .peer_i(transport_peer_i),
    .drop_i(peer_valid_o),
    .drop_node_i(node_t'(peer_node_o)),
    .drop_o,
    .drop_node_o
  );
endmodule
