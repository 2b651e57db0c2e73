// The vault: keys, which come from keys, and tags. docs/src/internals/authentication.md has what its messages are.
#ifndef RL_VAULT_H
#define RL_VAULT_H

#include <stdbool.h>
#include <stdint.h>

// The vault's keys: those of the card, of the newest generation and the one before, and those that are made.
enum vault_key { VAULT_CARD, VAULT_FORMER, VAULT_PAIR, VAULT_CLAIMS };

// What a message's result is.
enum vault_result { VAULT_SHOWN, VAULT_TAGS, VAULT_DERIVES, VAULT_SESSION };

// A message by this key: bytes, the lowest first, or a word of a frame; then its end. Returns whether there was a key.
void vault_begin(enum vault_key key);
void vault_put(uint32_t value, uint32_t bytes);
void vault_put_word(uint32_t word);
bool vault_end(enum vault_result to, uint32_t target);

// Makes the keys that card and host share: VAULT_PAIR and VAULT_CLAIMS, from this key of the card and of this
// generation of the host's. False if there is no such key of the card.
bool vault_pair(enum vault_key card_key, uint32_t host, uint32_t generation);

// Puts the message by which VAULT_PAIR makes its key of claims.
void vault_begin_claims(void);

// By which the pair of VAULT_CLAIMS is known again, and which tells nothing of it. Never 0.
uint64_t vault_print(void);

// Forgets a session's key.
void vault_forget_session(uint32_t session);

#endif
