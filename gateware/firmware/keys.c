#include "keys.h"

#include "counters.h"
#include "discovery.h"
#include "hw.h"
#include "random.h"
#include "session.h"
#include "vault.h"

// Hosts whose claims are remembered. None is ever forgotten, or what was recorded of it would count again; of further
// ones no claim is taken until the card starts anew.
#define HOSTS_MAX 64u
// The first byte of the address of a host with a key.
#define HOST_FIRST 0x06u
#define TRAILER_BYTES (4 * AUTH_TRAILER_WORDS)
// What a key is made for: crates/core/auth/src/key.rs.
enum step { STEP_PAIR = 2, STEP_CLAIMS = 3, STEP_SESSION = 4 };
enum direction { TO_CARD, TO_HOST };
// The receiver's first slot of a host, behind those of sessions.
#define RECEIVER_HOSTS 2u

// A host that has claimed the card, or released it, under a tag.
struct host {
  uint32_t number;
  uint32_t proven;     // The card's key by which the last one was that was taken: VAULT_CARD or VAULT_FORMER,
  uint32_t asked;      // and the one that the last one named, whatever its tag. A refusal goes under it.
  uint64_t newest[2];  // The newest counter by each of them. The host's counter never goes back.
};

static struct host hosts[HOSTS_MAX];
static uint32_t known;
static uint32_t asked_key;  // As `asked`, of a host that has not proven anything so far.
static uint64_t sent;       // The last counter of an answer, by whatever key.
static uint64_t card_nonce;
static uint32_t newer;      // The session that was the last to begin.

// Hosts whose key of claims the receiver has. Their claims go on whatever strangers send under their addresses, and of
// what comes under others only as many as leave this firmware time: rl_auth_rx.
static struct vouched {
  bool is_there;
  uint32_t number;
  uint32_t key;  // The card's key from which it comes.
} vouched[2];
static uint32_t proven;     // The one that has proven itself last. It makes room for nobody who has not.
static uint32_t counted[COUNTER_AUTH_REPLAY - COUNTER_AUTH_UNTAGGED + 1];

void keys_start(void) {
  while (!(READ(CSR_KEY_STORE) & KEY_STORE_READ)) ACT(CSR_ALIVE);
  WRITE(CSR_KEY_BOOT, READ(CSR_BOOT));
  // Each claim of this boot has another one.
  card_nonce = (uint64_t)random_below(~0u) << 32;
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

static struct host *find(uint32_t number) {
  for (uint32_t i = 0; i < known; i++) {
    if (hosts[i].number == number) return &hosts[i];
  }
  return 0;
}

// -- keys
// Makes the keys that this host shares with the card, of this key of the card. False if there is none.
static bool pair(uint32_t card_key, uint32_t host) {
  vault_begin((enum vault_key)card_key);
  vault_put(STEP_PAIR, 1);
  vault_put(host, 4);
  vault_put(0, 4);
  // The generation of the host's key: a key store tells of no other.
  vault_put(0, 4);
  if (!vault_end(VAULT_DERIVES, VAULT_PAIR)) return false;
  vault_begin(VAULT_PAIR);
  vault_put(STEP_CLAIMS, 1);
  return vault_end(VAULT_TAGS, VAULT_CLAIMS);
}

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
  uint32_t of = number(&claim.owner);
  tell(session, 0);
  card_nonce++;
  // While the host waited, its key may have been taken away; what the vault holds is then another's.
  if (!pair(find(of)->proven, of)) return vault_forget_session(session);
  vault_begin(VAULT_PAIR);
  vault_put(STEP_SESSION, 1);
  put_long(claim.nonce);
  put_long(card_nonce);
  vault_put(READ(CSR_BOOT), 4);
  vault_put(claim.epoch, 2);
  if (!vault_end(VAULT_SESSION, session)) return vault_forget_session(session);
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

// Whether the tag of the frame at hand is this host's, by this key of the card. The trailer stands behind the payload.
static bool is_right(uint32_t card_key, uint32_t host, uint64_t counter) {
  uint32_t end = asked.length / 4;
  if (!pair(card_key, host)) return false;
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

// The receiver gets this host's key of claims, which is in the vault as a pair's. Who has not proven anything takes the
// place of another such host, and changes nothing for one who is there.
static void vouch(uint32_t of, uint32_t card_key, bool is_proven) {
  uint32_t at = vouched[proven].is_there ? proven ^ 1 : proven;
  for (uint32_t i = 0; i < 2; i++) {
    if (vouched[i].is_there && vouched[i].number == of) at = i;
  }
  struct vouched *host = &vouched[at];
  if (is_proven) proven = at;
  bool same = host->is_there && host->number == of;
  if (same && (!is_proven || host->key == card_key)) return;
  WRITE(CSR_KEY_HOST, at * KEY_HOST_SLOT);
  vault_begin(VAULT_PAIR);
  vault_put(STEP_CLAIMS, 1);
  host->is_there = vault_end(VAULT_SESSION, RECEIVER_HOSTS + at);
  host->number = of;
  host->key = card_key;
  if (host->is_there) WRITE(CSR_KEY_HOST, KEY_HOST_VALID | at * KEY_HOST_SLOT | of);
}

static struct host *remember(uint32_t number) {
  if (known == HOSTS_MAX) return 0;
  hosts[known].number = number;
  return &hosts[known++];
}

bool keys_admit(void) {
  bool is_claim = asked.kind == KIND_SESSION_CLAIM;
  if (!is_claim && asked.kind != KIND_SESSION_RELEASE) return true;
  if (!keys_proven()) {
    drop(COUNTER_AUTH_UNTAGGED);
    // A flood of these in a host's name must not keep its own claim out: from now on the receiver knows that.
    if (is_host(&asked.src) && pair(VAULT_CARD, number(&asked.src))) vouch(number(&asked.src), VAULT_CARD, false);
    frame_refuse(KIND_SESSION_REFUSE, ERROR_CODE_KEY_NEEDED, 0, 0);
    return false;
  }
  asked.length -= TRAILER_BYTES;
  if (!asked_words(is_claim ? WORDS_OF_SESSION_CLAIM : WORDS_OF_SESSION_RELEASE)) return false;
  uint32_t of = number(&asked.src);
  if (!is_host(&asked.src) || !(READ(CSR_KEY_STORE) & KEY_STORE_CARD)) {
    drop(COUNTER_AUTH_UNKNOWN);
    return false;
  }
  uint32_t trailer = asked.length / 4;
  uint64_t counter = (uint64_t)asked_word(trailer + AUTH_TRAILER_COUNTER_WORD) << 32 |
                     asked_word(trailer + AUTH_TRAILER_COUNTER_WORD + 1);
  uint32_t key = key_of(asked_word(trailer + AUTH_TRAILER_KEY_WORD));
  // Of a generation that this card does not have the host hears under the newest.
  asked_key = key == VAULT_FORMER ? VAULT_FORMER : VAULT_CARD;
  struct host *host = find(of);
  if (host != 0) host->asked = asked_key;
  if (key != VAULT_PAIR) {
    // First what costs nothing.
    if (counter == 0 || (host != 0 && counter <= host->newest[key])) {
      drop(COUNTER_AUTH_REPLAY);
      return false;
    }
    bool is_proven = is_right(key, of, counter);
    vouch(of, key, is_proven);
    if (is_proven) {
      if (host == 0) host = remember(of);
      if (host == 0) {
        drop(COUNTER_AUTH_UNKNOWN);
        return false;
      }
      host->newest[key] = counter;
      host->proven = key;
      host->asked = key;
      return true;
    }
  }
  drop(COUNTER_AUTH_WRONG);
  if (is_claim) frame_refuse(KIND_SESSION_REFUSE, ERROR_CODE_STALE_BOOT, 0, READ(CSR_BOOT));
  return false;
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
  if (!is_host(&to) || (refuses && code == ERROR_CODE_KEY_NEEDED)) return bytes;
  struct host *host = find(number(&to));
  uint32_t key = asked_key;
  if (host != 0) key = refuses ? host->asked : host->proven;
  if (!pair(key, number(&to))) return bytes;
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
