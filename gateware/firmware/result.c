#include "result.h"

#include "admit.h"
#include "arith.h"
#include "clock.h"
#include "counters.h"
#include "frame.h"
#include "launch.h"
#include "memory.h"
#include "session.h"

// Longest time between two resends, microseconds: a host that comes back within its lease waits no longer for its data.
#define RESEND_MAX 500000u

// What is done before the next frame of a result is sent.
#define BEFORE_RESULTS (EVENTS_CONTROL | EVENTS_ACK_DUE | EVENTS_LAUNCH_ENDED)

// What Done tells of the kernel: value, cycles, and when it started and ended, in this order.
#define FACTS 4u

// A finished launch and how far its output has got.
struct outcome {
  uint32_t seq;
  uint32_t status;
  uint64_t facts[FACTS];
  uint32_t chunks;
  uint64_t out_addr;
  uint32_t tail;  // Bytes of the last chunk.
  bool done_due;
  bool done_sent;
  bool done_acked;
  uint32_t next;                     // What the host has: all below this,
  uint32_t bits[ACK_BITMAP_WORDS];   // and next + 1 + i for bit i.
  uint32_t limit;                    // Chunks below this may be sent.
  uint32_t sent;                     // Chunks below this have been sent.
  uint32_t resend_from, resend_end;  // To be sent again, as far as the host lacks them.
  uint32_t mended;                   // Below this sent again since the timer last fired: later ones had arrived.
  uint32_t timer;
  uint32_t patience;
};

static struct outcome outcomes[RESULTS_KEPT];
// In the order in which the launches ended; then those that are free.
static struct outcome *order[RESULTS_KEPT];
static uint32_t kept;
// The one whose chunk is next, so that a long output does not hold up a short one.
static uint32_t turn;

uint32_t result_kept(void) {
  return kept;
}

void result_forget(void) {
  for (uint32_t i = 0; i < RESULTS_KEPT; i++) order[i] = &outcomes[i];
  turn = 0;
  kept = 0;
  launch_bound();
}

// Starts the clock of its resends.
static void wind(struct outcome *outcome) {
  outcome->timer = now + outcome->patience;
}

// Keeps the outcome of a kernel that has not run.
static struct outcome *push(uint32_t seq, uint32_t status, uint32_t credit, uint64_t length) {
  struct outcome *outcome = order[kept];
  uint32_t bulk = claim.bulk;
  uint32_t chunks = (uint32_t)arith_parts(length, bulk);
  kept++;
  outcome->seq = seq;
  outcome->status = status;
  outcome->facts[0] = 0;
  outcome->facts[1] = 0;
  outcome->facts[2] = clock_ns(now);
  outcome->facts[3] = outcome->facts[2];
  outcome->chunks = chunks;
  outcome->tail = (uint32_t)(length - arith_times(bulk, chunks)) + bulk;
  outcome->done_due = true;
  outcome->done_sent = false;
  outcome->done_acked = false;
  outcome->next = 0;
  for (uint32_t i = 0; i < ACK_BITMAP_WORDS; i++) outcome->bits[i] = 0;
  outcome->limit = credit < chunks ? credit : chunks;
  outcome->sent = 0;
  outcome->resend_from = outcome->resend_end = 0;
  outcome->mended = 0;
  outcome->patience = READ(CSR_RESEND);
  wind(outcome);
  return outcome;
}

static uint64_t slot_long(uint32_t slot, uint32_t word) {
  return (uint64_t)READ(LAUNCH_WORD(slot, word)) << 32 | READ(LAUNCH_WORD(slot, word + 1));
}

void result_push(uint32_t slot, uint32_t status, bool ran) {
  uint64_t length = status == ERROR_CODE_OK ? slot_long(slot, LAUNCH_SLOT_OUT_LENGTH) : 0;
  uint32_t credit = READ(LAUNCH_WORD(slot, LAUNCH_SLOT_CREDIT_ARGS)) >> 16;
  struct outcome *outcome = push(READ(LAUNCH_WORD(slot, LAUNCH_SLOT_SEQ)), status, credit, length);
  outcome->out_addr = slot_long(slot, LAUNCH_SLOT_OUT_ADDR);
  if (!ran) return;
  outcome->facts[0] = (uint64_t)READ(CSR_LCH_VALUE_HI) << 32 | READ(CSR_LCH_VALUE_LO);
  outcome->facts[1] = (uint64_t)READ(CSR_LCH_CYCLES_HI) << 32 | READ(CSR_LCH_CYCLES_LO);
  // It has just ended, but may have started more than 2^31 microseconds ago.
  uint32_t at = READ(CSR_LCH_ENDED_US);
  outcome->facts[3] = clock_ns(at);
  outcome->facts[2] = outcome->facts[3] - arith_times(at - READ(CSR_LCH_STARTED_US), 1000);
  count_by(COUNTER_KERNEL_CYCLES, outcome->facts[1]);
}

#ifdef RL_LINKS
void result_push_program(uint32_t seq, uint32_t status, uint32_t credit, uint64_t report_at, uint32_t length,
                         uint32_t cause, uint32_t took_us) {
  struct outcome *outcome = push(seq, status, credit, length);
  outcome->out_addr = report_at;
  outcome->facts[0] = cause;
  outcome->facts[2] = outcome->facts[3] - arith_times(took_us, 1000);
}
#endif

void result_push_rejected(uint32_t seq, uint32_t status) {
  push(seq, status, 0, 0);
}

// The outcome of this launch is the `kept`th if it is not there.
static uint32_t position(uint32_t seq) {
  uint32_t at = 0;
  while (at < kept && order[at]->seq != seq) at++;
  return at;
}

bool result_repeat(uint32_t seq) {
  uint32_t at = position(seq);
  if (at == kept) return false;
  order[at]->done_due = true;
  return true;
}

static bool has(const struct outcome *outcome, uint32_t n) {
  // Numbers below `next` give a difference that is no bit's.
  uint32_t bit = n - outcome->next - 1;
  if (n < outcome->next) return true;
  return bit < SACK_BITS && (outcome->bits[bit / 32] >> bit % 32 & 1) != 0;
}

// Chunks below the highest one that arrived were lost, most likely: each is sent again once, at once.
static void mend(struct outcome *outcome) {
  uint32_t highest = outcome->sent;
  uint32_t told = outcome->next + SACK_BITS;
  if (highest > told) highest = told + 1;
  while (highest > outcome->next && !has(outcome, highest - 1)) highest--;
  if (highest <= outcome->next) return;
  highest--;
  uint32_t from = outcome->next > outcome->mended ? outcome->next : outcome->mended;
  if (highest <= from) return;
  if (outcome->resend_from >= outcome->resend_end) {
    outcome->resend_from = from;
    outcome->resend_end = highest;
  } else {
    if (from < outcome->resend_from) outcome->resend_from = from;
    if (highest > outcome->resend_end) outcome->resend_end = highest;
  }
  outcome->mended = highest;
}

static void note(struct outcome *outcome, uint32_t next, bool done) {
  bool progress = next > outcome->next || (done && !outcome->done_acked);
  uint32_t limit = ASKED(RESULT_ACK_LIMIT);
  if (limit > outcome->chunks) limit = outcome->chunks;
  if (limit > outcome->limit) outcome->limit = limit;
  if (done) outcome->done_acked = true;
  // An acknowledgement that was overtaken; a newer one has told more.
  if (next < outcome->next) return;
  outcome->next = next;
  for (uint32_t i = 0; i < ACK_BITMAP_WORDS; i++) {
    outcome->bits[i] = arith_reversed(asked_word(RESULT_ACK_BITMAP_WORD + i));
  }
  // A host may say that it has what was never sent; then it need not be sent.
  if (outcome->sent < next) outcome->sent = next;
  if (progress) {
    outcome->patience = READ(CSR_RESEND);
    wind(outcome);
  }
  mend(outcome);
}

// Takes the outcome at this position out; its place is free.
static void drop(uint32_t at) {
  struct outcome *outcome = order[at];
  kept--;
  launch_bound();
  for (uint32_t i = at; i < kept; i++) order[i] = order[i + 1];
  order[kept] = outcome;
  if (turn > at) turn--;
  if (turn >= kept) turn = 0;
}

void result_acknowledge(void) {
  if (!admitted(CLAIM_OF_EXEC_RESULT_ACK)) return count(COUNTER_DROP_EPOCH);
  session_renew();
  uint32_t at = position(asked.seq);
  if (at == kept) return count(COUNTER_DROP_DUPLICATE);
  struct outcome *outcome = order[at];
  uint32_t next = ASKED(RESULT_ACK_NEXT);
  uint32_t done = ASKED(RESULT_ACK_DONE);
  if (next > outcome->chunks || done > 1) return count(COUNTER_DROP_MALFORMED);
  note(outcome, next, done == 1);
  if (outcome->done_acked && outcome->next == outcome->chunks) drop(at);
}

void result_turn(void) {
  for (uint32_t i = 0; i < kept; i++) {
    struct outcome *outcome = order[i];
    if (!clock_due(outcome->timer)) continue;
    // Nothing was heard for too long: all that is not acknowledged goes out again. If nothing is, because the host
    // gives no credit, Done asks for news.
    outcome->resend_from = outcome->next;
    outcome->resend_end = outcome->sent;
    outcome->mended = outcome->sent;
    if (!outcome->done_acked || outcome->next == outcome->sent) outcome->done_due = true;
    outcome->patience *= 2;
    if (outcome->patience > RESEND_MAX) outcome->patience = RESEND_MAX;
    wind(outcome);
    clock_due(outcome->timer);
  }
}

static void send_done(struct outcome *outcome) {
  uint32_t kind = KIND_RESULT_DONE;
  if (outcome->done_sent) {
    kind |= FLAG_RESEND;
    count(COUNTER_RESULT_RESENDS);
  }
  outcome->done_due = false;
  outcome->done_sent = true;
  wind(outcome);
  frame_open(&claim.owner, kind, claim.epoch, outcome->seq);
  frame_put(outcome->status << DONE_STATUS_SHIFT | claim.bulk);
  frame_put(outcome->chunks);
  for (uint32_t i = 0; i < FACTS; i++) frame_put_long(outcome->facts[i]);
  frame_send();
}

static void send_chunk(struct outcome *outcome, uint32_t n, bool again) {
  count(again ? COUNTER_RESULT_RESENDS : COUNTER_RESULT_CHUNKS);
  wind(outcome);
  uint32_t bulk = claim.bulk;
  uint64_t offset = arith_times(n, bulk / BEAT) * BEAT;
  uint32_t kind = again ? KIND_RESULT_DATA | FLAG_RESEND : KIND_RESULT_DATA;
  uint32_t length = n + 1 == outcome->chunks ? outcome->tail : bulk;
  memory_send(kind, outcome->seq, offset, outcome->out_addr + offset, length);
}

// Sends the next chunk of this outcome; false if there is none to send.
static bool send_next(struct outcome *outcome) {
  while (outcome->resend_from < outcome->resend_end) {
    uint32_t n = outcome->resend_from++;
    if (!has(outcome, n)) {
      send_chunk(outcome, n, true);
      return true;
    }
  }
  // No further than the host's bitmap can tell of.
  uint32_t end = outcome->next + SACK_BITS;
  if (end > outcome->limit) end = outcome->limit;
  while (outcome->sent < end) {
    uint32_t n = outcome->sent++;
    if (!has(outcome, n)) {
      send_chunk(outcome, n, false);
      return true;
    }
  }
  return false;
}

// Sends the first Done that is due; false if none is.
static bool transmit_done(void) {
  for (uint32_t i = 0; i < kept; i++) {
    if (!order[i]->done_due) continue;
    send_done(order[i]);
    return true;
  }
  return false;
}

// Sends the next chunk of the outcome whose turn it is, or of the next that has one.
static bool transmit_chunk(void) {
  for (uint32_t i = 0; i < kept; i++) {
    uint32_t at = turn;
    turn = at + 1 < kept ? at + 1 : 0;
    if (send_next(order[at])) return true;
  }
  return false;
}

bool result_transmit(void) {
  while (kept != 0) {
    // Fetches are soon done: it is not worth sleeping.
    if (!(READ(CSR_FET_GO) & FET_GO_ROOM) || (READ(CSR_EVENTS) & BEFORE_RESULTS)) return true;
    if (!transmit_done() && !transmit_chunk()) return false;
  }
  return false;
}
