// The table of signers, which the board gives, and of the versions that have run, which it keeps: rl_sign_store.
#ifndef RL_VERSIONS_H
#define RL_VERSIONS_H

#include <stdbool.h>
#include <stdint.h>

#define SIGNER_KEY_WORDS 8u
#define SIGNER_NAME_WORDS 6u
#define ROLE_NAME_WORDS 8u

// A version of a role, as its signer has signed it. Names are words, their first bytes highest, with zeros at the end.
struct release {
  uint32_t signer;  // Its number in the table.
  uint64_t version;
  uint32_t role[ROLE_NAME_WORDS];
};

// How many signers the card knows. It asks for signatures if there is one.
uint32_t signers_count(void);

// The number of the signer of this key; their count if it is none of them.
uint32_t signers_find(const uint32_t *key);

// Whether its signature counts on this card, and a word of its name.
bool signers_may(uint32_t signer);
uint32_t signers_name(uint32_t signer, uint32_t word);

// What the table says to a release: it may run; a newer one has run, whose version that is; or there is no room for one
// more role, of this signer or at all.
enum version_verdict { VERSION_RUNS, VERSION_OLDER, VERSION_SIGNER_FULL, VERSION_FULL };
enum version_verdict versions_check(const struct release *release, uint64_t *newest);

// It runs, which was checked. False if the board does not keep that.
bool versions_raise(const struct release *release);

// Whether the board has kept all that was raised: waits until it has, or will not any more. A flash takes some
// milliseconds, and a few seconds when its log is full; each of its waits has a bound.
bool versions_kept(void);

#endif
