// Auto-discovery's fast part: answers a solicitation that asks for an answer at once, without the
// firmware. Those that ask for a delay, and whatever it has no room for, are the firmware's.
module rl_discovery
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
(
  input  logic          clk_net_i,
  input  logic          rst_net_ni,

  input  rx_beat_t         rx_beat_i,
  input  logic          solicit_fast_i, // No delayed answer waits, which one more would amend.
  input  logic          control_busy_i, // An announcement tells what the frames before have changed.
  output logic          taken_o,        // With rx_beat_i.done: control need not see this frame.

  output logic          announce_valid_o,
  input  logic          announce_ready_i,
  output announcement_t announce_o,

  output logic          answered_o      // A solicitation was taken, a cycle ago.
);
  // The kind is known two words before the end; the window with the only payload word, after which
  // the end comes a cycle later or more.
  logic asks_q, now_q, ready;
  announcement_t asked;
  logic [2:0] unused_count;
  assign asked = '{dst: rx_beat_i.head.src, seq: rx_beat_i.head.seq};
  always_ff @(posedge clk_net_i) begin
    // What goes to control has an EtherType and a kind that exist: their low bits tell them.
    asks_q <= rx_beat_i.head.ether_type[7:0] == 8'(EtherTypeDiscovery) &&
              rx_beat_i.head.kind[3:0] == 4'(KindDiscoverySolicit) &&
              rx_beat_i.head.length == 16'(SolicitBytes);
    if (rx_beat_i.payload) now_q <= rx_beat_i.data[31:0] == 0;
  end

  assign taken_o = rx_beat_i.done && rx_beat_i.route == RouteControl && asks_q && now_q &&
                   solicit_fast_i && !control_busy_i && ready;

  rl_fifo #(
    .Width($bits(announcement_t)),
    .Depth(4)
  ) u_answers (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .wvalid_i(taken_o),
    .wready_o(ready),
    .wdata_i(asked),
    .rvalid_o(announce_valid_o),
    .rready_i(announce_ready_i),
    .rdata_o(announce_o),
    .count_o(unused_count)
  );

  always_ff @(posedge clk_net_i) begin
    answered_o <= rst_net_ni && taken_o;
  end

`ifndef SYNTHESIS
  WindowIsKnown_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni)
    rx_beat_i.payload && rx_beat_i.done && rx_beat_i.route == RouteControl |->
    rx_beat_i.head.length > 16'(SolicitBytes));
`endif

  logic unused_rx_beat;
  assign unused_rx_beat = ^{rx_beat_i.head.ether_type[15:8], rx_beat_i.head.kind[7:4], rx_beat_i.word,
                         rx_beat_i.first, rx_beat_i.abort, rx_beat_i.data[63:32],
                         rx_beat_i.head.dst, rx_beat_i.head.flags, rx_beat_i.head.epoch, rx_beat_i.head.addr};
endmodule
