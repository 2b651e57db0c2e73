#include "blake3.h"

enum flag { CHUNK_START = 1, CHUNK_END = 2, PARENT = 4, ROOT = 8 };
#define ROUNDS 7u
#define STATE_WORDS 16u

static const uint32_t first[BLAKE3_VALUE_WORDS] = {
    0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19,
};
// Which word of the message of this round that of the next one is.
static const uint8_t permuted[BLAKE3_BLOCK_WORDS] = {2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8};

static uint32_t value[BLAKE3_VALUE_WORDS];
static uint32_t chunk;
static bool begun;  // A block of the chunk has come.

static uint32_t rotated(uint32_t x, uint32_t by) {
  return x >> by | x << (32 - by);
}

static void mix(uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *d, const uint32_t *words) {
  *a += *b + words[0];
  *d = rotated(*d ^ *a, 16);
  *c += *d;
  *b = rotated(*b ^ *c, 12);
  *a += *b + words[1];
  *d = rotated(*d ^ *a, 8);
  *c += *d;
  *b = rotated(*b ^ *c, 7);
}

static void compress(uint32_t *chain, const uint32_t *block, uint32_t number, uint32_t bytes, uint32_t flags) {
  uint32_t v[STATE_WORDS], words[BLAKE3_BLOCK_WORDS], next[BLAKE3_BLOCK_WORDS];
  for (uint32_t i = 0; i < BLAKE3_VALUE_WORDS; i++) v[i] = chain[i];
  for (uint32_t i = 0; i < 4; i++) v[8 + i] = first[i];
  v[12] = number;
  v[13] = 0;
  v[14] = bytes;
  v[15] = flags;
  for (uint32_t i = 0; i < BLAKE3_BLOCK_WORDS; i++) words[i] = block[i];
  for (uint32_t round = 0; round < ROUNDS; round++) {
    // Columns, then diagonals.
    for (uint32_t i = 0; i < 8; i++) {
      uint32_t turn = i / 4, at = i % 4;
      mix(&v[at], &v[4 + (at + turn) % 4], &v[8 + (at + 2 * turn) % 4], &v[12 + (at + 3 * turn) % 4], &words[2 * i]);
    }
    for (uint32_t i = 0; i < BLAKE3_BLOCK_WORDS; i++) next[i] = words[permuted[i]];
    for (uint32_t i = 0; i < BLAKE3_BLOCK_WORDS; i++) words[i] = next[i];
  }
  for (uint32_t i = 0; i < BLAKE3_VALUE_WORDS; i++) chain[i] = v[i] ^ v[8 + i];
}

void blake3_chunk(uint32_t number) {
  for (uint32_t i = 0; i < BLAKE3_VALUE_WORDS; i++) value[i] = first[i];
  chunk = number;
  begun = false;
}

void blake3_block(const uint32_t *block, uint32_t bytes, bool last, bool root) {
  uint32_t flags = begun ? 0 : CHUNK_START;
  if (last) flags |= CHUNK_END;
  if (root) flags |= ROOT;
  begun = true;
  compress(value, block, chunk, bytes, flags);
}

const uint32_t *blake3_value(void) {
  return value;
}

void blake3_parent(uint32_t *to, const uint32_t *both, bool root) {
  uint32_t chain[BLAKE3_VALUE_WORDS];
  for (uint32_t i = 0; i < BLAKE3_VALUE_WORDS; i++) chain[i] = first[i];
  compress(chain, both, 0, 4 * BLAKE3_BLOCK_WORDS, root ? PARENT | ROOT : PARENT);
  for (uint32_t i = 0; i < BLAKE3_VALUE_WORDS; i++) to[i] = chain[i];
}
