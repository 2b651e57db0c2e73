// Hosts that may claim a card with keys, those that were revoked, and what is remembered of their claims and releases.
// The key store names them, and may name others while the card runs.
#ifndef RL_HOSTS_H
#define RL_HOSTS_H

#include <stdbool.h>
#include <stdint.h>

// Those that a key store has room for.
#define HOSTS_MAX 64u

// Which of a host's keys: the one that counts, or the one that was revoked.
enum host_key { HOST_COUNTS, HOST_REVOKED };

// A key that card and host share.
struct pair {
  uint64_t print;   // By which it is known again; 0: no tag by it was ever right.
  uint64_t newest;  // The newest counter by it. The host's counter is never 0 and never goes back.
};

struct host {
  uint32_t number;
  bool has[2];              // Of enum host_key,
  uint32_t generation[2];   // and of the host's own keys.
  struct pair pairs[2][2];  // By the card's key, VAULT_CARD or VAULT_FORMER, and by the host's.
  uint32_t proven;          // The card's key by which the last claim was that was taken; VAULT_PAIR: none that counts.
  uint32_t asked;           // The keys that the last one named, whatever its tag. A refusal goes under them.
  enum host_key asked_of;
  uint32_t unused[8];       // A table's places have a power of two bytes: the processor cannot multiply.
};

// Takes keys and hosts from the key store, which has some; what is remembered by keys that are still there stays.
// Nobody writes the store until it is let go.
void hosts_take(void);
void hosts_let_go(void);

// Null if it is not named.
struct host *hosts_find(uint32_t number);

// Makes the keys that this host shares with the card, of this key of the card, as far as it has them.
bool hosts_pair(const struct host *host, uint32_t card_key, enum host_key of);

// Whether the host has a key of this print that counts.
bool hosts_count(uint32_t number, uint64_t print);

#endif
