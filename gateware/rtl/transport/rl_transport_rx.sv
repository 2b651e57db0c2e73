// What a segment that has come from a peer changes, and whether its payload is delivered: logic without state.
//
// Of the present lives: what it acknowledges is no longer held, what it asks for is sent again, and the payload is
// delivered if it is the first one missing. Its lives and numbers were compared before (rl_transport_lives,
// numbers_of).
module rl_transport_rx
  import rl_transport_pkg::*;
(
  input  transport_config_t config_i,
  input  tick_t             now_i,
  input  peer_t             peer_i,      // As the segment's lives have left it.
  input  segment_kind_e     kind_i,
  input  logic              asks_i,
  input  seq_t              ack_i,
  input  seq_t              limit_i,
  input  lives_t            lives_i,
  input  numbers_t          numbers_i,
  output peer_t             peer_o,
  output logic              deliver_o,
  output count_t            release_o,   // Frames of the oldest that are no longer held.
  output transport_event_t  event_o
);
  logic is_data, is_wrong, takes, is_news, nacks, is_next, is_early;
  count_t acked;
  peer_t heard;
  always_comb begin
    is_data = kind_i == KindData;
    is_wrong = numbers_i.unsent || (is_data && numbers_i.ungranted);
    takes = (lives_i.current || lives_i.restarts) && !is_wrong;
    acked = takes && !numbers_i.overtaken ? numbers_i.acked : '0;
    is_news = acked != 0;
    nacks = takes && !numbers_i.overtaken && kind_i == KindNack && acked != peer_i.flight;
    is_next = takes && is_data && numbers_i.next;
    is_early = takes && is_data && numbers_i.early;

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
    if (nacks && (is_news || !numbers_i.just_back)) heard = gone_back(heard, now_i, config_i);
    else if (is_news) heard = has_grown(heard, acked, config_i);
    if (takes && numbers_i.raises) begin
      heard.credit = limit_i;
      heard.probe_due = 1'b0;
      // Nothing is in flight: the timer was the probe's.
      if (acked == peer_i.flight) heard.timer = '0;
    end

    // What it brings.
    peer_o = heard;
    if (takes && is_data && !is_early) begin
      peer_o.unacked = &heard.unacked ? heard.unacked : heard.unacked + 1'b1;
      if (!is_next || peer_o.unacked >= config_i.ack_every || config_i.ack_delay == 0)
        peer_o.ack_due = 1'b1;
      else if (!heard.ack.on) peer_o.ack = after(now_i, config_i.ack_delay);
    end
    if (is_next) begin
      peer_o.next = heard.next + 1'b1;
      if (config_i.consumes) peer_o.granted = heard.granted + 1'b1;
      peer_o.nack_due = 1'b0;
      peer_o.nacked = 1'b0;
    end
    // One for each gap, and again for one that asks.
    if (is_early && (asks_i || !heard.nacked)) begin
      peer_o.nack_due = 1'b1;
      peer_o.nacked = 1'b1;
      peer_o.ack_due = 1'b1;
    end
    if (takes && asks_i) peer_o.ack_due = 1'b1;
  end

  assign deliver_o = is_next;
  assign release_o = acked;
  always_comb begin
    event_o = '0;
    event_o.restarted = lives_i.moved;
    event_o.broken = lives_i.current && is_wrong;
    event_o.repeated = takes && is_data && !is_next && !is_early;
    event_o.missed = is_early;
  end
endmodule
