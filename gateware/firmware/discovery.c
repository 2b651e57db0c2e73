#include "discovery.h"

#include "arith.h"
#include "card.h"
#include "clock.h"
#include "counters.h"
#include "frame.h"
#include "keys.h"
#include "link.h"
#include "random.h"
#include "role.h"
#include "session.h"
#include "versions.h"

// The slot of the transmit buffer that holds the template, of which the hardware makes answers to solicitations.
#define TEMPLATE 2u
// Hosts whose solicitations wait for their answer at the same time; with one more, the first of them is answered at
// once.
#define SOLICITORS_MAX 4u
// Announcements of the link's coming up: the first may meet a switch port that does not forward yet.
#define LINK_UPS 3u

// Longest mean interval of periodic announcements, milliseconds: 5/4 of it is within the clock's reach.
#define INTERVAL_MS_MAX 800000u

// An answer that waits for its random moment.
struct answer {
  struct mac to;
  uint32_t seq;
  uint32_t due;
};

static uint32_t link_ups;  // Announcements sent of the link's coming up.
static bool met;           // There was a link.
static uint32_t reason;    // Why it has come up.
static uint32_t up_at;
static uint32_t periodic_at;
static bool changed;
static bool role_failed;
static uint32_t seq;
static struct answer answers[SOLICITORS_MAX];
static uint32_t waiting;
static uint32_t told;  // The state that the template tells.
// Rates as announcements have them: the products take the processor long.
static uint64_t port_rate;
static uint64_t stage_rate;
static uint64_t config_rate;

static uint32_t place;  // The slot in which an announcement is being written.

#ifdef RL_KEYS
static uint32_t from;  // The payload's word with which it begins.
#else
#define from 0u
#endif

static void set(uint32_t word, uint32_t value) {
  WRITE(TX_WORD(place, PAYLOAD_WORD + from + word), value);
}

static void set_long(uint32_t word, uint64_t value) {
  set(word, (uint32_t)(value >> 32));
  set(word + 1, (uint32_t)value);
}

// What the card asks of hosts and images.
static uint32_t asks(void) {
#ifdef RL_KEYS
  return (ASKS_KEY | (signers_count() != 0 ? ASKS_SIGNATURE : 0)) << ANNOUNCE_ASKS_SHIFT;
#else
  return 0;
#endif
}

// Writes who the card is and what it holds into a slot, as an announcement's payload.
static void describe(uint32_t slot, uint32_t reason) {
  struct mac card = {READ(CSR_MAC_HI), READ(CSR_MAC_LO)};
  struct mac other = {READ(CSR_MAC1_HI), READ(CSR_MAC1_LO)};
  uint32_t about = READ(CSR_CARD);
  uint32_t kind = about & (CARD_UNIT_MASK << CARD_UNIT_SHIFT | CARD_KIND_MASK << CARD_KIND_SHIFT);
  place = slot;
  set(ANNOUNCE_MAC0_WORD, card.hi << 16 | card.lo >> 16);
  set(ANNOUNCE_MAC0_WORD + 1, card.lo << 16 | other.hi);
  set(ANNOUNCE_MAC1_WORD + 1, other.lo);
  set(ANNOUNCE_VENDOR_WORD, READ(CSR_PRODUCT));
  set(ANNOUNCE_STATE_WORD, kind | told);
  uint32_t ports = (about & CARD_PORTS_MASK) << ANNOUNCE_PORTS_SHIFT;
  set(ANNOUNCE_REASON_WORD, reason << ANNOUNCE_REASON_SHIFT | ports | (READ(CSR_LIMITS) & LIMITS_BULK_MASK));
  set(ANNOUNCE_BOOT_WORD, READ(CSR_BOOT));
  set_long(ANNOUNCE_MEMORY_WORD, (uint64_t)READ(CSR_MEMORY) << 16);
  set(ANNOUNCE_CLOCK_KHZ_WORD, role_clock_khz());
  set_long(ANNOUNCE_PORT_RATE_WORD, port_rate);
  set_long(ANNOUNCE_STAGE_RATE_WORD, stage_rate);
  set_long(ANNOUNCE_CONFIG_RATE_WORD, config_rate);
  set(ANNOUNCE_OWNER_WORD, claim.owner.hi << 16 | claim.owner.lo >> 16);
  set(ANNOUNCE_KERNELS_WORD, claim.owner.lo << 16 | asks() | role_kernels());
  for (uint32_t i = 0; i < ANNOUNCE_DIGEST_WORDS; i++) set(ANNOUNCE_DIGEST_WORD + i, role_digest(i));
}

#ifdef RL_KEYS
void discovery_describe(uint32_t slot, uint32_t word) {
  from = word;
  describe(slot, ANNOUNCE_REASON_CHANGED);
  from = 0;
}
#endif

// The hardware sends no template until the card's state is published again.
static void stop_answers(void) {
  card_answer_slowly();
  while (READ(CSR_TX_BUSY) & TX_BUSY_ANSWER) {
  }
}

static void update_template(void) {
  stop_answers();
  WRITE(TX_WORD(TEMPLATE, HEADER_SRC_WORD), READ(CSR_MAC_HI));
  WRITE(TX_WORD(TEMPLATE, HEADER_SRC_WORD + 1), READ(CSR_MAC_LO));
  WRITE(TX_WORD(TEMPLATE, KIND_WORD), KIND_DISCOVERY_ANNOUNCE | VERSION_PLACED);
  WRITE(TX_WORD(TEMPLATE, HEADER_LENGTH_WORD), 4 * ANNOUNCE_WORDS << HEADER_LENGTH_SHIFT | claim.epoch);
  WRITE(TX_WORD(TEMPLATE, HEADER_ADDR_WORD), 0);
  WRITE(TX_WORD(TEMPLATE, HEADER_ADDR_WORD + 1), 0);
  describe(TEMPLATE, ANNOUNCE_REASON_SOLICITED);
  card_publish();
}

static void announce(const struct mac *to, uint32_t number, uint32_t reason) {
  frame_open(to, KIND_DISCOVERY_ANNOUNCE, claim.epoch, number);
  describe(frame_slot(), reason);
  frame_send_bytes(4 * ANNOUNCE_WORDS);
  count(COUNTER_ANNOUNCES);
}

static void tell_all(uint32_t reason) {
  static const struct mac hosts = {HOSTS_HI, HOSTS_LO};
  announce(&hosts, ++seq, reason);
  if (keys_witness() != 0) announce(keys_witness(), seq, reason);
}

static void draw_interval(void) {
  // From 3/4 to 5/4 of the mean: cards that were switched on together do not stay in step.
  uint32_t ms = READ(CSR_ANNOUNCE_INTERVAL);
  if (ms > INTERVAL_MS_MAX) ms = INTERVAL_MS_MAX;
  uint32_t half = (uint32_t)arith_times(ms, 500);
  periodic_at = now + half + half / 2 + random_below(half + 1);
}

#ifdef RL_KEYS
static void goodbye(const struct mac *to) {
  frame_open(to, KIND_DISCOVERY_GOODBYE, 0, 0);
  frame_send();
}

void discovery_goodbye(const struct mac *owner) {
  static const struct mac hosts = {HOSTS_HI, HOSTS_LO};
  // An answer after it would bring the card back.
  stop_answers();
  waiting = 0;
  if (owner->hi | owner->lo) goodbye(owner);
  goodbye(&hosts);
}

void discovery_return(void) {
  // That moment is long past, maybe by more than the clock's reach.
  draw_interval();
  // Where it was never there before, it tells of its link.
  if (link_ups == 0) {
    up_at = now;
  } else {
    changed = true;
  }
}
#endif

// Why the card says now that it is there.
static uint32_t link_up_reason(void) {
  uint32_t restarts = READ(CSR_RESTARTS);
  if (met || !(restarts & RESTARTS_COUNT_MASK)) return ANNOUNCE_REASON_LINK_UP;
  return restarts & RESTARTS_MEMORY ? ANNOUNCE_REASON_MEMORY_FAILED : ANNOUNCE_REASON_RESTARTED;
}

// Tells of the link from now on.
static void link_begins(void) {
  port_rate = arith_times(READ(CSR_PORT_RATE), 1000000);
  reason = link_up_reason();
  met = true;
  link_ups = 0;
  up_at = now;
}

void discovery_start(void) {
  link_start();
  link_ups = LINK_UPS;
  port_rate = arith_times(READ(CSR_PORT_RATE), 1000000);
  if (link_up()) link_begins();
  stage_rate = arith_times(READ(CSR_STAGE_RATE), 1000);
  config_rate = arith_times(READ(CSR_CONFIG_RATE), 1000);
  update_template();
  draw_interval();
}

void discovery_change(void) {
  changed = true;
}

void discovery_role_failed(void) {
  role_failed = true;
}

bool discovery_idle(void) {
  return waiting == 0;
}

// Answers one of those who wait, and gives its place back.
static void answer(uint32_t i) {
  announce(&answers[i].to, answers[i].seq, ANNOUNCE_REASON_SOLICITED);
  waiting--;
  for (; i < waiting; i++) answers[i] = answers[i + 1];
}

void discovery_solicit(void) {
  for (uint32_t i = 0; i < waiting; i++) {
    if (mac_same(&answers[i].to, &asked.src)) {
      // The answer that is due anyway answers both.
      answers[i].seq = asked.seq;
      return;
    }
  }
  // Whoever asked first is answered now: strangers cannot keep a place from who asks.
  if (waiting == SOLICITORS_MAX) answer(0);
  struct answer *last = &answers[waiting++];
  last->to = asked.src;
  last->seq = asked.seq;
  last->due = clock_within(ASKED(SOLICIT_WINDOW_US));
}

// True when it is time to tell of the link once more. A card that was asleep through several of these moments speaks
// once.
static bool link_up_due(void) {
  static const uint32_t after[LINK_UPS] = {0, 50000, 200000};
  bool due = false;
  while (link_ups < LINK_UPS && clock_due(up_at + after[link_ups])) {
    link_ups++;
    due = true;
  }
  return due;
}

static void answer_due(void) {
  uint32_t i = 0;
  while (i < waiting) {
    if (clock_due(answers[i].due)) {
      answer(i);
    } else {
      i++;
    }
  }
}

void discovery_turn(void) {
  uint32_t state = card_state();
  bool came_up = link_came_up();
  if (came_up) link_begins();
  if (changed || came_up || state != told) {
    told = state;
    update_template();
  }
  if (link_up_due()) tell_all(reason);
  if (changed) {
    changed = false;
    tell_all(ANNOUNCE_REASON_CHANGED);
  }
  if (role_failed) {
    role_failed = false;
    tell_all(ANNOUNCE_REASON_ROLE_FAILED);
  }
  if (clock_due(periodic_at)) {
    draw_interval();
    clock_due(periodic_at);
    tell_all(ANNOUNCE_REASON_PERIODIC);
  }
  answer_due();
}
