// Lives of connections, and how they end: by a new life of the peer, by a fault of the peer's, or by the owner's word.
// It also gives credit back (rl_bridge_credit). A peer of the transport is {node, channel}.
module rl_bridge_lives
  import rl_transport_pkg::*;
  import rl_bridge_node_pkg::*;
#(
  parameter int unsigned Nodes = 8,
  parameter int unsigned Credit = 16,        // As rl_bridge_credit says.
  localparam int unsigned PeerW = $clog2(Nodes) + 1
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  epoch_t           epoch_i,          // Of all connections after a reset.

  // -- what the transport says, and what follows
  input  logic             restarted_i,
  input  logic [PeerW-1:0] peer_i,
  output node_t            node_o,           // That peer's node:
  output logic             memory_ends_o,    // what it asked for is no longer owed,
  output logic             requests_end_o,   // what was asked of it is lost,
  output logic             messages_end_o,   // and so are the rest of its messages.

  // -- faults of a node's, on each channel; and an end that the owner wants
  input  logic [1:0]       fault_i,
  input  node_t [1:0]      fault_node_i,
  input  logic [1:0]       drop_i,
  input  node_t            drop_node_i,

  // -- what was taken: a frame of the memory's channel, a piece of a stream
  input  logic             taken_i,
  input  node_t            taken_node_i,
  input  logic             consumed_i,
  input  node_t            consumed_node_i,

  // -- to the transport
  output logic             consume_valid_o,
  input  logic             consume_ready_i,
  output logic [PeerW-1:0] consume_peer_o,
  output count_t           consume_count_o,
  output logic             reset_valid_o,
  input  logic             reset_ready_i,
  output logic [PeerW-1:0] reset_peer_o,
  output epoch_t           reset_epoch_o
);
  // With whom numbers have begun, and whom we have ended since. At the first word with a node nothing was asked that
  // could have been lost.
  logic [Nodes-1:0] met_q, resets_q;
  logic [PeerW-2:0] index;
  assign index = peer_i[PeerW-1:1];
  assign node_o = node_t'(index);
  assign memory_ends_o = restarted_i && !peer_i[0];
  assign messages_end_o = restarted_i && peer_i[0];
  assign requests_end_o = memory_ends_o && (met_q[index] || resets_q[index]);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      met_q <= '0;
      resets_q <= '0;
    end else begin
      if (memory_ends_o) begin
        met_q[index] <= !resets_q[index];
        resets_q[index] <= 1'b0;
      end
      if (reset_valid_o && reset_ready_i && !reset_peer_o[0])
        resets_q[reset_peer_o[PeerW-1:1]] <= 1'b1;
    end
  end

  rl_bridge_credit #(
    .Nodes(Nodes),
    .Credit(Credit)
  ) u_credit (
    .clk_i,
    .rst_ni,
    .epoch_i,
    .taken_i,
    .taken_node_i,
    .consumed_i,
    .consumed_node_i,
    .fault_i,
    .fault_node_i,
    .drop_i,
    .drop_node_i,
    .consume_valid_o,
    .consume_ready_i,
    .consume_peer_o,
    .consume_count_o,
    .reset_valid_o,
    .reset_ready_i,
    .reset_peer_o,
    .reset_epoch_o
  );
endmodule
