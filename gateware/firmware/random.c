#include "random.h"

#include "arith.h"
#include "hw.h"

// Turns of the generator until seeds that differ in one bit have nothing in common any more.
#define WARM_UP 32u

static uint32_t state;

// Marsaglia's xorshift with a period of 2^32 - 1.
static uint32_t next(void) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}

void random_start(void) {
  // Seeds and addresses are often small numbers: their low bits must not meet.
  uint32_t mac = READ(CSR_MAC_LO);
  state = READ(CSR_SEED) ^ (mac << 16 | mac >> 16);
  // Zero is the one state that it never leaves.
  if (state == 0) state = 1;
  for (uint32_t i = 0; i < WARM_UP; i++) next();
}

uint32_t random_below(uint32_t bound) {
  return (uint32_t)(arith_times(next(), bound) >> 32);
}
