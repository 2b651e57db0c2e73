#include "hosts.h"

#include "hw.h"
#include "vault.h"

#define HOST_WORDS 4u
_Static_assert((sizeof(struct host) & (sizeof(struct host) - 1)) == 0, "places of a table are found by shifting");

// The present ones, and those before.
static struct host tables[2][HOSTS_MAX];
static uint32_t named[2];
static uint32_t present;

// Where the host is, looked for from there on and around; those that are named if it is not there.
static uint32_t place(uint32_t table, uint32_t number, uint32_t from) {
  for (uint32_t at = from; at < named[table]; at++) {
    if (tables[table][at].number == number) return at;
  }
  for (uint32_t at = 0; at < from; at++) {
    if (tables[table][at].number == number) return at;
  }
  return named[table];
}

struct host *hosts_find(uint32_t number) {
  uint32_t at = place(present, number, 0);
  return at < named[present] ? &tables[present][at] : 0;
}

bool hosts_pair(const struct host *host, uint32_t card_key, enum host_key of) {
  return host->has[of] && vault_pair((enum vault_key)card_key, host->number, host->generation[of]);
}

static uint32_t word(uint32_t at) {
  WRITE(CSR_KEY_HOSTS_AT, at);
  return READ(CSR_KEY_HOSTS);
}

// What was remembered by a key stays with it, whatever has become of its place and of the host's other key.
static void inherit(struct host *host, const struct host *before) {
  for (uint32_t i = 0; i < 4; i++) {
    struct pair *pair = &host->pairs[i / 2][i % 2];
    if (!hosts_pair(host, i / 2, (enum host_key)(i % 2))) continue;
    uint64_t print = vault_print();
    for (uint32_t j = 0; j < 4; j++) {
      const struct pair *old = &before->pairs[j / 2][j % 2];
      if (old->print != print) continue;
      *pair = *old;
      if (i % 2 == HOST_COUNTS && j % 2 == HOST_COUNTS && j / 2 == before->proven) host->proven = i / 2;
    }
  }
}

static bool remembers(const struct host *host) {
  for (uint32_t i = 0; i < 4; i++) {
    if (host->pairs[i / 2][i % 2].print != 0) return true;
  }
  return false;
}

static void read(struct host *host, uint32_t at) {
  static const struct pair none;
  uint32_t who = word(at);
  host->number = who & KEY_HOSTS_NUMBER_MASK;
  host->has[HOST_COUNTS] = who & KEY_HOSTS_COUNTS;
  host->has[HOST_REVOKED] = who & KEY_HOSTS_REVOKED;
  host->generation[HOST_COUNTS] = word(at + 1);
  host->generation[HOST_REVOKED] = word(at + 2);
  for (uint32_t i = 0; i < 4; i++) host->pairs[i / 2][i % 2] = none;
  host->proven = VAULT_PAIR;
  host->asked = VAULT_CARD;
  host->asked_of = host->has[HOST_COUNTS] ? HOST_COUNTS : HOST_REVOKED;
}

void hosts_take(void) {
  WRITE(CSR_KEY_STORE, KEY_STORE_TAKE);
  uint32_t told;
  do told = READ(CSR_KEY_STORE);
  while (!(told & KEY_STORE_READ));
  uint32_t before = present;
  present ^= 1;
  named[present] = told >> KEY_STORE_HOSTS_SHIFT & KEY_STORE_HOSTS_MASK;
  // Most stand behind the one that they stood behind.
  uint32_t at = 0;
  for (uint32_t i = 0; i < named[present]; i++) {
    ACT(CSR_ALIVE);
    struct host *host = &tables[present][i];
    read(host, HOST_WORDS * i);
    uint32_t found = place(before, host->number, at);
    if (found == named[before]) continue;
    at = found + 1;
    if (remembers(&tables[before][found])) inherit(host, &tables[before][found]);
  }
}

void hosts_let_go(void) {
  WRITE(CSR_KEY_STORE, 0);
}

bool hosts_count(uint32_t number, uint64_t print) {
  const struct host *host = hosts_find(number);
  if (host == 0 || !host->has[HOST_COUNTS]) return false;
  return host->pairs[VAULT_CARD][HOST_COUNTS].print == print || host->pairs[VAULT_FORMER][HOST_COUNTS].print == print;
}
