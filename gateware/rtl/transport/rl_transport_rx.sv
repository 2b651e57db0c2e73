// What a segment that has come from a peer changes, and whether its payload is delivered: logic without state.
//
// Of the peer's present life, to ours: what it acknowledges is no longer held, what it asks for is sent again, and the
// payload is delivered if it is the first one missing. Of any other life: nothing but an answer that says our epochs,
// or all begins anew.
module rl_transport_rx
  import rl_transport_pkg::*;
(
  input  transport_config_t config_i,
  input  tick_t             now_i,
  input  peer_t             peer_i,
  input  segment_t          segment_i,
  output peer_t             peer_o,
  output logic              deliver_o,
  output count_t            release_o,  // Frames from peer_i.slot on that are no longer held.
  output transport_event_t  event_o
);
  // -- to which lives it belongs
  logic named, stale, behind, restarts, current;
  epoch_t past;
  peer_t  lived;  // With what it says of lives.
  always_comb begin
    named = segment_i.src != 0 && segment_i.dst == peer_i.mine;
    current = named && peer_i.established && segment_i.src == peer_i.theirs;
    stale = named && peer_i.established && is_before(segment_i.src, peer_i.theirs);
    restarts = named && !current && !stale;
    // It remembers a later life of ours. What a peer knows of us only rises, so what its present life says holds
    // however late it comes.
    behind = segment_i.src != 0 && segment_i.dst != 0 && is_before(peer_i.mine, segment_i.dst) &&
        (!peer_i.established || segment_i.src == peer_i.theirs);
    // Two lives that move past the same word move by different steps.
    past = segment_i.dst + 32'd1 + 32'(peer_i.mine[15:0]);

    lived = peer_i;
    if (restarts || behind) lived = anew(peer_i, config_i);
    if (!current) lived.hello_due = 1'b1;
    if (restarts) begin
      lived.established = 1'b1;
      lived.theirs = segment_i.src;
    end
    if (behind) begin
      lived.established = 1'b0;
      lived.mine = past == 0 ? 32'd1 : past;
    end
    if (segment_i.src != 0 && !named && !lived.established)
      if (peer_i.theirs == 0 || is_before(peer_i.theirs, segment_i.src))
        lived.theirs = segment_i.src;
  end

  // -- what it carries
  logic is_data, is_wrong, is_news, is_overtaken, takes, raises, nacks, known;
  logic is_next, is_early;
  seq_t end_of_flight;
  seq_t ahead;
  count_t acked;
  peer_t heard, given;
  always_comb begin
    is_data = segment_i.kind == KindData;
    end_of_flight = lived.base + 32'(lived.flight);
    is_wrong = is_before(end_of_flight, segment_i.ack) ||
        (is_data && !is_before(segment_i.seq, lived.granted));
    takes = (current || restarts) && !is_wrong;
    is_overtaken = is_before(segment_i.ack, lived.base);
    acked = takes && !is_overtaken ? count_t'(segment_i.ack - lived.base) : '0;
    is_news = acked != 0;
    raises = takes && is_before(lived.credit, segment_i.limit);
    nacks = takes && !is_overtaken && segment_i.kind == KindNack && acked != lived.flight;
    known = !is_news && is_just_back(lived, now_i, config_i);

    // What it says of what was sent.
    heard = lived;
    if (is_news) begin
      heard.slot = lived.slot + slot_t'(acked);
      heard.held = lived.held - acked;
      heard.flight = lived.flight - acked;
      heard.cursor = lived.cursor < acked ? '0 : lived.cursor - acked;
      heard.base = segment_i.ack;
      heard.timer = after(now_i, config_i.rto);
      heard.timer.on = acked != lived.flight;
      heard.went_back = 1'b0;
    end
    if (nacks && !known) heard = gone_back(heard, now_i, config_i);
    else if (is_news) heard = has_grown(heard, acked, config_i);
    if (raises) begin
      heard.credit = segment_i.limit;
      heard.probe_due = 1'b0;
      // Nothing is in flight: the timer was the probe's.
      if (heard.flight == 0) heard.timer = '0;
    end

    // What it brings.
    ahead = segment_i.seq - heard.next;
    is_next = takes && is_data && ahead == 0;
    is_early = takes && is_data && ahead != 0 && !ahead[31];
    given = heard;
    if (takes && is_data && !is_early) begin
      given.unacked = &heard.unacked ? heard.unacked : heard.unacked + 1'b1;
      if (!is_next || given.unacked >= config_i.ack_every || config_i.ack_delay == 0)
        given.ack_due = 1'b1;
      else if (!heard.ack.on) given.ack = after(now_i, config_i.ack_delay);
    end
    if (is_next) begin
      given.next = heard.next + 1'b1;
      given.nack_due = 1'b0;
      given.nacked = 1'b0;
      if (config_i.consumes) given = consumed(given, 32'd1, config_i);
    end
    // One for each gap, and again for one that asks.
    if (is_early && (segment_i.asks || !heard.nacked)) begin
      given.nack_due = 1'b1;
      given.nacked = 1'b1;
      given.ack_due = 1'b1;
    end
    if (takes && segment_i.asks) given.ack_due = 1'b1;
  end

  assign peer_o = given;
  assign deliver_o = is_next;
  assign release_o = restarts || behind ? peer_i.flight : acked;
  always_comb begin
    event_o = '0;
    event_o.restarted = restarts || behind;
    event_o.lost = restarts || behind ? peer_i.flight : '0;
    event_o.broken = current && is_wrong;
    event_o.repeated = takes && is_data && !is_next && !is_early;
    event_o.missed = is_early;
  end
endmodule
