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
  input  logic              asks_seldom_i,  // As rl_transport_state says.
  input  logic              pushed_i,   // One more frame is given, that is not counted in peer_i, and none waits.
  output peer_t             peer_o,
  output segment_t          segment_o,  // If peer_i.say has one,
  output slot_t             slot_o,     // and with it the frame that is here, if it is of KindData.
  output transport_event_t  event_o
);
  say_t say;
  logic offers;
  count_t after_it;
  peer_t sent, said;
  always_comb begin
    say = peer_i.say;
    after_it = peer_i.cursor + 1'b1;
    offers = pushed_i ? say.passes : say.offers;

    segment_o = '0;
    segment_o.kind = KindAck;
    segment_o.src = peer_i.mine;
    segment_o.dst = peer_i.theirs;
    segment_o.seq = say.resends || offers ? peer_i.base + 32'(peer_i.cursor) : '0;
    segment_o.ack = peer_i.next;
    segment_o.limit = peer_i.granted;

    sent = peer_i;
    if (say.calls) begin
      segment_o.kind = KindUnack;
      sent.hello = after(now_i, rto_i);
    end else if (say.resends || offers) begin
      segment_o.kind = KindData;
      sent.cursor = after_it;
      if (offers) begin
        sent.flight = after_it;
        if (!peer_i.timer.on) sent.timer = after(now_i, rto_i);
      end
    end else if (say.probes) begin
      segment_o.kind = KindUnack;
      sent.probe_due = 1'b0;
      sent.timer = after(now_i, rto_i);
    end else if (peer_i.nack_due) segment_o.kind = KindNack;

    // Behind one that was just given there is none. Where few ask, the word is for the next one that passes.
    segment_o.asks = asks_seldom_i ? say.asks && (pushed_i || !say.passes) : pushed_i || say.asks;

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

  assign slot_o = peer_i.slot + slot_t'(peer_i.cursor);
  assign peer_o = offers || say.speaks ? said : peer_i;
  always_comb begin
    event_o = '0;
    event_o.resent = say.resends;
  end
endmodule
