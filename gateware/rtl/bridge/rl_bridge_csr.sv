// The bridge's registers, as protocol/registers.toml has them: the firmware sets windows by them, and reads what the
// bridge counts. They are in the bridge's clock domain, which is the network's while they are written.
module rl_bridge_csr
  import rl_csr_pkg::*;
  import rl_control_pkg::bridge_ctl_t;
  import rl_bridge_pkg::mac_addr_t;
  import rl_bridge_pkg::Streams;
  import rl_bridge_node_pkg::*;
  import rl_bridge_wire_pkg::*;
  import rl_transport_pkg::transport_event_t;
(
  input  logic             clk_i,
  input  logic             rst_ni,
  input  mac_addr_t        mac_i,        // The card's, steady.
  input  bridge_ctl_t      ctl_i,
  output logic [31:0]      data_o,

  // -- rl_bridge_owner
  output logic             set_o,        // A window is to be opened or closed, but for whose it is,
  output logic             set_route_o,  // or a route;
  output logic [3:0]       set_index_o,
  output window_t          set_window_o,
  output mac_addr_t        set_peer_o,
  output logic             end_o,        // or all are to be closed.
  input  logic             sets_i,
  input  logic             full_i,
  input  logic             moves_i,

  // -- what has happened
  input  logic             judged_i,
  input  verdict_e         verdict_i,
  input  bridge_event_t    event_i,
  input  transport_event_t transport_event_i,
  input  logic             sent_i
);
  localparam int unsigned What = 6;
  logic [What-1:0][31:0] what_q;
  logic [31:0] word;
  logic sets, routes;
  logic [63:0] base, length;
  logic [15:0] there;
  assign base = {what_q[0], what_q[1]};
  assign length = {what_q[2], what_q[3]};
  assign {set_peer_o, there} = {what_q[4], what_q[5]};
  assign word = ctl_i.word;
  assign sets = ctl_i.write && ctl_i.at == CsrBrgSet[4:0];
  assign routes = word[BrgSetRouteBit];
  always_ff @(posedge clk_i) begin
    set_o <= rst_ni && sets;
    end_o <= rst_ni && ctl_i.write && ctl_i.at == CsrBrgEnd[4:0];
    for (int unsigned i = 0; i < What; i++)
    if (ctl_i.write && ctl_i.at == CsrBrgWhat[4:0] + 5'(i)) what_q[i] <= word;
    if (sets) begin
      set_route_o <= routes;
      set_index_o <= word[BrgSetIndexLsb+:BrgSetIndexWidth];
      // What is not a route's means nothing there.
      set_window_o <= '{
          valid: word[BrgSetOpenBit],
          base: routes ? 64'(there) : base,
          length: length,
          at: base,
          peer: NodeAny,
          rights: what_q[5][11:8]
      };
    end
  end

  // -- counters, in the order of the wire
  typedef enum {
    Rx,
    Tx,
    DropForeign,
    DropMalformed,
    DropEpoch,
    DropDuplicate,
    Denied,
    Resent,
    Counters
  } counter_e;
  logic [Counters-1:0][1:0] more;
  logic [31:0] lost_q;
  logic [Counters-1:0][63:0] count_q;
  always_comb begin
    more = '0;
    if (judged_i) begin
      more[Rx] = 2'(!(verdict_i inside {Damaged, Foreign}));
      more[DropForeign] = 2'(verdict_i inside {Routed, OtherSubnet, Spoofed, Misdirected});
      more[DropMalformed] = 2'(verdict_i inside {Truncated, Length, OtherVersion, UnknownKind, Auth, Malformed,
                                                 TooLong});
      more[Denied] = 2'(verdict_i inside {UnknownPeer, NoRoom});
    end
    more[Tx] = 2'(sent_i);
    more[DropMalformed] += 2'(event_i.malformed) + 2'(transport_event_i.broken);
    more[DropEpoch] = 2'(transport_event_i.stale);
    more[DropDuplicate] = 2'(transport_event_i.repeated);
    more[Denied] += 2'(event_i.denied);
    more[Resent] = 2'(transport_event_i.resent);
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) lost_q <= '0;
    else if (event_i.lost) lost_q <= lost_q + 1'b1;
    for (int unsigned i = 0; i < int'(Counters); i++) begin
      if (!rst_ni) count_q[i] <= '0;
      else if (more[i] != '0) count_q[i] <= count_q[i] + 64'(more[i]);
    end
  end

  logic [2*Counters-1:0][31:0] counts;
  assign counts = count_q;
  always_comb begin
    data_o = '0;
    if (ctl_i.read_at[4]) data_o = counts[ctl_i.read_at[3:0]];
    else if (ctl_i.read_at == CsrBrgLost[4:0]) data_o = lost_q;
    else if (ctl_i.read_at == CsrBrgStatus[4:0]) begin
      data_o[BrgStatusThereBit] = 1'b1;
      data_o[BrgStatusMovesBit] = moves_i;
      data_o[BrgStatusFullBit] = full_i;
      data_o[BrgStatusSetsBit] = sets_i;
      data_o[BrgStatusEmptyBit] = length == '0;
      data_o[BrgStatusNobodyBit] = set_peer_o == '0;
      data_o[BrgStatusStreamsBit] = base <= 64'(Streams) && length <= 64'(Streams) - base;
      data_o[BrgStatusAstrayBit] = set_peer_o[40] || set_peer_o == mac_i || there >= Streams;
    end
  end
  logic unused;
  assign unused = ^{event_i, transport_event_i};
endmodule
