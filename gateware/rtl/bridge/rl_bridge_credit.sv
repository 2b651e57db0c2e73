// What the transport's owner has to say, peer by peer: that there is room again, and that a connection ends. A peer is
// {node, channel}.
//
// Frames of the memory's channel are taken at once, and their credit goes back a few at a time; that of streams when
// the sink has taken a piece. A connection begins anew, under an epoch later than all before, when the node has broken
// a rule or the owner says so.
module rl_bridge_credit
  import rl_transport_pkg::*;
  import rl_bridge_node_pkg::*;
#(
  parameter int unsigned Nodes = 8,
  parameter int unsigned Credit = 16,      // Frames, 4 or more, less than 128.
  localparam int unsigned PeerW = $clog2(Nodes) + 1
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  epoch_t           epoch_i,         // Of all connections after a reset.

  input  logic             taken_i,         // A frame of the memory's channel,
  input  node_t            taken_node_i,
  input  logic             consumed_i,      // or a piece of a stream.
  input  node_t            consumed_node_i,
  input  logic [1:0]       fault_i,         // Of each channel.
  input  node_t [1:0]      fault_node_i,
  input  logic [1:0]       drop_i,          // The owner's word, the same.
  input  node_t            drop_node_i,

  output logic             consume_valid_o,
  input  logic             consume_ready_i,
  output logic [PeerW-1:0] consume_peer_o,
  output count_t           consume_count_o,
  output logic             reset_valid_o,
  input  logic             reset_ready_i,
  output logic [PeerW-1:0] reset_peer_o,
  output epoch_t           reset_epoch_o
);
  localparam int unsigned Peers = 2 * Nodes;
  localparam logic [7:0] Some = 8'(Credit / 4);
  typedef logic [PeerW-1:0] peer_index_t;
  logic [Peers-1:0][7:0] owed_q;
  logic [Peers-1:0] faulty_q;
  peer_index_t at_q;

  // -- a peer a cycle is looked at
  logic says, pays;
  assign says = owed_q[at_q] >= (at_q[0] ? 8'd1 : Some);
  assign pays = !consume_valid_o && says;
  for (genvar p = 0; p < int'(Peers); p++) begin : gen_peer
    logic more;
    if (p % 2 == 0) begin : gen_memory
      assign more = taken_i && taken_node_i == node_t'(p / 2);
    end else begin : gen_streams
      assign more = consumed_i && consumed_node_i == node_t'(p / 2);
    end
    always_ff @(posedge clk_i) begin
      if (!rst_ni) owed_q[p] <= '0;
      else owed_q[p] <= (pays && at_q == peer_index_t'(p) ? '0 : owed_q[p]) + 8'(more);
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      at_q <= '0;
      consume_valid_o <= 1'b0;
      reset_valid_o <= 1'b0;
      faulty_q <= '0;
      reset_epoch_o <= epoch_i;
    end else begin
      at_q <= at_q + 1'b1;
      consume_valid_o <= pays || (consume_valid_o && !consume_ready_i);
      if (reset_valid_o) begin
        if (reset_ready_i) reset_valid_o <= 1'b0;
      end else if (faulty_q[at_q]) begin
        reset_valid_o <= 1'b1;
        faulty_q[at_q] <= 1'b0;
        reset_epoch_o <= reset_epoch_o == '1 ? 32'd1 : reset_epoch_o + 1'b1;
      end
      for (int unsigned c = 0; c < 2; c++) begin
        if (fault_i[c]) faulty_q[{fault_node_i[c][PeerW-2:0], 1'(c)}] <= 1'b1;
        if (drop_i[c]) faulty_q[{drop_node_i[PeerW-2:0], 1'(c)}] <= 1'b1;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (pays) begin
      consume_peer_o <= at_q;
      consume_count_o <= count_t'(owed_q[at_q]);
    end
    if (!reset_valid_o) reset_peer_o <= at_q;
  end
  logic unused;
  assign unused = ^{fault_node_i, drop_node_i};
endmodule
