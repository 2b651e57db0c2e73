// Segments of the transport to the network, each as a frame: the head, which follows from segment, descriptor and the
// addresses of both nodes, and behind it the words of the payload.
module rl_bridge_tx
  import rl_bridge_pkg::*;
  import rl_bridge_node_pkg::*;
  import rl_bridge_wire_pkg::*;
  import rl_transport_pkg::segment_t;
#(
  parameter int unsigned DataW = 64,  // 64, 128, 256 or 512.
  parameter int unsigned Nodes = 8,   // A power of two, 2 or more.
  localparam int unsigned KeepW = DataW / 8,
  localparam int unsigned NodeW = $clog2(Nodes),
  localparam int unsigned PeerW = NodeW + $clog2(32'(Channels))
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  mac_addr_t        mac_i,      // This node's, steady. No group's.

  // -- segments: all but the words is steady during one
  input  logic             valid_i,
  output logic             ready_o,
  input  logic [PeerW-1:0] peer_i,     // Node and channel.
  input  segment_t         segment_i,
  input  head_t            desc_i,     // Of KindData; as many words as its length says, and one for none.
  input  logic [DataW-1:0] data_i,
  input  logic             last_i,

  // -- rl_bridge_peers, in the same cycle
  output logic [NodeW-1:0] node_o,
  input  logic             known_i,
  input  mac_addr_t        peer_mac_i,

  // -- frames
  output logic             valid_o,
  input  logic             ready_i,
  output logic [DataW-1:0] data_o,     // Byte 0 of the frame is [7:0] of the first word.
  output logic [KeepW-1:0] keep_o,     // Ones from bit 0 on; all but in the last word.
  output logic             last_o,

  // -- what became of each segment
  input  logic [$clog2(Departures)-1:0] count_of_i,
  output logic [31:0]      count_o
);
  // The address of the peer is looked at once, since the owner may change it. Without one no word of the frame leaves.
  logic begin_at, begins, drops_q, drops, ready, sent;
  mac_addr_t peer_mac_q;
  logic [8*HeadBytes-1:0] head;
  logic [DataW-1:0] early;  // Its first word, which is out before that.
  assign node_o = peer_i[PeerW-1-:NodeW];
  assign begins = valid_i && begin_at && !drops_q;
  assign drops = drops_q || (begins && !known_i);
  assign early = DataW'(head_of(peer_mac_i, mac_i, peer_i[0], segment_i, desc_i) >> (8 * HeadBytes - DataW));
  always_comb begin
    head = head_of(peer_mac_q, mac_i, peer_i[0], segment_i, desc_i);
    head[8*HeadBytes-1-:DataW] = early;
  end
  assign ready_o = drops ? valid_i : ready;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) drops_q <= 1'b0;
    else if (drops && valid_i) drops_q <= !last_i;
  end
  always_ff @(posedge clk_i) if (begins) peer_mac_q <= peer_mac_i;
  rl_wire_tx #(
    .DataW(DataW),
    .HeadBytes(HeadBytes)
  ) u_tx (
    .clk_i,
    .rst_ni,
    .valid_i(valid_i && !drops),
    .ready_o(ready),
    .begins_o(begin_at),
    .head_i(head),
    .length_i(length_of(segment_i, desc_i)),
    .data_i,
    .last_i,
    .valid_o,
    .ready_i,
    .data_o,
    .keep_o,
    .last_o,
    .sent_o(sent)
  );

  // -- counts
  logic happened_q;
  departure_e departure_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) happened_q <= 1'b0;
    else happened_q <= (begins && drops) || sent;
  end
  always_ff @(posedge clk_i) departure_q <= drops ? NoPeer : Sent;
  rl_wire_tally #(
    .Kinds(Departures)
  ) u_tally (
    .clk_i,
    .rst_ni,
    .happened_i(happened_q),
    .kind_i(departure_q),
    .count_of_i,
    .count_o
  );
endmodule
