// The rules of the lane, for simulation: whoever listens to it relies on them.
module rl_lane_checker
  import rl_shell_pkg::*;
(
  input logic  clk_net_i,
  input logic  rst_net_ni,
  input lane_t lane_i,
  input why_e  why_i
);
  // Of the frame under way: it has begun, its header is whole, and so many payload words have come.
  logic open_q, begun, ends;
  logic [2:0] heads_q, heads;
  logic [13:0] payloads_q, payloads, expected;

  assign begun = open_q || (lane_i.word && lane_i.first);
  assign ends = lane_i.done || lane_i.abort;
  always_comb begin
    heads = lane_i.first ? '0 : heads_q;
    payloads = lane_i.first ? '0 : payloads_q;
    if (lane_i.word && !lane_i.payload) heads = heads + 1'b1;
    if (lane_i.word && lane_i.payload) payloads = payloads + 1'b1;
  end
  assign expected = 14'((17'(lane_i.head.length) + 17'd7) >> 3);

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
  assert property (lane_i.first |-> lane_i.word && !lane_i.payload);
  PayloadIsAWord_A :
  assert property (lane_i.payload |-> lane_i.word);
  OneFrameAtATime_A :
  assert property (open_q |-> !lane_i.first);
  WordsBelongToAFrame_A :
  assert property (lane_i.word |-> begun);
  OnlyAFrameEnds_A :
  assert property (ends |-> begun);
  OneEnd_A :
  assert property (!(lane_i.done && lane_i.abort));
  HeaderIsFourWords_A :
  assert property (lane_i.word |-> heads <= 3'd4);
  HeaderComesFirst_A :
  assert property (lane_i.payload |-> heads == 3'd4);
  PayloadIsAsLongAsItSays_A :
  assert property (lane_i.payload |-> payloads <= expected);
  DoneIsWhole_A :
  assert property (lane_i.done |-> heads == 3'd4 && payloads == expected);
  DoneHasARoute_A :
  assert property (
    lane_i.done |-> lane_i.route inside {RouteControl, RouteWrite, RouteRead, RouteImage,
                                         RouteLaunch});
  // From the first payload word to the end; that it was there before is what the words up to then tell.
  HeadHolds_A :
  assert property (open_q && payloads_q != 0 |-> $stable(lane_i.head));
  RouteHolds_A :
  assert property (open_q && payloads_q != 0 |-> $stable(lane_i.route) && $stable(why_i));
  EndsAreKnown_A :
  assert property (!$isunknown({lane_i.word, lane_i.done, lane_i.abort}));
`endif

  logic unused_data;
  assign unused_data = ^lane_i.data;
endmodule
