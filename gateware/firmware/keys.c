#include "keys.h"

#include "counters.h"
#include "discovery.h"
#include "hosts.h"
#include "hw.h"
#include "random.h"
#include "session.h"
#include "vault.h"

// The first byte of the address of a host with a key.
#define HOST_FIRST 0x06u
#define TRAILER_BYTES (4 * AUTH_TRAILER_WORDS)
// What a session's key is made for: crates/core/auth/src/key.rs.
#define STEP_SESSION 4u
enum direction { TO_CARD, TO_HOST };
// The receiver's first slot of a host, behind those of sessions.
#define RECEIVER_HOSTS 2u

// What a claim or a release is worth, as in crates/core/card/src/pairs.rs: it is the host's; it is by a key of the
// host's that was revoked; it has come before; or nobody knows whom it is from.
enum worth { WORTH_PROVEN, WORTH_REVOKED, WORTH_REPLAYED, WORTH_NOTHING };

static uint64_t sent;         // The last counter of an answer, by whatever key.
static uint64_t card_nonce;
static uint32_t newer;        // The session that was the last to begin,
static uint64_t claim_print;  // and the pair that it is of.

// Hosts whose key of claims the receiver has. Their claims go on whatever strangers send under their addresses, and of
// what comes under others only as many as leave this firmware time: rl_auth_rx.
static struct vouched {
  bool is_there;
  uint32_t number;
  uint32_t key;  // The card's key from which it comes.
} vouched[2];
static uint32_t proven;  // The one that has proven itself last. It makes room for nobody who has not.
static uint32_t counted[COUNTER_AUTH_REPLAY - COUNTER_AUTH_UNTAGGED + 1];

static bool gone;  // There is none of the card's.

void keys_start(void) {
  while (!(READ(CSR_KEY_STORE) & KEY_STORE_NEWS)) ACT(CSR_ALIVE);
  hosts_take();
  hosts_let_go();
  WRITE(CSR_KEY_BOOT, READ(CSR_BOOT));
  // Each claim of this boot has another one.
  card_nonce = (uint64_t)random_below(~0u) << 32;
  gone = !(READ(CSR_KEY_STORE) & KEY_STORE_CARD);
}

static void drop(uint32_t counter) {
  counted[counter - COUNTER_AUTH_UNTAGGED]++;
}

uint32_t keys_counted(uint32_t counter) {
  return counter < COUNTER_AUTH_UNTAGGED ? 0 : counted[counter - COUNTER_AUTH_UNTAGGED];
}

bool keys_proven(void) {
  return asked.flags & FLAG_AUTH;
}

const struct mac *keys_witness(void) {
  return session_claimed() ? &claim.owner : 0;
}

// -- hosts
static bool is_host(const struct mac *mac) {
  return mac->hi >> 8 == HOST_FIRST;
}

static uint32_t number(const struct mac *mac) {
  return (mac->hi & 0xFF) << 8 | mac->lo >> 24;
}

// Null if nobody with a key has this address.
static struct host *host_of(const struct mac *mac) {
  return is_host(mac) ? hosts_find(number(mac)) : 0;
}

// -- keys
static void put_long(uint64_t value) {
  vault_put((uint32_t)value, 4);
  vault_put((uint32_t)(value >> 32), 4);
}

// What a tag binds beside the frame, which has so many bytes and was put word by word; and makes it.
static void bind(uint32_t bytes, enum direction direction, uint64_t counter) {
  if (bytes % 8 != 0) vault_put(0, 4);
  vault_put(READ(CSR_BOOT), 4);
  vault_put((uint32_t)direction | bytes << 16, 4);
  put_long(counter);
  vault_end(VAULT_SHOWN, 0);
}

// -- sessions
static void tell(uint32_t session, uint32_t what) {
  WRITE(CSR_KEY_OWNER_HI, claim.owner.hi);
  WRITE(CSR_KEY_OWNER_LO, claim.owner.lo);
  WRITE(CSR_KEY_SESSION, session * KEY_SESSION_SLOT | what);
}

void keys_begin(void) {
  uint32_t session = newer ^ 1;
  tell(session, 0);
  card_nonce++;
  const struct host *host = host_of(&claim.owner);
  hosts_pair(host, host->proven, HOST_COUNTS);
  claim_print = host->pairs[host->proven][HOST_COUNTS].print;
  vault_begin(VAULT_PAIR);
  vault_put(STEP_SESSION, 1);
  put_long(claim.nonce);
  put_long(card_nonce);
  vault_put(READ(CSR_BOOT), 4);
  vault_put(claim.epoch, 2);
  vault_end(VAULT_SESSION, session);
  tell(session, KEY_SESSION_VALID | claim.epoch);
  newer = session;
}

// The session goes on until the next claim ends, so that its host learns under a tag that it is over.
void keys_end(void) {
  tell(newer ^ 1, 0);
  vault_forget_session(newer ^ 1);
}

void keys_prove(void) {
  frame_put_long(card_nonce);
  discovery_describe(frame_slot(), GRANT_WORDS + PROOF_WORDS);
  frame_send_bytes(4 * (GRANT_WORDS + PROOF_WORDS + ANNOUNCE_WORDS));
}

// -- claims and releases
// Which of the card's keys is of this generation; both and more: none.
static uint32_t key_of(uint32_t generation) {
  uint32_t there = READ(CSR_KEY_STORE);
  if (there & KEY_STORE_CARD && READ(CSR_KEY_GENERATION(VAULT_CARD)) == generation) return VAULT_CARD;
  if (there & KEY_STORE_FORMER && READ(CSR_KEY_GENERATION(VAULT_FORMER)) == generation) return VAULT_FORMER;
  return VAULT_PAIR;
}

// Whether the tag of the frame at hand is by the vault's key of claims. The trailer stands behind the payload.
static bool is_right(uint64_t counter) {
  uint32_t end = asked.length / 4;
  vault_begin(VAULT_CLAIMS);
  for (uint32_t i = 0; i < PAYLOAD_WORD + end; i++) {
    uint32_t word = asked_word(i - PAYLOAD_WORD);
    // The ring has the trailer as payload.
    if (i == HEADER_LENGTH_WORD) word -= TRAILER_BYTES << HEADER_LENGTH_SHIFT;
    vault_put_word(word);
  }
  bind(HEADER_END + asked.length, TO_CARD, counter);
  uint32_t differs = 0;
  for (uint32_t i = 0; i < AUTH_TRAILER_TAG_WORDS; i++) {
    differs |= READ(CSR_KEY_TAG(i)) ^ asked_word(end + AUTH_TRAILER_TAG_WORD + i);
  }
  return differs == 0;
}

// The receiver's place for a host is empty, or gets its key of claims, which is in the vault as a pair's.
static void put(uint32_t at, uint32_t of, uint32_t card_key) {
  struct vouched *host = &vouched[at];
  WRITE(CSR_KEY_HOST, at * KEY_HOST_SLOT);
  vault_begin_claims();
  host->is_there = vault_end(VAULT_SESSION, RECEIVER_HOSTS + at);
  host->number = of;
  host->key = card_key;
  if (host->is_there) WRITE(CSR_KEY_HOST, KEY_HOST_VALID | at * KEY_HOST_SLOT | of);
}

// The receiver gets this host's key of claims. Who has not proven anything takes the place of another such host, and
// changes nothing for one who is there.
static void vouch(uint32_t of, uint32_t card_key, bool is_proven) {
  uint32_t at = vouched[proven].is_there ? proven ^ 1 : proven;
  for (uint32_t i = 0; i < 2; i++) {
    if (vouched[i].is_there && vouched[i].number == of) at = i;
  }
  const struct vouched *host = &vouched[at];
  if (is_proven) proven = at;
  bool same = host->is_there && host->number == of;
  if (same && (!is_proven || host->key == card_key)) return;
  put(at, of, card_key);
}

// The card's keys have changed: the receiver has those of the same hosts, as far as they have one that counts.
static void vouch_again(void) {
  for (uint32_t at = 0; at < 2; at++) {
    if (!vouched[at].is_there) continue;
    vouched[at].is_there = false;
    WRITE(CSR_KEY_HOST, at * KEY_HOST_SLOT);
    const struct host *host = hosts_find(vouched[at].number);
    if (host == 0) continue;
    uint32_t key = host->proven == VAULT_PAIR ? VAULT_CARD : host->proven;
    if (hosts_pair(host, key, HOST_COUNTS)) put(at, host->number, key);
  }
}

static enum worth judge(struct host *host, uint32_t key, uint64_t counter) {
  // Of a generation that this card does not have the host hears under the newest.
  host->asked = key == VAULT_FORMER ? VAULT_FORMER : VAULT_CARD;
  host->asked_of = host->has[HOST_COUNTS] ? HOST_COUNTS : HOST_REVOKED;
  enum worth worth = WORTH_NOTHING;
  if (key == VAULT_PAIR) return worth;
  enum host_key first = host->asked_of;
  for (uint32_t of = first; of <= HOST_REVOKED; of++) {
    struct pair *pair = &host->pairs[key][of];
    // First what costs nothing.
    if (counter <= pair->newest) {
      if (of == first) worth = WORTH_REPLAYED;
      continue;
    }
    if (!hosts_pair(host, key, (enum host_key)of)) continue;
    bool right = is_right(counter);
    if (of == HOST_COUNTS) vouch(host->number, key, right);
    if (!right) continue;
    if (pair->print == 0) pair->print = vault_print();
    pair->newest = counter;
    host->asked_of = (enum host_key)of;
    if (of == HOST_REVOKED) return WORTH_REVOKED;
    host->proven = key;
    return WORTH_PROVEN;
  }
  return worth;
}

bool keys_admit(void) {
  bool is_claim = asked.kind == KIND_SESSION_CLAIM;
  if (!is_claim && asked.kind != KIND_SESSION_RELEASE) return true;
  struct host *host = host_of(&asked.src);
  if (!keys_proven()) {
    drop(COUNTER_AUTH_UNTAGGED);
    // A flood of these in a host's name must not keep its own claim out: from now on the receiver knows that.
    if (host != 0 && hosts_pair(host, VAULT_CARD, HOST_COUNTS)) vouch(host->number, VAULT_CARD, false);
    frame_refuse(KIND_SESSION_REFUSE, ERROR_CODE_KEY_NEEDED, 0, 0);
    return false;
  }
  asked.length -= TRAILER_BYTES;
  if (!asked_words(is_claim ? WORDS_OF_SESSION_CLAIM : WORDS_OF_SESSION_RELEASE)) return false;
  if (host == 0 || !(READ(CSR_KEY_STORE) & KEY_STORE_CARD)) {
    drop(COUNTER_AUTH_UNKNOWN);
    return false;
  }
  uint32_t trailer = asked.length / 4;
  uint64_t counter = (uint64_t)asked_word(trailer + AUTH_TRAILER_COUNTER_WORD) << 32 |
                     asked_word(trailer + AUTH_TRAILER_COUNTER_WORD + 1);
  switch (judge(host, key_of(asked_word(trailer + AUTH_TRAILER_KEY_WORD)), counter)) {
    case WORTH_PROVEN:
      return true;
    case WORTH_REVOKED:
      drop(COUNTER_AUTH_UNKNOWN);
      if (is_claim) frame_refuse(KIND_SESSION_REFUSE, ERROR_CODE_KEY_REVOKED, 0, 0);
      return false;
    case WORTH_REPLAYED:
      drop(COUNTER_AUTH_REPLAY);
      return false;
    case WORTH_NOTHING:
      drop(COUNTER_AUTH_WRONG);
      if (is_claim) frame_refuse(KIND_SESSION_REFUSE, ERROR_CODE_STALE_BOOT, 0, READ(CSR_BOOT));
  }
  return false;
}

// -- other keys, or none
bool keys_may_own(const struct mac *host) {
  const struct host *named = host_of(host);
  return named != 0 && named->proven != VAULT_PAIR;
}

void keys_turn(uint32_t events) {
  if (!(events & EVENTS_KEYS)) return;
  struct mac owner = claim.owner;
  bool was_gone = gone;
  hosts_take();
  vouch_again();
  if (session_claimed() && !hosts_count(number(&claim.owner), claim_print)) session_end();
  hosts_let_go();
  gone = !(READ(CSR_KEY_STORE) & KEY_STORE_CARD);
  // The session that has ended is there until the next one begins, and what it had asked for comes no more.
  if (gone && !was_gone) discovery_goodbye(&owner);
  if (was_gone && !gone) discovery_return();
}

bool keys_gone(void) {
  return gone;
}

// -- answers
uint32_t keys_seal(uint32_t slot, uint32_t bytes) {
  uint32_t kind = READ(TX_WORD(slot, KIND_WORD));
  uint32_t first = READ(TX_WORD(slot, 0));
  struct mac to = {first >> 16, first << 16 | READ(TX_WORD(slot, 1)) >> 16};
  bool refuses = (kind & KIND_MASK) == KIND_SESSION_REFUSE;
  if (!refuses && (kind & KIND_MASK) != KIND_SESSION_GRANT && (kind & KIND_MASK) != KIND_SESSION_RELEASED) return bytes;
  uint32_t code = READ(TX_WORD(slot, PAYLOAD_WORD)) >> REFUSAL_CODE_SHIFT;
  // Who has no key can check no tag.
  if (refuses && code == ERROR_CODE_KEY_NEEDED) return bytes;
  const struct host *host = host_of(&to);
  if (host == 0) return bytes;
  uint32_t key = refuses ? host->asked : host->proven;
  // Nothing that counts was ever taken of it.
  if (key == VAULT_PAIR) return bytes;
  hosts_pair(host, key, refuses ? host->asked_of : HOST_COUNTS);
  WRITE(TX_WORD(slot, KIND_WORD), kind | FLAG_AUTH);
  sent++;
  vault_begin(VAULT_CLAIMS);
  uint32_t words = PAYLOAD_WORD + bytes / 4;
  for (uint32_t i = 0; i < words; i++) vault_put_word(READ(TX_WORD(slot, i)));
  bind(HEADER_END + bytes, TO_HOST, sent);
  WRITE(TX_WORD(slot, words + AUTH_TRAILER_KEY_WORD), READ(CSR_KEY_GENERATION(key)));
  WRITE(TX_WORD(slot, words + AUTH_TRAILER_COUNTER_WORD), (uint32_t)(sent >> 32));
  WRITE(TX_WORD(slot, words + AUTH_TRAILER_COUNTER_WORD + 1), (uint32_t)sent);
  for (uint32_t i = 0; i < AUTH_TRAILER_TAG_WORDS; i++) {
    WRITE(TX_WORD(slot, words + AUTH_TRAILER_TAG_WORD + i), READ(CSR_KEY_TAG(i)));
  }
  return bytes + TRAILER_BYTES;
}
