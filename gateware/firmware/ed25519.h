// Ed25519 (RFC 8032): whether a signature is right, by the strict rules that the hosts' library has.
//
// The number S must be less than the group's order, neither the key nor R may be a point of small order, and the
// equation must hold without the cofactor. All that is public, so times depend on it.
//
// The processor needs some 33 million cycles: it goes on step by step, and serves its card in between.
#ifndef RL_ED25519_H
#define RL_ED25519_H

#include <stdint.h>

#define ED25519_KEY_WORDS 8u
#define ED25519_SIGNATURE_WORDS 16u

enum ed25519 {
  ED25519_UNKNOWN,  // Not yet.
  ED25519_RIGHT,
  ED25519_WEAK,  // The key is no point of the curve, or one of small order, for which anybody can sign.
  ED25519_WRONG,
};

// Begins to check the signature of a message of so many words by this key. Of all words the first byte is the highest;
// they stay as they are until there is a verdict.
void ed25519_begin(const uint32_t *signature, const uint32_t *key, const uint32_t *message, uint32_t words);

// Goes on, for at most 110,000 cycles. When there is a verdict it stays.
enum ed25519 ed25519_step(void);

#endif
