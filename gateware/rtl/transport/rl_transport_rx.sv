// What a segment of the present lives changes: logic without state.
//
// What it acknowledges is no longer held, what it asks for is sent again, and its payload is counted if it is the first
// one missing. What it is was judged before (rl_transport_lives).
module rl_transport_rx
  import rl_transport_pkg::*;
(
  input  transport_config_t config_i,
  input  tick_t             now_i,
  input  peer_t             peer_i,      // As the segment's lives have left it.
  input  logic              asks_i,
  input  seq_t              ack_i,
  input  seq_t              limit_i,
  input  verdict_t          verdict_i,
  output peer_t             peer_o
);
  logic is_news;
  count_t acked;
  peer_t heard;
  always_comb begin
    acked = verdict_i.acked;
    is_news = acked != 0;

    // What it says of what was sent.
    heard = peer_i;
    if (is_news) begin
      heard.slot = peer_i.slot + slot_t'(acked);
      heard.held = peer_i.held - acked;
      heard.flight = peer_i.flight - acked;
      heard.cursor = peer_i.cursor < acked ? '0 : peer_i.cursor - acked;
      heard.base = ack_i;
      heard.timer = after(now_i, config_i.rto);
      heard.timer.on = acked != peer_i.flight;
      heard.went_back = 1'b0;
    end
    // Late words of a loss are not news.
    if (verdict_i.nacks && (is_news || !verdict_i.just_back))
      heard = gone_back(heard, now_i, config_i);
    else heard.grown = heard.grown + acked;
    if (verdict_i.raises) begin
      heard.credit = limit_i;
      heard.probe_due = 1'b0;
      // Nothing is in flight: the timer was the probe's.
      if (acked == peer_i.flight) heard.timer = '0;
    end

    // What it brings.
    peer_o = heard;
    if (verdict_i.data && !verdict_i.early) begin
      peer_o.unacked = &heard.unacked ? heard.unacked : heard.unacked + 1'b1;
      if (!verdict_i.next || peer_o.unacked >= config_i.ack_every || config_i.ack_delay == 0)
        peer_o.ack_due = 1'b1;
      else if (!heard.ack.on) peer_o.ack = after(now_i, config_i.ack_delay);
    end
    if (verdict_i.next) begin
      peer_o.next = heard.next + 1'b1;
      if (config_i.consumes) peer_o.granted = heard.granted + 1'b1;
      peer_o.nack_due = 1'b0;
      peer_o.nacked = 1'b0;
    end
    // One for each gap, and again for one that asks.
    if (verdict_i.early && (asks_i || !heard.nacked)) begin
      peer_o.nack_due = 1'b1;
      peer_o.nacked = 1'b1;
      peer_o.ack_due = 1'b1;
    end
    if (verdict_i.takes && asks_i) peer_o.ack_due = 1'b1;
  end

  logic unused;
  assign unused = ^{verdict_i.restarts, verdict_i.moved};
endmodule
