// What there is to say to a peer, one segment at a time: logic without state.
//
// In this order: that a number is missing; what has to be sent again; what was never sent, if window and credit allow
// it; a question for credit; an acknowledgement. Every segment says what has arrived, so that none has to be sent for
// that alone while payloads go.
module rl_transport_tx
  import rl_transport_pkg::*;
(
  input  tick_t             now_i,
  input  tick_t             rto_i,
  input  peer_t             peer_i,
  input  logic              pushed_i,   // One more frame waits, that is not counted in peer_i.
  output peer_t             peer_o,
  output logic              sends_o,    // A segment is to be sent,
  output segment_t          segment_o,
  output slot_t             slot_o,     // and if it is of KindData, the frame that is here goes along,
  output logic              is_new_o,   // for the first time.
  output transport_event_t  event_o
);
  logic calls, resends, offers, probes, waits_now, waits_then;
  count_t after_it;
  peer_t sent, said;
  always_comb begin
    // Compared without a sum, and only where nothing else waits if one is pushed: this is the longest way.
    after_it = peer_i.cursor + 1'b1;
    waits_now = pushed_i || waits(peer_i);
    waits_then = !pushed_i && peer_i.held != after_it;
    calls = !peer_i.established && peer_i.held != 0 && !peer_i.hello.on;
    resends = peer_i.established && !peer_i.nack_due && peer_i.cursor != peer_i.flight;
    offers = peer_i.established && !peer_i.nack_due && peer_i.cursor == peer_i.flight && waits_now &&
        peer_i.flight < peer_i.window && peer_i.allowed.next;
    probes = !peer_i.nack_due && is_blocked(peer_i) && peer_i.probe_due;

    segment_o = '0;
    segment_o.kind = KindAck;
    segment_o.src = peer_i.mine;
    segment_o.dst = peer_i.theirs;
    segment_o.seq = resends || offers ? peer_i.base + 32'(peer_i.cursor) : '0;
    segment_o.ack = peer_i.next;
    segment_o.limit = peer_i.granted;

    sent = peer_i;
    if (calls) begin
      segment_o.kind = KindUnack;
      sent.hello = after(now_i, rto_i);
    end else if (resends || offers) begin
      segment_o.kind = KindData;
      sent.cursor = after_it;
      if (offers) begin
        sent.flight = after_it;
        if (!peer_i.timer.on) sent.timer = after(now_i, rto_i);
      end
    end else if (probes) begin
      segment_o.kind = KindUnack;
      sent.probe_due = 1'b0;
      sent.timer = after(now_i, rto_i);
    end else if (peer_i.nack_due) segment_o.kind = KindNack;

    // Where we stop sending, the peer must not wait for more before it acknowledges.
    if (resends) segment_o.asks = after_it == peer_i.flight;
    else if (offers)
      segment_o.asks = !waits_then || after_it == peer_i.window || !peer_i.allowed.more;
    else segment_o.asks = segment_o.kind == KindUnack;

    said = sent;
    said.held = peer_i.held + count_t'(pushed_i);
    said.hello_due = 1'b0;
    if (peer_i.theirs != 0) begin
      said.announced = peer_i.granted;
      said.unacked = '0;
      said.ack = '0;
      said.ack_due = 1'b0;
      said.nack_due = 1'b0;
    end
  end

  assign sends_o = speaks(peer_i);
  assign is_new_o = offers;
  assign slot_o = peer_i.slot + slot_t'(peer_i.cursor);
  assign peer_o = offers || sends_o ? said : peer_i;
  always_comb begin
    event_o = '0;
    event_o.resent = sends_o && resends;
  end
endmodule
