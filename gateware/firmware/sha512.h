// SHA-512 (FIPS 180-4), of one message at a time.
#ifndef RL_SHA512_H
#define RL_SHA512_H

#include <stdint.h>

#define SHA512_WORDS 16u

// A message begins; a word of it, its first byte the highest, as the words of frames are.
void sha512_begin(void);
void sha512_put(uint32_t word);

// The message ends with the first 0 to 3 bytes of this word. Yields the digest's words, likewise, which stay until the
// next message begins.
const uint32_t *sha512_end(uint32_t word, uint32_t bytes);

#endif
