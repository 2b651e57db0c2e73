// rl_transport_state with registers between the steps of a judgement, and whatever requests there may be:
//   - of each peer there is one event under way at most, and its state is not read while it is written;
//   - of each kind of request there is one at most whose arguments are still looked at;
//   - when one can be taken, one is; and of those that come before it each is taken once at most while it waits.
// What is known of peers is anything.
module rl_transport_steps_formal
  import rl_transport_pkg::*;
#(
  localparam int unsigned Peers = 4,
  localparam type index_t = logic [$clog2(Peers)-1:0]
) (
  input logic              clk_i,
  input transport_config_t config_i,
  input logic              asks_seldom_i,
  input tick_t             now_i,
  input logic [5:0]        valid_i,
  input index_t [5:0]      peer_i,
  input epoch_t            epoch_i,
  input count_t            count_i,
  input segment_t          segment_i,
  input logic              again_i,
  input logic              alone_i,
  input logic              out_free_i,
  input logic              get_free_i,
  input logic              release_free_i
);
  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  rl_transport_state #(
    .Peers(Peers),
    .Block(1'b1)
  ) u_dut (
    .clk_i,
    .rst_ni(rst_n),
    .config_i,
    .asks_seldom_i,
    .now_i,
    .starts_o(),
    .start_peer_o(),
    .reset_valid_i(valid_i[0]),
    .reset_ready_o(),
    .reset_peer_i(peer_i[0]),
    .reset_epoch_i(epoch_i),
    .consume_valid_i(valid_i[1]),
    .consume_ready_o(),
    .consume_peer_i(peer_i[1]),
    .consume_count_i(count_i),
    .scan_valid_i(valid_i[2]),
    .scan_ready_o(),
    .scan_peer_i(peer_i[2]),
    .rx_valid_i(valid_i[3]),
    .rx_ready_o(),
    .rx_peer_i(peer_i[3]),
    .rx_segment_i(segment_i),
    .rx_again_i(again_i),
    .push_valid_i(valid_i[4]),
    .push_ready_o(),
    .push_peer_i(peer_i[4]),
    .push_alone_i(alone_i),
    .commit_valid_i(valid_i[5]),
    .commit_ready_o(),
    .commit_peer_i(peer_i[5]),
    .out_free_i,
    .get_free_i,
    .release_free_i,
    .judged_push_o(),
    .judged_commit_o(),
    .sends_o(),
    .segment_o(),
    .slot_o(),
    .send_peer_o(),
    .judged_rx_o(),
    .deliver_o(),
    .again_o(),
    .done_rx_o(),
    .release_o(),
    .release_peer_o(),
    .release_slot_o(),
    .release_count_o(),
    .event_o(),
    .event_peer_o()
  );

  // From the one that was read last to the one that is written.
  localparam int unsigned Steps = 6;
  logic [Steps-1:0] any;
  logic [Steps-1:0][6:0] shown, taken;
  index_t [Steps-1:0] peers;
  assign shown = {
    u_dut.at_e.taken, u_dut.at_d.taken, u_dut.at_c.taken, u_dut.at_b.taken, u_dut.at_a.taken, u_dut.read_q.taken
  };
  assign any = {u_dut.at_e.any, u_dut.at_d.any, u_dut.at_c.any, u_dut.at_b.any, u_dut.at_a.any, u_dut.read_q.any};
  assign peers = {
    u_dut.at_e.peer, u_dut.at_d.peer, u_dut.at_c.peer, u_dut.at_b.peer, u_dut.at_a.peer, u_dut.read_q.peer
  };
  // -- whose turn it is: an order of the kinds, in which the one that was taken goes to the end
  always_comb begin
    if (rst_n) begin
      for (int i = 0; i < 7; i++)
      for (int j = 0; j < 7; j++) begin
        assert (u_dut.before_q[i][j] == (i != j && !u_dut.before_q[j][i]));
        for (int k = 0; k < 7; k++)
        if (u_dut.before_q[i][j] && u_dut.before_q[j][k]) assert (u_dut.before_q[i][k]);
      end
      OneIsTaken_A : assert ((u_dut.read_d.taken != 0) == (u_dut.able != 0));
    end
  end
  // Who waits comes behind nobody new, and before whoever was taken.
  logic [6:0][6:0] ranks;
  logic [6:0] waiting, went;
  logic there = 1'b0;
  always_ff @(posedge clk_i) begin
    there <= rst_n;
    ranks <= u_dut.before_q;
    went <= u_dut.read_q.taken;
    waiting <= u_dut.asked & ~u_dut.read_q.taken;
  end
  always_comb begin
    if (there)
      for (int i = 0; i < 7; i++) if (waiting[i]) assert (u_dut.before_q[i] == (ranks[i] & ~went));
  end

  // What sets up a peer at the start is no event, and none is under way beside it.
  logic [Steps-1:0] sets_up;
  always_comb begin
    for (int i = 0; i < Steps; i++) begin
      sets_up[i] = shown[i] != 0 && !any[i];
      taken[i] = any[i] ? shown[i] : '0;
    end
    if (rst_n) begin
      if (u_dut.starting_q || sets_up != 0)
        assert (u_dut.settles_q && u_dut.read_q.taken == 0 && u_dut.read_d.taken == 0);
      for (int i = 0; i < Steps; i++) begin
        assert ($onehot0(shown[i]));
        // Of the kind Reset, and not in front of the steps.
        if (sets_up[i]) assert (shown[i] == 7'd1 && i != 0);
        for (int k = 0; k < i; k++) if (sets_up[i]) assert (taken[k] == 0);
        assert (any[i] == (taken[i] != 0));
        for (int k = 0; k < i; k++) begin
          if (taken[i] != 0 && taken[k] != 0) assert (peers[i] != peers[k]);
          if (i < 4) assert ((taken[i] & taken[k] & 7'b0001111) == 0);
          if (i < 2) assert ((taken[i] & taken[k]) == 0);
        end
        // What waits is known to be met by all but the one that was just taken.
        if (i > 0)
          for (int k = 0; k < 7; k++)
          if (any[i] && peers[i] == u_dut.peers_q[k]) assert (u_dut.met_q[k]);
        if (taken[i] != 0 && u_dut.read_d.taken != 0) assert (u_dut.peer != peers[i]);
      end
    end
  end
  always_ff @(posedge clk_i) begin
    FourAtATime_C :
    cover (rst_n && taken[0] != 0 && taken[1] != 0 && taken[2] != 0 && taken[3] != 0);
  end
endmodule
