// The rules of the receive stream, for simulation: whoever listens to it relies on them.
module rl_rx_beat_checker
  import rl_shell_pkg::*;
(
  input logic  clk_net_i,
  input logic  rst_net_ni,
  input rx_beat_t rx_beat_i,
  input divert_reason_e  reason_i
);
  // Of the frame under way: it has begun, its header is whole, and so many payload words have come.
  logic open_q, begun, ends;
  logic [2:0] heads_q, heads;
  logic [13:0] payloads_q, payloads, expected;

  assign begun = open_q || (rx_beat_i.word && rx_beat_i.first);
  assign ends = rx_beat_i.done || rx_beat_i.abort;
  always_comb begin
    heads = rx_beat_i.first ? '0 : heads_q;
    payloads = rx_beat_i.first ? '0 : payloads_q;
    if (rx_beat_i.word && !rx_beat_i.payload) heads = heads + 1'b1;
    if (rx_beat_i.word && rx_beat_i.payload) payloads = payloads + 1'b1;
  end
  assign expected = 14'((17'(rx_beat_i.head.length) + 17'd7) >> 3);

  always_ff @(posedge clk_net_i) begin
    open_q <= rst_net_ni && begun && !ends;
    heads_q <= rst_net_ni ? heads : '0;
    payloads_q <= rst_net_ni ? payloads : '0;
  end

`ifndef SYNTHESIS
  default clocking @(posedge clk_net_i);
  endclocking
  default disable iff (!rst_net_ni);
  // -- ends and words
  FirstIsAWord_A :
  assert property (rx_beat_i.first |-> rx_beat_i.word && !rx_beat_i.payload);
  PayloadIsAWord_A :
  assert property (rx_beat_i.payload |-> rx_beat_i.word);
  OneFrameAtATime_A :
  assert property (open_q |-> !rx_beat_i.first);
  WordsBelongToAFrame_A :
  assert property (rx_beat_i.word |-> begun);
  OnlyAFrameEnds_A :
  assert property (ends |-> begun);
  OneEnd_A :
  assert property (!(rx_beat_i.done && rx_beat_i.abort));
  HeaderIsFourWords_A :
  assert property (rx_beat_i.word |-> heads <= 3'd4);
  HeaderComesFirst_A :
  assert property (rx_beat_i.payload |-> heads == 3'd4);
  PayloadIsAsLongAsItSays_A :
  assert property (rx_beat_i.payload |-> payloads <= expected);
  DoneIsWhole_A :
  assert property (rx_beat_i.done |-> heads == 3'd4 && payloads == expected);
  DoneHasARoute_A :
  assert property (
    rx_beat_i.done |-> rx_beat_i.route inside {RouteControl, RouteWrite, RouteRead, RouteImage,
                                         RouteLaunch});
  // From the first payload word to the end; that it was there before is what the words up to then tell.
  HeadHolds_A :
  assert property (open_q && payloads_q != 0 |-> $stable(rx_beat_i.head));
  RouteHolds_A :
  assert property (open_q && payloads_q != 0 |-> $stable(rx_beat_i.route) && $stable(reason_i));
  EndsAreKnown_A :
  assert property (!$isunknown({rx_beat_i.word, rx_beat_i.done, rx_beat_i.abort}));
`endif

  logic unused_data;
  assign unused_data = ^rx_beat_i.data;
endmodule
