// The analyzer's comparisons of addresses, in two stages. It follows the head and the session all
// the time: what it says holds two cycles after both were last changed.
module rl_lane_filter
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
(
  input  logic      clk_net_i,

  input  mac_addr_t dst_i,
  input  mac_addr_t src_i,
  input  mac_addr_t mac_i,
  input  session_t  session_i,

  output logic      own_o,      // To this card alone.
  output logic      group_o,    // To a group of Rackloom, whatever its number.
  output logic      listens_o,  // To an address this card listens to.
  output logic      stranger_o, // From a source that no frame for this card can have.
  output logic      owner_o     // From the owner of the claim.
);
  // Two addresses compared in thirds, each half a level of logic less than the whole.
  function automatic logic [2:0] thirds(input mac_addr_t a, input mac_addr_t b);
    return {a[47:32] == b[47:32], a[31:16] == b[31:16], a[15:0] == b[15:0]};
  endfunction

  logic [2:0] own_q, cards_q, all_q, echo_q, owner_q;
  logic group_q, load_q, claim_q, grouped_q, multicast_q;

  always_ff @(posedge clk_net_i) begin
    own_q <= thirds(dst_i, mac_i);
    cards_q <= thirds(dst_i, CardsAddr);
    all_q <= thirds(dst_i, '1);
    group_q <= dst_i[47:16] == GroupAddr[47:16];
    load_q <= dst_i[15:0] == session_i.load_group;
    claim_q <= dst_i[15:0] == session_i.claim_group;
    grouped_q <= session_i.claimed && session_i.claim_group != 0;
    // Our own frames come back over a loop in the network.
    echo_q <= thirds(src_i, mac_i);
    multicast_q <= src_i[40];
    owner_q <= thirds(src_i, session_i.owner);

    own_o <= &own_q;
    group_o <= group_q;
    listens_o <= &own_q || &cards_q || &all_q || (group_q && ((load_q && session_i.loading) || (claim_q && grouped_q)));
    stranger_o <= &echo_q || multicast_q;
    owner_o <= &owner_q && session_i.claimed;
  end

  // The rest of what the firmware says is for others.
  logic unused_session;
  assign unused_session = ^{session_i.epoch, session_i.receiving, session_i.role,
                            session_i.configuring, session_i.solicit_fast, session_i.memory};
endmodule
