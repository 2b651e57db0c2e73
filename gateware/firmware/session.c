#include "session.h"

#include "arith.h"
#include "card.h"
#include "clock.h"
#include "counters.h"
#include "keys.h"
#include "launch.h"
#include "memory.h"
#include "random.h"

// Shortest lease: a few times the silence of a busy host.
#define LEASE_MS_MIN 100u
// Epochs that a host may have held since a card it knows was restarted.
#define EPOCH_NEAR 256u
// Claims that have ended, whose late copies get nobody the card any more: docs/src/concepts/claims.md promises them.
#define SPENT_MAX 32u
// Frames that the ring holds at most: Frames of rl_control_ring.
#define RING_FRAMES_MAX 32u
// A processor that wakes later than this after its alarm was not running: the gateware is simulated, and its host busy.
#define LATE_US 1000u

struct claim claim;

// What waits for memory to be zeroed: whoever has given the card back, whoever has asked for it, or both, in this order.
// Nobody has the card until then. No owner: nobody waits.
static struct {
  bool lasts;
  struct mac leaver;
  uint32_t leaver_epoch;
  uint32_t leaver_seq;
  struct claim next;  // Its epoch is the one that the host has held.
  uint32_t next_seq;
} zeroing;

static uint32_t renewed;   // When the owner was last heard.
static uint32_t heard;     // The fast paths' moment of that, as last seen.
static uint32_t overtime;  // Frames read since the lease has run out.
static uint16_t newest;    // The newest epoch granted, or the random number before the first.

static uint32_t spent[SPENT_MAX];
static uint32_t spent_next;

// The last release, if it has zeroed memory: its answer may have been lost. No owner: none.
static struct {
  struct mac owner;
  uint32_t epoch;
} released;

static const struct mac nobody;

void session_start(void) {
  // Random: frames of the card's last boot that are still under way have another epoch, most likely.
  newest = (uint16_t)random_below(1u << 16);
}

bool session_claimed(void) {
  // A granted epoch is never 0.
  return claim.epoch != 0;
}

bool session_owns(void) {
  return session_claimed() && mac_same(&claim.owner, &asked.src);
}

bool session_holds(void) {
  return session_owns() && claim.epoch == asked.epoch;
}

void session_renew(void) {
  renewed = now;
}

bool session_fresh(bool is_admitted, uint32_t refusal) {
  if (is_admitted) {
    session_renew();
  } else {
    count(COUNTER_DROP_EPOCH);
    frame_refuse(refusal, ERROR_CODE_STALE_EPOCH, 0, claim.epoch);
  }
  return is_admitted;
}

// When the lease ends.
static uint32_t expires(void) {
  uint32_t last = READ(CSR_HEARD);
  if (last != heard) {
    heard = last;
    if ((int32_t)(last - renewed) > 0) renewed = last;
  }
  return renewed + (uint32_t)arith_times(claim.lease_ms, 1000);
}

// What is remembered of a claim that has ended. Another claim has the same mark, or that of none, once in 2^32 times: it
// is then refused as a late copy, and its host asks with another nonce.
static uint32_t mark(const struct mac *owner, uint64_t nonce) {
  return (uint32_t)nonce ^ owner->lo;
}

// From now on this nonce cannot claim the card.
static void spend(const struct claim *of) {
  spent[spent_next] = mark(&of->owner, of->nonce);
  spent_next = (spent_next + 1) % SPENT_MAX;
}

// Its nonce can no longer claim the card, also where the lease has run out. A host that was cut off for longer asks with
// a new one.
void session_end(void) {
  if (!session_claimed()) return;
  spend(&claim);
  keys_end();
  claim.epoch = 0;
  claim.group = 0;
  claim.owner.hi = 0;
  claim.owner.lo = 0;
  card_end_claim();
}

void session_expire(bool was_busy) {
  uint32_t at = expires();
  if (!session_claimed() || !clock_due(at)) {
    overtime = 0;
    return;
  }
  // A processor that slept had read all, and wakes in time: what waits came when the lease was over. But one that was
  // busy, or late, may have a frame waiting that the owner sent in time. Then the lease goes on until the ring is empty,
  // or until as many frames have been read as it holds: the others came later, and nobody keeps an absent owner's claim
  // alive by sending on and on.
  bool unread = frame_waits() && (was_busy || now - at > LATE_US);
  if (unread && overtime < RING_FRAMES_MAX) {
    overtime++;
    return;
  }
  count(COUNTER_LEASES_EXPIRED);
  session_end();
}

// Microseconds of the lease that are left.
static uint32_t left(void) {
  uint32_t at = expires();
  return clock_due(at) ? 0 : at - now;
}

// The next epoch, which is none that the host remembers: after a restart of the card, `theirs` may lie just ahead.
static uint16_t epoch_after(uint16_t theirs) {
  uint16_t next = (uint16_t)(newest + 1);
  if (theirs != 0 && (uint16_t)(theirs - next) < EPOCH_NEAR) next = (uint16_t)(theirs + 1);
  return next == 0 ? 1 : next;
}

static bool is_spent(uint64_t nonce) {
  uint32_t wanted = mark(&asked.src, nonce);
  for (uint32_t i = 0; i < SPENT_MAX; i++) {
    if (spent[i] == wanted) return true;
  }
  return false;
}

static void refuse(uint32_t code, const struct mac *holder, uint64_t detail) {
  frame_refuse(KIND_SESSION_REFUSE, code, holder, detail);
}

static bool waits(const struct mac *host) {
  return (host->hi | host->lo) != 0;
}

static void grant(uint32_t number) {
  session_renew();
  frame_open(&claim.owner, KIND_SESSION_GRANT, claim.epoch, number);
  frame_put_long(claim.nonce);
  frame_put(claim.lease_ms);
  frame_put(READ(CSR_BOOT));
  keys_prove();
}

// Whoever waits for the card gets it.
static void take(void) {
  newest = epoch_after((uint16_t)zeroing.next.epoch);
  claim.owner = zeroing.next.owner;
  claim.epoch = newest;
  claim.group = zeroing.next.group;
  claim.nonce = zeroing.next.nonce;
  claim.lease_ms = zeroing.next.lease_ms;
  zeroing.next.owner = nobody;
  heard = READ(CSR_HEARD);
  count(COUNTER_CLAIMS);
  keys_begin();
  card_begin_claim();
  grant(zeroing.next_seq);
}

static void zero(void) {
  zeroing.lasts = true;
  memory_scrub();
}

void session_claim(void) {
  struct claim *next = &zeroing.next;
  // Whatever needs memory would wait for ever.
  if (card_faulty()) return refuse(ERROR_CODE_MEMORY_FAULT, 0, 0);
  uint64_t nonce = ASKED_LONG(CLAIM_NONCE);
  uint32_t lease_ms = ASKED(CLAIM_LEASE_MS);
  uint32_t scrub = ASKED(CLAIM_SCRUB);
  if (lease_ms < LEASE_MS_MIN) return refuse(ERROR_CODE_BAD_REQUEST, 0, LEASE_MS_MIN);
  if (lease_ms > LEASE_MS_MAX) return refuse(ERROR_CODE_BAD_REQUEST, 0, LEASE_MS_MAX);
  if (scrub > SCRUB_ZERO) return refuse(ERROR_CODE_BAD_REQUEST, 0, SCRUB_ZERO);
  if (session_claimed() && !session_owns()) {
    return refuse(ERROR_CODE_CLAIMED, &claim.owner, arith_parts(left(), 1000));
  }
  bool is_next = waits(&next->owner);
  if (is_next && !mac_same(&next->owner, &asked.src)) return refuse(ERROR_CODE_CLAIMED, &next->owner, next->lease_ms);
  if (session_claimed() && claim.nonce == nonce) return grant(asked.seq);
  if (!is_next || next->nonce != nonce) {
    // A late copy of a claim that has ended would rob its own host of the next one, or take the card for nobody.
    if (is_spent(nonce)) return refuse(ERROR_CODE_STALE_EPOCH, 0, 0);
    session_end();
    if (is_next) spend(next);
    next->owner = asked.src;
    next->epoch = asked.epoch;
    next->group = ASKED(CLAIM_GROUP);
    next->nonce = nonce;
    next->lease_ms = lease_ms;
    // Nobody holds the card now, so nothing is sent by this before it is taken.
    uint32_t beats = ASKED(CLAIM_BEATS);
    uint32_t bulk = memory_bulk() - KEYS_ROOM;
    if (beats == 0) beats = BULK_STANDARD / BEAT;
    claim.bulk = beats * BEAT < bulk ? beats * BEAT : bulk;
    // Memory that is being zeroed is nobody's: it need not be zeroed twice.
    if (scrub == SCRUB_ZERO && !zeroing.lasts) zero();
  }
  zeroing.next_seq = asked.seq;
  if (!zeroing.lasts) take();
}

static void tell_released(const struct mac *owner, uint32_t epoch, uint32_t number) {
  frame_open(owner, KIND_SESSION_RELEASED, epoch, number);
  frame_send();
}

void session_release(void) {
  uint32_t scrub = ASKED(RELEASE_SCRUB);
  if (scrub > SCRUB_ZERO) return refuse(ERROR_CODE_BAD_REQUEST, 0, SCRUB_ZERO);
  if (session_holds()) {
    session_end();
    if (scrub == SCRUB_ZERO) {
      zero();
      zeroing.leaver = asked.src;
      zeroing.leaver_epoch = asked.epoch;
      zeroing.leaver_seq = asked.seq;
      return;
    }
    released.owner = nobody;
  } else if (scrub == SCRUB_ZERO) {
    if (mac_same(&zeroing.leaver, &asked.src) && zeroing.leaver_epoch == asked.epoch) {
      zeroing.leaver_seq = asked.seq;
      return;
    }
    bool again = mac_same(&released.owner, &asked.src) && released.epoch == asked.epoch;
    // The lease had run out before. Who asks for zeroed memory must not believe that it was.
    if (!again) return refuse(ERROR_CODE_STALE_EPOCH, 0, 0);
  }
  tell_released(&asked.src, asked.epoch, asked.seq);
}

void session_turn(uint32_t events) {
  if (!zeroing.lasts || !(events & EVENTS_SCRUB_DONE)) return;
  zeroing.lasts = false;
  if (waits(&zeroing.leaver)) {
    released.owner = zeroing.leaver;
    released.epoch = zeroing.leaver_epoch;
    tell_released(&released.owner, released.epoch, zeroing.leaver_seq);
    zeroing.leaver = nobody;
  }
  // While it waited its key may have been revoked.
  if (!keys_may_own(&zeroing.next.owner)) zeroing.next.owner = nobody;
  if (waits(&zeroing.next.owner)) take();
}

void session_ping(void) {
  if (session_holds() && keys_proven()) session_renew();
  frame_answer(KIND_SESSION_PONG, claim.epoch);
  frame_put(READ(CSR_BOOT));
  frame_put(card_state() << PONG_STATE_SHIFT | launch_queued() << PONG_QUEUED_SHIFT);
  frame_put_long(clock_ns(now));
  frame_send();
}
