#include "covered.h"

#include "arith.h"
#include "blake3.h"
#include "hw.h"
#include "memory.h"

// The head's fields that are read as zeros, in words: its tag, and of the signature's entry the digest at its end.
#define TAG_WORD 12u
#define TAG_WORDS 4u
#define ENTRY_DIGEST_WORDS 8u
#define SLOT 0u
// Blocks of a step.
#define BLOCKS_AT_ONCE 8u
#define CHUNK_WORDS (BLAKE3_CHUNK_BYTES / 4)
#define VALUE_BYTES (4 * BLAKE3_VALUE_WORDS)

// The fields are in the first two chunks. These are computed here, and so is all above them in BLAKE3's tree, one value a
// level; all others come from the engine, whose first value on each level counts for nothing.
static enum { CHUNKS, LEAVES, LEVELS } state;
static uint64_t base;
static uint32_t length, entry_end;
static uint32_t at, word;  // The chunk, and its next word.
static uint32_t values;  // Of the engine's level.
static uint32_t spine[2 * BLAKE3_VALUE_WORDS];

void covered_begin(const struct image *image) {
  base = image->base;
  length = image->signature;
  entry_end = image->signature_entry_end / 4;
  at = word = 0;
  state = CHUNKS;
}

static bool is_blank(uint32_t of) {
  return of - TAG_WORD < TAG_WORDS || of - (entry_end - ENTRY_DIGEST_WORDS) < ENTRY_DIGEST_WORDS;
}

// Goes on with the chunk, into its half of the spine; true at its end. What is covered ends at a multiple of 64 bytes.
static bool chunk(void) {
  uint32_t rest = length - at * BLAKE3_CHUNK_BYTES;
  uint32_t bytes = rest < BLAKE3_CHUNK_BYTES ? rest : BLAKE3_CHUNK_BYTES;
  uint32_t block[BLAKE3_BLOCK_WORDS];
  memory_fetch(SLOT, base + at * BLAKE3_CHUNK_BYTES, bytes);
  if (word == 0) blake3_chunk(at);
  for (uint32_t n = 0; n < BLOCKS_AT_ONCE && word < bytes / 4; n++) {
    for (uint32_t i = 0; i < BLAKE3_BLOCK_WORDS; i++, word++) {
      block[i] = is_blank(at * CHUNK_WORDS + word) ? 0 : arith_reversed(memory_word(SLOT, word));
    }
    bool last = word == bytes / 4;
    blake3_block(block, 4 * BLAKE3_BLOCK_WORDS, last, last && length <= BLAKE3_CHUNK_BYTES);
  }
  if (word < bytes / 4) return false;
  for (uint32_t i = 0; i < BLAKE3_VALUE_WORDS; i++) spine[at * BLAKE3_VALUE_WORDS + i] = blake3_value()[i];
  at++;
  word = 0;
  return true;
}

static void order(uint32_t go, uint32_t source, uint32_t bytes) {
  WRITE(CSR_DIG_CHUNK, 0);
  WRITE(CSR_DIG_SOURCE, source);
  WRITE(CSR_DIG_TARGET, memory_values());
  WRITE(CSR_DIG_LENGTH, bytes);
  WRITE(CSR_DIG_GO, go);
}

static void next_level(void) {
  order(DIG_GO_PARENTS, memory_values(), values * VALUE_BYTES);
  values = (values + 1) / 2;
  state = LEVELS;
}

// The value that stands beside the spine's, on the level that is there.
static void read_right(void) {
  memory_fetch(SLOT, (uint64_t)memory_values() * BEAT, 2 * VALUE_BYTES);
  for (uint32_t i = BLAKE3_VALUE_WORDS; i < 2 * BLAKE3_VALUE_WORDS; i++) spine[i] = arith_reversed(memory_word(SLOT, i));
}

// Goes on with the chunks; true when that was all.
static bool chunk_step(void) {
  if (!chunk()) return false;
  if (at * BLAKE3_CHUNK_BYTES >= length && at == 1) return true;
  if (at < 2) return false;
  values = (length + BLAKE3_CHUNK_BYTES - 1) / BLAKE3_CHUNK_BYTES;
  blake3_parent(spine, spine, values == 2);
  if (values == 2) return true;
  order(0, (uint32_t)(base / BEAT), length);
  state = LEAVES;
  return false;
}

// The same with a level.
static bool level_step(void) {
  read_right();
  blake3_parent(spine, spine, values == 2);
  if (values == 2) return true;
  next_level();
  return false;
}

bool covered_works(void) {
  return state == CHUNKS || (READ(CSR_DIG_GO) & DIG_GO_IDLE);
}

bool covered_step(uint32_t *digest) {
  if (!covered_works()) return false;
  bool done = false;
  switch (state) {
    case CHUNKS:
      done = chunk_step();
      break;
    case LEAVES:
      next_level();
      break;
    case LEVELS:
      done = level_step();
      break;
  }
  for (uint32_t i = 0; i < BLAKE3_VALUE_WORDS; i++) digest[i] = spine[i];
  return done;
}
