// The bridge's registers, as protocol/registers.toml has them: the firmware sets windows by them, and reads what the
// bridge counts. They are in the bridge's clock domain, which is the network's while they are written.
module rl_bridge_csr
  import rl_csr_pkg::*;
  import rl_control_pkg::bridge_ctl_t;
  import rl_bridge_pkg::mac_addr_t;
  import rl_bridge_node_pkg::*;
  import rl_bridge_wire_pkg::*;
  import rl_transport_pkg::transport_event_t;
(
  input  logic             clk_i,
  input  logic             rst_ni,
  input  bridge_ctl_t      ctl_i,
  output logic [31:0]      data_o,

  // -- rl_bridge_owner
  output logic             set_o,        // A window is to be opened or closed, but for whose it is;
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
  logic [63:0] base_q, length_q;
  logic [31:0] word;
  assign word = ctl_i.word;
  always_ff @(posedge clk_i) begin
    set_o <= rst_ni && ctl_i.write && ctl_i.at == CsrBrgWindow[4:0];
    end_o <= rst_ni && ctl_i.write && ctl_i.at == CsrBrgEnd[4:0];
    if (ctl_i.write) begin
      case (ctl_i.at)
        CsrBrgBaseHi[4:0]: base_q[63:32] <= word;
        CsrBrgBaseLo[4:0]: base_q[31:0] <= word;
        CsrBrgLengthHi[4:0]: length_q[63:32] <= word;
        CsrBrgLengthLo[4:0]: length_q[31:0] <= word;
        CsrBrgPeerHi[4:0]: set_peer_o[47:16] <= word;
        CsrBrgPeerLo[4:0]: set_peer_o[15:0] <= word[31:16];
        default: ;
      endcase
    end
    if (ctl_i.write && ctl_i.at == CsrBrgWindow[4:0]) begin
      set_index_o <= word[BrgWindowIndexLsb+:BrgWindowIndexWidth];
      set_window_o <= '{
          valid: word[BrgWindowOpenBit],
          base: base_q,
          length: length_q,
          at: base_q,
          peer: NodeAny,
          rights: word[BrgWindowRightsLsb+:BrgWindowRightsWidth]
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
    else if (ctl_i.read_at == CsrBrgStatus[4:0]) begin
      data_o[BrgStatusThereBit] = 1'b1;
      data_o[BrgStatusMovesBit] = moves_i;
      data_o[BrgStatusFullBit] = full_i;
      data_o[BrgStatusSetsBit] = sets_i;
    end
  end
  logic unused;
  assign unused = ^{event_i, transport_event_i};
endmodule
