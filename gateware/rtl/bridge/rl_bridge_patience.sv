// Peers that have gone: who owes word and does not say it, however often it is asked, loses its connection. Else what
// was owed to it would be sent again for ever. A peer of the transport is {node, channel}.
module rl_bridge_patience
  import rl_transport_pkg::*;
  import rl_bridge_node_pkg::*;
#(
  parameter int unsigned Nodes = 8,
  parameter int unsigned Asks = 800,        // So often, a time-out of the transport apart.
  localparam int unsigned PeerW = $clog2(Nodes) + 1
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  transport_event_t event_i,
  input  logic [PeerW-1:0] peer_i,

  // -- an end that the owner wants, with a node on both channels; and all that are wanted, one a cycle
  input  logic             drop_i,
  input  node_t            drop_node_i,
  output logic [1:0]       drop_o,
  output node_t            drop_node_o
);
  localparam int unsigned AskW = $clog2(Asks + 1);
  logic [2*Nodes-1:0] owes_q;  // It was asked since it was heard last.
  logic gone_q, ends, asks;
  logic [AskW-1:0] asked, asked_before;
  logic [PeerW-1:0] gone_peer_q;
  assign ends = event_i.heard || event_i.restarted;
  assign asked = owes_q[peer_i] ? asked_before : '0;
  assign asks = event_i.unanswered && asked != AskW'(Asks);
  rl_lutram #(
    .Width(AskW),
    .Depth(2 * Nodes)
  ) u_asked (
    .clk_i,
    .we_i(asks),
    .waddr_i(peer_i),
    .wdata_i(asked + 1'b1),
    .raddr_i(peer_i),
    .rdata_o(asked_before)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      owes_q <= '0;
      gone_q <= 1'b0;
    end else begin
      if (!drop_i) gone_q <= 1'b0;
      if (ends) owes_q[peer_i] <= 1'b0;
      else if (asks) owes_q[peer_i] <= 1'b1;
      // If another end is in the way now, the next time-out brings this one again.
      else if (event_i.unanswered) gone_q <= 1'b1;
    end
    if (event_i.unanswered && !(gone_q && drop_i)) gone_peer_q <= peer_i;
  end
  always_comb begin
    drop_o = '0;
    drop_node_o = node_t'(gone_peer_q[PeerW-1:1]);
    if (gone_q) drop_o[gone_peer_q[0]] = 1'b1;
    if (drop_i) begin
      drop_o = '1;
      drop_node_o = drop_node_i;
    end
  end
  logic unused;
  assign unused = ^event_i;
endmodule
