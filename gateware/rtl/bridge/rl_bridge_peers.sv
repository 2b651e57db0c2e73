// Who is a peer: Ethernet addresses of nodes by their index, which the owner writes. From an address to the index for
// what comes in, all entries at once, and from the index to the address for what goes out.
//
// An entry that changes while a frame of its node goes by may count for that frame already or not yet.
module rl_bridge_peers
  import rl_bridge_pkg::*;
#(
  parameter int unsigned Nodes = 8,  // A power of two, 2 or more.
  localparam int unsigned NodeW = $clog2(Nodes)
) (
  input  logic             clk_i,
  input  logic             rst_ni,       // After it there is no peer.

  // -- the owner
  input  logic             write_i,
  input  logic [NodeW-1:0] write_node_i,
  input  logic             write_valid_i,
  input  mac_addr_t        write_mac_i,  // No group's. Of two nodes with the same one only the first is found.

  // -- for what comes in
  input  logic             find_i,
  input  mac_addr_t        find_mac_i,
  output logic             found_o,      // Two cycles later, until two cycles after the next find_i.
  output logic [NodeW-1:0] found_node_o,

  // -- for what goes out, in the same cycle
  input  logic [NodeW-1:0] node_i,
  output logic             known_o,
  output mac_addr_t        mac_o
);
  if (Nodes < 2 || Nodes != 1 << $clog2(Nodes)) begin : gen_check
    $fatal(0, "rl_bridge_peers: Nodes must be a power of two, 2 or more (%m)");
  end

  logic [Nodes-1:0] valid_q, is_q;
  mac_addr_t mac_q[Nodes];
  logic find_q;
  logic [NodeW-1:0] first;
  always_comb begin
    first = '0;
    for (int unsigned i = Nodes; i > 0; i--) if (is_q[i-1]) first = NodeW'(i - 1);
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q <= '0;
      find_q <= 1'b0;
      found_o <= 1'b0;
    end else begin
      if (write_i) valid_q[write_node_i] <= write_valid_i;
      find_q <= find_i;
      if (find_q) found_o <= |is_q;
    end
  end
  always_ff @(posedge clk_i) begin
    if (write_i) mac_q[write_node_i] <= write_mac_i;
    for (int unsigned i = 0; i < Nodes; i++) is_q[i] <= valid_q[i] && mac_q[i] == find_mac_i;
    if (find_q) found_node_o <= first;
  end

  // The other way they are read one at a time: a memory is smaller than the choice among all.
  assign known_o = valid_q[node_i];
  rl_lutram #(
    .Width($bits(mac_addr_t)),
    .Depth(Nodes)
  ) u_macs (
    .clk_i,
    .we_i(write_i),
    .waddr_i(write_node_i),
    .wdata_i(write_mac_i),
    .raddr_i(node_i),
    .rdata_o(mac_o)
  );
endmodule
