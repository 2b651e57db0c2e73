#include "versions.h"

#include "hw.h"

// Words of a signer: whether it may; its key; its name.
#define PLACE_WORDS 16u
#define SIGNER_KEY 1u
#define SIGNER_NAME 9u
// Behind them those of a role that has run: the signer's number and 1, or 0 if the place is free; a version; the role's
// name; another version; and which of the two counts. Whoever keeps the words may lose its power after each of them: a
// version is written where none counts, and one last word makes it count, or the place be taken.
#define ROLES 512u
#define ROLES_MAX 96u
#define ROLE_VERSION 1u
#define ROLE_NAME 3u
#define ROLE_OTHER_VERSION 11u
#define ROLE_WHICH 15u
enum which { WHICH_VERSION = 1, WHICH_OTHER };
// Most roles of one signer, as on every card.
#define SIGNER_ROLES_MAX 64u

static uint32_t word(uint32_t at) {
  WRITE(CSR_SIGN_AT, at);
  return READ(CSR_SIGN_WORD);
}

static void set(uint32_t at, uint32_t value) {
  WRITE(CSR_SIGN_AT, at);
  WRITE(CSR_SIGN_WORD, value);
}

uint32_t signers_count(void) {
  return READ(CSR_SIGN_COUNT) >> SIGN_COUNT_SIGNERS_SHIFT & SIGN_COUNT_SIGNERS_MASK;
}

static bool same(uint32_t at, const uint32_t *words, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (word(at + i) != words[i]) return false;
  }
  return true;
}

uint32_t signers_find(const uint32_t *key) {
  uint32_t count = signers_count();
  uint32_t signer = 0;
  while (signer < count && !same(signer * PLACE_WORDS + SIGNER_KEY, key, SIGNER_KEY_WORDS)) signer++;
  return signer;
}

bool signers_may(uint32_t signer) {
  return word(signer * PLACE_WORDS) & 1;
}

uint32_t signers_name(uint32_t signer, uint32_t at) {
  return word(signer * PLACE_WORDS + SIGNER_NAME + at);
}

// The place of a release's role; if it has none a free one, or 0 where all are taken. Also how many its signer has.
static uint32_t place_of(const struct release *release, bool *known, uint32_t *roles) {
  uint32_t free = 0;
  *known = false;
  *roles = 0;
  for (uint32_t at = ROLES; at < ROLES + ROLES_MAX * PLACE_WORDS; at += PLACE_WORDS) {
    uint32_t of = word(at);
    if (of == 0 && free == 0) free = at;
    if (of != release->signer + 1) continue;
    ++*roles;
    if (!same(at + ROLE_NAME, release->role, ROLE_NAME_WORDS)) continue;
    *known = true;
    return at;
  }
  return free;
}

// Where the version that counts is.
static uint32_t version_of(uint32_t at) {
  return at + (word(at + ROLE_WHICH) == WHICH_OTHER ? ROLE_OTHER_VERSION : ROLE_VERSION);
}

enum version_verdict versions_check(const struct release *release, uint64_t *newest) {
  bool known;
  uint32_t roles;
  uint32_t at = place_of(release, &known, &roles);
  if (!known) {
    if (roles >= SIGNER_ROLES_MAX) return VERSION_SIGNER_FULL;
    return at == 0 ? VERSION_FULL : VERSION_RUNS;
  }
  uint32_t version = version_of(at);
  *newest = (uint64_t)word(version) << 32 | word(version + 1);
  return release->version < *newest ? VERSION_OLDER : VERSION_RUNS;
}

static void set_version(uint32_t at, uint64_t version) {
  set(at, (uint32_t)(version >> 32));
  set(at + 1, (uint32_t)version);
}

bool versions_kept(void) {
  uint32_t told;
  do {
    ACT(CSR_ALIVE);
    told = READ(CSR_SIGN_COUNT);
  } while (told & SIGN_COUNT_KEEPS);
  return !(told & SIGN_COUNT_FAILS);
}

bool versions_raise(const struct release *release) {
  // Those of a firmware that was stopped in the middle may still be on their way, and there is room for one raise.
  if (!versions_kept()) return false;
  bool known;
  uint32_t roles;
  uint32_t at = place_of(release, &known, &roles);
  if (known) {
    bool other = version_of(at) == at + ROLE_VERSION;
    set_version(at + (other ? ROLE_OTHER_VERSION : ROLE_VERSION), release->version);
    set(at + ROLE_WHICH, other ? WHICH_OTHER : WHICH_VERSION);
  } else {
    set_version(at + ROLE_VERSION, release->version);
    for (uint32_t i = 0; i < ROLE_NAME_WORDS; i++) set(at + ROLE_NAME + i, release->role[i]);
    set(at + ROLE_WHICH, WHICH_VERSION);
    set(at, release->signer + 1);
  }
  return versions_kept();
}
