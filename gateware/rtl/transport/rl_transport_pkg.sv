// What the transport says in frames, how it is set, and what it knows of a peer. Its twin is crates/core/transport.

// No module uses all of it, and functions look at parts of what they get.
// verilator lint_off UNUSEDPARAM
// verilator lint_off UNUSEDSIGNAL
package rl_transport_pkg;
  typedef logic [31:0] seq_t;  // A number of a payload. Numbers wrap.
  typedef logic [31:0] epoch_t;  // A life of an end. 0: unknown.
  typedef logic [15:0] tick_t;  // A time in ticks, which wraps.
  typedef logic [8:0] count_t;  // Frames of a window: 0 to 256.
  typedef logic [7:0] slot_t;  // A place in a peer's list of frames, modulo Slots.

  // -- in frames
  typedef enum logic [1:0] {
    KindData,  // A numbered payload.
    KindAck,   // What has arrived.
    KindNack,  // The same, and: send again from `ack` on.
    KindUnack  // Asks for an acknowledgement.
  } segment_kind_e;

  typedef struct packed {
    segment_kind_e kind;
    logic          asks;   // Acknowledge at once.
    seq_t          seq;    // Of KindData.
    epoch_t        src;    // The sender's life,
    epoch_t        dst;    // and the newest that it knows of the receiver; 0: unknown.
    seq_t          ack;    // The first number missing,
    seq_t          limit;  // and the first that may not be sent. Both hold if dst is not 0.
  } segment_t;

  // -- how it is set, steady. Both ends agree on `first` and `credit`.
  typedef struct packed {
    epoch_t epoch;      // Of all connections after a reset; not 0.
    seq_t   first;      // The first number of each life.
    count_t window;     // Most numbers in flight, 1 to Slots.
    seq_t   credit;     // Payloads of a peer's that the owner can hold, 1 or more and less than 2^31.
    logic   consumes;   // The owner has room again as soon as it has taken a payload.
    count_t ack_every;  // After so many payloads at the latest they are acknowledged, 1 or more,
    tick_t  ack_delay;  // and after so many ticks.
    tick_t  rto;        // Ticks after which what is not acknowledged is sent again, 1 or more, less than 2^13.
  } transport_config_t;

  // What has happened to a connection, each for one cycle.
  typedef struct packed {
    logic   restarted;  // Numbers began anew, and of the frames that the source gave these are lost: the oldest ones
    count_t lost;       // that were not acknowledged. Each may have arrived.
    logic   broken;     // The peer has acknowledged what was never sent, or has gone beyond its credit.
    logic   repeated;   // A payload had arrived before.
    logic   missed;     // One came too early: another is missing.
    logic   resent;     // One is sent again.
    logic   expired;    // Nothing was acknowledged in time.
    logic   stale;      // A segment of another life of either end came, which it did not begin,
    logic   heard;      // or one of the present lives.
    logic   unanswered; // The peer owes word, and it is asked for once more: nothing was heard in time.
  } transport_event_t;

  // -- what is known of a peer
  typedef struct packed {
    logic  on;
    tick_t at;
  } timer_t;
  // How far the peer's credit goes: whether the next number may be sent, and the one after it as well.
  typedef struct packed {
    logic next;
    logic more;
  } allowed_t;
  // What there is to say to it. This follows from the rest and is written with it: when it is read, there is no time
  // to compare.
  typedef struct packed {
    logic speaks;   // Something,
    logic calls;    // and that is: a call,
    logic resends;  // a frame again,
    logic offers;   // one for the first time,
    logic probes;   // a question for credit. Otherwise what has arrived.
    logic asks;     // An acknowledgement is wanted for that.
    logic passes;   // The next frame that is given may be sent at once.
  } say_t;

  typedef struct packed {
    // Lives.
    epoch_t mine;
    epoch_t theirs;
    logic   established;  // The peer has named our life.
    logic   hello_due;    // It has to learn our epochs.
    timer_t hello;        // It was called, and is not called again before.
    logic [2:0] answers;  // So many segments of other lives are answered at once; if none,
    timer_t answer;       // no other one before that.
    // The frames that the source gave for it: `held` of them from `slot` on. The first `flight` are sent, under the
    // numbers from `base` on; of these, those from `cursor` on have to be sent again.
    slot_t  slot;
    count_t held;
    count_t flight;
    count_t cursor;
    seq_t   base;
    seq_t   credit;       // The first number that may not be sent.
    count_t window;       // How many may be in flight now,
    count_t grown;        // and how many were acknowledged since it was set.
    timer_t timer;        // While numbers are in flight: when they are sent again. While credit is missing: when it
    logic   probe_due;    // is asked for, or that it is to be.
    logic   went_back;    // All were marked to be sent again, and `base` has not moved since.
    // What comes from it.
    seq_t   next;         // The first number missing.
    seq_t   granted;      // The first that it may not send,
    seq_t   announced;    // as far as it was announced.
    count_t unacked;      // Payloads since the last acknowledgement,
    timer_t ack;          // when that is due,
    logic   ack_due;      // or that it is,
    logic   nack_due;     // with the word that a number is missing.
    logic   nacked;       // That was said of the first number missing, or is due.
    logic   queued;       // In the queue of peers to whom there is something to say:
    say_t   say;          // this.
  } peer_t;

  // Least window after a loss, where the limit allows it.
  localparam count_t WindowMin = count_t'(4);
  // Segments of other lives that are answered at once. A reset of both ends takes two or three.
  localparam logic [2:0] AnswersMax = 3'd4;

  // `a` is less than 2^31 behind `b`.
  function automatic logic is_before(logic [31:0] a, logic [31:0] b);
    logic [31:0] ahead;
    ahead = b - a;
    return ahead != 0 && !ahead[31];
  endfunction

  // The time `at` has come.
  function automatic logic is_past(tick_t at, tick_t now);
    tick_t ahead;
    ahead = now - at;
    return !ahead[15];
  endfunction

  function automatic timer_t after(tick_t now, tick_t wait_ticks);
    return '{on: 1'b1, at: now + wait_ticks};
  endfunction

  // Numbers begin anew in both directions. What was in flight is no longer held; what waits still does.
  function automatic peer_t anew(peer_t peer, transport_config_t cfg);
    anew = peer;
    anew.slot = peer.slot + slot_t'(peer.flight);
    anew.held = peer.held - peer.flight;
    anew.flight = '0;
    anew.cursor = '0;
    anew.base = cfg.first;
    anew.credit = cfg.first + cfg.credit;
    anew.window = cfg.window;
    anew.grown = '0;
    anew.timer = '0;
    anew.probe_due = 1'b0;
    anew.went_back = 1'b0;
    anew.next = cfg.first;
    anew.granted = cfg.first + cfg.credit;
    anew.announced = cfg.first + cfg.credit;
    anew.unacked = '0;
    anew.ack = '0;
    anew.ack_due = 1'b0;
    anew.nack_due = 1'b0;
    anew.nacked = 1'b0;
  endfunction

  // A connection of which nothing was heard, whose list is empty.
  function automatic peer_t fresh(slot_t slot, epoch_t epoch, logic queued, transport_config_t cfg);
    peer_t none;
    none = '0;
    none.mine = epoch;
    none.slot = slot;
    none.queued = queued;
    none.answers = AnswersMax;
    return anew(none, cfg);
  endfunction

  // Something was lost: all that is in flight has to be sent again, and the window halves.
  function automatic peer_t gone_back(peer_t peer, tick_t now, transport_config_t cfg);
    count_t half, least;
    half = peer.window >> 1;
    least = cfg.window < WindowMin ? cfg.window : WindowMin;
    gone_back = peer;
    gone_back.cursor = '0;
    gone_back.window = half < least ? least : half;
    gone_back.grown = '0;
    gone_back.timer = after(now, cfg.rto);
    gone_back.went_back = 1'b1;
  endfunction

  // That was less than a quarter of the time-out ago: word of a loss may be of what was sent before. Nothing else has
  // set the timer since.
  function automatic logic is_just_back(peer_t peer, tick_t now, transport_config_t cfg);
    return peer.went_back && !is_past(peer.timer.at, now) &&
        peer.timer.at - now > cfg.rto - (cfg.rto >> 2);
  endfunction

  // After a window of numbers that have arrived, of which none was lost, it grows by a thirty-second of its limit.
  function automatic peer_t has_grown(peer_t peer, transport_config_t cfg);
    count_t step, left;
    step = cfg.window >> 5 == 0 ? count_t'(1) : cfg.window >> 5;
    left = cfg.window - peer.window;
    has_grown = peer;
    if (peer.grown >= peer.window) begin
      has_grown.grown = '0;
      has_grown.window = left < step ? cfg.window : peer.window + step;
    end
  endfunction

  // The owner has room for so many payloads again. Of a life that has ended it may say so too late: never is more
  // granted than it has room for at all, which is `room` more than now.
  function automatic peer_t consumed(peer_t peer, count_t count, seq_t room);
    count_t less;
    less = room[31:9] == 0 && room[8:0] < count ? room[8:0] : count;
    consumed = peer;
    consumed.granted = peer.granted + seq_t'(less);
  endfunction
  function automatic seq_t room_of(peer_t peer, seq_t credit);
    return credit - (peer.granted - peer.next);
  endfunction

  // Small steps of what is granted can wait for the next acknowledgement; a peer that waits for credit cannot.
  function automatic logic is_urgent(peer_t peer, seq_t credit);
    seq_t half;
    half = credit >> 1 == 0 ? seq_t'(1) : credit >> 1;
    return peer.established && peer.granted - peer.announced >= half;
  endfunction

  // Which times have come, and what that changes.
  typedef struct packed {
    logic timer;
    logic ack;
    logic hello;
    logic answer;
  } due_t;
  function automatic due_t due_of(peer_t peer, tick_t now);
    due_of.timer = peer.timer.on && is_past(peer.timer.at, now);
    due_of.ack = peer.ack.on && is_past(peer.ack.at, now);
    due_of.hello = peer.hello.on && is_past(peer.hello.at, now);
    due_of.answer = peer.answer.on && is_past(peer.answer.at, now);
  endfunction
  function automatic logic expires(peer_t peer, due_t due);
    return peer.flight != 0 && due.timer;
  endfunction
  function automatic logic is_unanswered(peer_t peer, due_t due);
    return due.timer || (due.hello && peer.held != 0);
  endfunction
  function automatic peer_t expired(peer_t peer, due_t due, tick_t now, transport_config_t cfg);
    expired = peer;
    if (expires(peer, due)) expired = gone_back(peer, now, cfg);
    else if (due.timer) begin
      expired.timer = '0;
      expired.probe_due = 1'b1;
    end
    if (due.ack) begin
      expired.ack = '0;
      expired.ack_due = 1'b1;
    end
    if (due.hello) expired.hello = '0;
    if (due.answer) expired.answer = '0;
  endfunction

  // A frame waits that was never sent.
  function automatic logic waits(peer_t peer);
    return peer.held != peer.flight;
  endfunction

  function automatic allowed_t allowed_by(peer_t peer);
    seq_t ahead;
    ahead = peer.credit - (peer.base + 32'(peer.flight));
    return '{next: !ahead[31] && ahead != 0, more: !ahead[31] && ahead[31:1] != 0};
  endfunction

  // Nothing in flight will bring news of the credit that is missing.
  function automatic logic is_blocked(peer_t peer, allowed_t allowed);
    return peer.established && waits(peer) && peer.flight == 0 && !allowed.next;
  endfunction

  // The time after which it is asked for.
  function automatic peer_t settled(peer_t peer, allowed_t allowed, tick_t now, tick_t rto);
    settled = peer;
    if (is_blocked(peer, allowed) && !peer.timer.on && !peer.probe_due)
      settled.timer = after(now, rto);
  endfunction

  function automatic say_t say_of(peer_t peer, allowed_t allowed);
    logic may;
    count_t after_it;
    after_it = peer.cursor + 1'b1;
    may = peer.established && !peer.nack_due && peer.cursor == peer.flight && peer.flight < peer.window &&
        allowed.next;
    say_of.calls = !peer.established && peer.held != 0 && !peer.hello.on;
    say_of.resends = peer.established && !peer.nack_due && peer.cursor != peer.flight;
    say_of.offers = may && waits(peer);
    say_of.passes = may && !waits(peer);
    say_of.probes = !peer.nack_due && is_blocked(peer, allowed) && peer.probe_due;
    say_of.speaks = say_of.calls || say_of.resends || say_of.offers || say_of.probes || peer.hello_due ||
        (peer.established && (peer.ack_due || peer.nack_due));
    // Where we stop sending, the peer must not wait for more before it acknowledges.
    if (say_of.resends) say_of.asks = after_it == peer.flight;
    else if (say_of.offers)
      say_of.asks = peer.held == after_it || after_it == peer.window || !allowed.more;
    else say_of.asks = say_of.calls || say_of.probes;
  endfunction

  // Something is to be said to it, or will be when its time comes, unless word comes from it before.
  function automatic logic stirs(peer_t peer);
    return peer.queued || peer.held != 0 || peer.timer.on || peer.ack.on;
  endfunction

  // An arrival beside what is known: its lives,
  typedef struct packed {
    logic   known;     // It names a life of its sender's,
    logic   named;     // and the present one of ours,
    logic   later;     // or a later one of ours.
    logic   same;      // Its sender's life is the one that we know,
    logic   older;     // one before it,
    logic   newer;     // or the newest that was heard of.
    // and its numbers.
    logic   past;      // What it acknowledges is before the oldest in flight,
    logic   distant;   // and this far from it: more than there can be in flight,
    count_t acked;     // or so many, modulo their width.
    logic   raises;    // It gives more credit.
    logic   ungranted; // Its own number is beyond its credit;
    logic   next;      // or is the first one missing,
    logic   early;     // or a later one.
    logic   just_back; // All has been sent again lately.
  } compared_t;
  function automatic compared_t compared(peer_t peer, segment_t segment, tick_t now,
                                         transport_config_t cfg);
    seq_t ahead, acked, newer_by;
    newer_by = segment.src - peer.theirs;
    compared.known = segment.src != 0;
    compared.named = segment.dst == peer.mine;
    compared.later = segment.dst != 0 && is_before(peer.mine, segment.dst);
    compared.same = newer_by == 0;
    compared.older = newer_by[31] && newer_by[30:0] != 0;
    compared.newer = peer.theirs == 0 || (!newer_by[31] && newer_by != 0);
    acked = segment.ack - peer.base;
    compared.past = acked[31];
    compared.distant = acked[30:9] != 0;
    compared.acked = acked[8:0];
    compared.raises = is_before(peer.credit, segment.limit);
    compared.ungranted = !is_before(segment.seq, peer.granted);
    ahead = segment.seq - peer.next;
    compared.next = ahead == 0;
    compared.early = ahead != 0 && !ahead[31];
    compared.just_back = is_just_back(peer, now, cfg);
  endfunction

  // What an arrival is.
  typedef struct packed {
    logic   restarts;  // The first one of a new life of the peer's,
    logic   moved;     // or numbers begin anew for another reason.
    logic   takes;     // It is of the present lives, and possible:
    count_t acked;     // it acknowledges so many numbers,
    logic   nacks;     // and says that the next one is missing,
    logic   raises;    // and gives more credit.
    logic   data;      // It brings a payload,
    logic   next;      // which is the first one missing,
    logic   early;     // or a later one.
    logic   just_back;
  } verdict_t;
endpackage : rl_transport_pkg
// verilator lint_on UNUSEDSIGNAL
// verilator lint_on UNUSEDPARAM
