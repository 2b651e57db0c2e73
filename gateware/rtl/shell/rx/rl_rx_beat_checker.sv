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
  // A block and no properties, which would cost a simulator more (rl_stays).
  head_t head_q;
  route_e route_q;
  divert_reason_e reason_q;
  always_ff @(posedge clk_net_i) begin
    if (begun) begin
      head_q <= rx_beat_i.head;
      route_q <= rx_beat_i.route;
      reason_q <= reason_i;
    end
    if (rst_net_ni) begin
      // -- ends and words
      if (rx_beat_i.first)
        FirstIsAWord_A : assert (rx_beat_i.word && !rx_beat_i.payload && !open_q);
      if (rx_beat_i.word) begin
        WordsBelongToAFrame_A : assert (begun);
        HeaderIsFourWords_A : assert (heads <= 3'd4);
      end
      if (ends) OnlyAFrameEnds_A : assert (begun && !(rx_beat_i.done && rx_beat_i.abort));
      if (rx_beat_i.payload) begin
        PayloadIsAWord_A : assert (rx_beat_i.word);
        HeaderComesFirst_A : assert (heads == 3'd4);
        PayloadIsAsLongAsItSays_A : assert (payloads <= expected);
      end
      if (rx_beat_i.done) begin
        DoneIsWhole_A : assert (heads == 3'd4 && payloads == expected);
        DoneHasARoute_A :
        assert (rx_beat_i.route inside {RouteControl, RouteWrite, RouteRead, RouteImage, RouteLaunch});
      end
      // From the first payload word to the end; that it was there before is what the words up to then tell.
      if (open_q && payloads_q != 0) begin
        HeadHolds_A : assert (rx_beat_i.head == head_q);
        RouteHolds_A : assert (rx_beat_i.route == route_q && reason_i == reason_q);
      end
    end
  end
`endif

  logic unused_data;
  assign unused_data = ^rx_beat_i.data;
endmodule
