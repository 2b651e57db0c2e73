// BLAKE3, as far as the digest's engine cannot do it: chunks that are not as they lie in memory, and what depends on
// them.
#ifndef RL_BLAKE3_H
#define RL_BLAKE3_H

#include <stdbool.h>
#include <stdint.h>

#define BLAKE3_VALUE_WORDS 8u
#define BLAKE3_BLOCK_WORDS 16u
#define BLAKE3_CHUNK_BYTES 1024u

// A chunk of this number begins; a block of it, of so many bytes, whose words have their first byte lowest and are zero
// behind these. `last` says that it is the chunk's last one, and `root` that there is no other chunk.
void blake3_chunk(uint32_t number);
void blake3_block(const uint32_t *block, uint32_t bytes, bool last, bool root);

// The value of the chunk so far.
const uint32_t *blake3_value(void);

// The value of two that stand side by side, left and right. It may be in the place of these.
void blake3_parent(uint32_t *value, const uint32_t *both, bool root);

#endif
