// Whose windows and routes are: a place among the bridge's nodes for each address that an open window or a route names.
// A route is a region, too: the role reaches the node's memory by the stream (remote_addr_t).
// A node that none of them names any more stays, for what it asks is refused with a word, until its place is needed;
// then its connections end. So no more than Nodes different nodes are named at once.
//
// What has come from a node and waits for the memory is known by the node's place alone. So a place that was another's
// is given away only when 2^DrainW cycles have passed since that one was heard last: all of it was judged by then, or
// the memory has been silent for so long that rl_memory_watch restarts the card.
module rl_bridge_owner
  import rl_bridge_pkg::*;
  import rl_bridge_node_pkg::*;
  import rl_role_pkg::RemoteAddrW;
#(
  parameter int unsigned Nodes = 8,
  parameter int unsigned DrainW = 18,
  localparam int unsigned NodeW = $clog2(Nodes)
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  mac_addr_t        mac_i,        // The card's, steady.

  // -- rl_bridge_csr: each for one cycle, some cycles apart, the rest steady meanwhile
  input  logic             set_i,        // A window is opened, or closed,
  input  logic             set_route_i,  // or a route of a stream of the role,
  input  logic [3:0]       set_index_i,
  input  window_t          set_window_i, // but for `peer`, which is this one. A route leads to stream `base`.
  input  mac_addr_t        set_peer_i,
  input  logic             end_i,        // All are closed, and nobody is known.
  output logic             ends_o,       // That is being done.
  output logic             full_o,       // The last one was not opened: there is no place for its node.
  output logic             busy_o,

  // -- rl_bridge_node's tables
  output logic             window_valid_o,
  output logic [3:0]       window_index_o,
  output window_t          window_o,
  output logic             route_valid_o, // At the end of all, whoever has routes closes them.
  output route_t           route_o,       // The stream is set_index_i.
  output logic             region_valid_o,
  output logic [3:0]       region_index_o,
  output region_t          region_o,
  output logic             peer_valid_o, // With the end of the node's connections.
  output logic [NodeW-1:0] peer_node_o,
  output logic             peer_known_o,
  output mac_addr_t        peer_mac_o
);
  typedef logic [Nodes-1:0] nodes_t;
  typedef logic [NodeW-1:0] index_t;
  typedef enum logic [2:0] {
    Rests,
    Looks,   // Which place is it?
    Closes,  // What the window or route was before ends,
    Parts,   // the node that had the place is known no more,
    Waits,   // and what has come from it is judged;
    Meets,   // a node takes its place,
    Opens,   // and it is open to it, or leads to it.
    Ends     // Windows and nodes, one after the other.
  } state_e;
  state_e state_q;
  logic [Nodes-1:0][47:0] mac_q;
  nodes_t known_q, after_q;
  // Windows, and behind them routes.
  localparam int unsigned Names = 32'(Windows) + 32'(Streams);
  logic [Names-1:0] open_q;
  logic [Names-1:0][NodeW-1:0] whose_q;
  logic [4:0] name;
  logic [3:0] at_q;
  logic [DrainW-1:0] wait_q;

  // -- places: the one that it has, or one that nobody has, or one that no other window needs; each time the next one
  // after that which was given away last
  function automatic nodes_t lowest(nodes_t all);
    return all & (~all + 1'b1);
  endfunction
  nodes_t named, has, unused, able, chosen, chosen_q;
  logic possible, possible_q, met_q;
  index_t node;
  assign name = {set_route_i, set_index_i};
  assign possible = set_window_i.valid && !set_peer_i[40] && set_peer_i != mac_i;
  always_comb begin
    named = '0;
    for (int unsigned i = 0; i < Names; i++)
    if (open_q[i] && name != 5'(i)) named[whose_q[i]] = 1'b1;
    for (int unsigned n = 0; n < Nodes; n++) has[n] = known_q[n] && mac_q[n] == set_peer_i;
    unused = ~named & ~known_q;
    able = unused != '0 ? unused : ~named;
    chosen = |(able & after_q) ? lowest(able & after_q) : lowest(able);
    if (has != '0) chosen = has;
    node = '0;
    for (int unsigned n = 0; n < Nodes; n++) if (chosen_q[n]) node |= index_t'(n);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Rests;
      known_q <= '0;
      after_q <= '1;
      open_q <= '0;
      full_o <= 1'b0;
    end else begin
      case (state_q)
        Looks: begin
          full_o <= possible && chosen == '0;
          state_q <= possible && chosen == '0 ? Rests : Closes;
        end
        Closes: begin
          open_q[name] <= 1'b0;
          state_q <= !possible_q ? Rests : met_q ? Opens : known_q[node] ? Parts : Meets;
        end
        Parts: begin
          known_q[node] <= 1'b0;
          state_q <= Waits;
        end
        Waits: if (wait_q == '1) state_q <= Meets;
        Meets: begin
          known_q[node] <= 1'b1;
          after_q <= ~(chosen_q | (chosen_q - 1'b1));
          state_q <= Opens;
        end
        Opens: begin
          open_q[name] <= 1'b1;
          state_q <= Rests;
        end
        Ends: if (at_q == '1) state_q <= Rests;
        default:
        if (end_i) begin
          known_q <= '0;
          open_q <= '0;
          full_o <= 1'b0;
          state_q <= Ends;
        end else if (set_i) state_q <= Looks;
      endcase
    end
    if (state_q == Looks) begin
      chosen_q <= chosen;
      possible_q <= possible;
      met_q <= has != '0;
    end
    if (state_q == Meets) mac_q[node] <= set_peer_i;
    if (state_q == Opens) whose_q[name] <= node;
    wait_q <= state_q == Waits ? wait_q + 1'b1 : '0;
    at_q <= state_q == Ends ? at_q + 1'b1 : '0;
  end
  assign ends_o = state_q == Ends;
  assign busy_o = state_q != Rests || set_i || end_i;

  always_comb begin
    window_valid_o = (state_q inside {Closes, Opens} && !set_route_i) || state_q == Ends;
    window_index_o = state_q == Ends ? at_q : set_index_i;
    window_o = set_window_i;
    window_o.valid = state_q == Opens;
    window_o.peer = node_t'(node);
    route_valid_o = state_q inside {Closes, Opens} && set_route_i;
    route_o = '{valid: state_q == Opens, node: node_t'(node), there: set_window_i.base[3:0]};
    region_valid_o = route_valid_o || state_q == Ends;
    region_index_o = window_index_o;
    region_o = '{
        valid: route_o.valid,
        base: 64'(window_index_o) << RemoteAddrW,
        size: 64'd1 << RemoteAddrW,
        node: route_o.node,
        remote: '0
    };
    peer_valid_o = state_q inside {Parts, Meets} || (state_q == Ends && 32'(at_q) < Nodes);
    peer_node_o = state_q == Ends ? index_t'(at_q) : node;
    peer_known_o = state_q == Meets;
    peer_mac_o = set_peer_i;
  end
endmodule
