#include "missing.h"

#include "arith.h"
#include "counters.h"
#include "frame.h"
#include "keys.h"

// Ranges that the reports of one poll list at most.
#define RANGES_MAX (MISSING_FRAMES * MISSING_RANGES)
// Those of one frame.
#define FRAME_RANGES (MISSING_RANGES - KEYS_ROOM / 8)
// Chunks that the model looks at together: with the reports full, it counts what it left out to the end of these.
#define STEP 64u
// Chunks staged are counted modulo 2^17.
#define STAGED_MASK 0x1FFFFu

static uint32_t chunks;
// What had been staged before the first of them.
static uint32_t before;
// Words of REPORTED from this on have no bits set that mean anything.
static uint32_t dirty;

void missing_start(uint32_t number) {
  chunks = number;
  before = READ(CSR_STG_STAGED);
  dirty = (number + 31) / 32;
  missing_poll();
}

void missing_poll(void) {
  for (uint32_t i = 0; i < dirty; i++) WRITE(REPORTED_WORD(i), 0);
  dirty = 0;
}

bool missing_note(uint32_t first, uint32_t number) {
  if (first > chunks || number > chunks - first) return false;
  uint32_t end = first + number;
  while (first < end) {
    uint32_t word = first / 32;
    uint32_t bits = ~0u << first % 32;
    if (end - word * 32 < 32) bits &= (1u << end % 32) - 1;
    WRITE(REPORTED_WORD(word), READ(REPORTED_WORD(word)) | bits);
    if (dirty <= word) dirty = word + 1;
    first = (word + 1) * 32;
  }
  return true;
}

static uint32_t lacks(uint32_t word) {
  uint32_t bits = ~READ(HAVE_WORD(word));
  uint32_t rest = chunks - word * 32;
  return rest < 32 ? bits & ((1u << rest) - 1) : bits;
}

// The first chunk from `at` on that is to be reported, or the first that is not; the number of chunks if there is none.
static uint32_t seek(uint32_t at, bool reported) {
  uint32_t mask = ~0u << at % 32;
  for (at -= at % 32; at < chunks; at += 32) {
    uint32_t bits = lacks(at / 32);
    if (bits != 0) bits &= ~READ(REPORTED_WORD(at / 32));
    if (!reported) bits = ~bits;
    bits &= mask;
    mask = ~0u;
    if (bits == 0) continue;
    while (!(bits & 1)) {
      bits >>= 1;
      at++;
    }
    return at < chunks ? at : chunks;
  }
  return chunks;
}

// Counts the ranges to report, as far as reports go; `*end` is where the first one beyond begins.
static uint32_t count_ranges(uint32_t *end) {
  uint32_t ranges = 0;
  uint32_t at = seek(0, true);
  while (at < chunks && ranges < RANGES_MAX) {
    ACT(CSR_ALIVE);  // All of this may take a million cycles, and each step of it a bounded part.
    at = seek(seek(at, false), true);
    ranges++;
  }
  *end = at;
  return ranges;
}

// Counts chunks left out because another member reported them, below `end`.
static void count_suppressed(uint32_t end) {
  uint32_t words = (end + 31) / 32;
  if (words > dirty) words = dirty;
  uint32_t suppressed = 0;
  for (uint32_t i = 0; i < words; i++) {
    for (uint32_t bits = lacks(i) & READ(REPORTED_WORD(i)); bits != 0; bits &= bits - 1) suppressed++;
  }
  count_by(COUNTER_IMAGE_SUPPRESSED, suppressed);
}

// Sends one report, with at most so many ranges from `at` on. Yields where the next one goes on.
static uint32_t send(uint32_t at, uint32_t most, uint32_t more, uint32_t group, uint32_t poll) {
  struct mac members = {GROUP_HI, GROUP_LO | group};
  ACT(CSR_ALIVE);
  frame_open(&members, KIND_IMAGE_CONFIRM_MISSING, group, poll);
  frame_put(chunks - ((READ(CSR_STG_STAGED) - before) & STAGED_MASK));
  frame_put(0);
  frame_put_long(0);
  uint32_t ranges = 0;
  // Chunks go on coming meanwhile: there may be fewer ranges than were counted.
  while (ranges < most && (at = seek(at, true)) < chunks) {
    frame_put(at);
    uint32_t end = seek(at, false);
    frame_put(end - at);
    at = end;
    ranges++;
  }
  frame_set(MISSING_RANGES_WORD, ranges << MISSING_RANGES_SHIFT | more);
  frame_send();
  count(COUNTER_IMAGE_REPORTS);
  return at;
}

void missing_report(uint32_t group, uint32_t poll) {
  uint32_t end;
  uint32_t ranges = count_ranges(&end);
  count_suppressed(end < chunks ? (end / STEP + 1) * STEP : chunks);
  uint32_t at = 0;
  // A report without ranges still tells that this card is there and not ready.
  do {
    uint32_t here = ranges < FRAME_RANGES ? ranges : FRAME_RANGES;
    ranges -= here;
    at = send(at, here, (uint32_t)arith_parts(ranges, FRAME_RANGES), group, poll);
  } while (ranges != 0);
}
