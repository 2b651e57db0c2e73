/* What a test of a card needs.
 *
 *     bump   adds 1 to a cell and returns it: a launch that was executed twice shows
 *     burn   fills an array from a seed and takes as many cycles as it is told, for schedules and energy studies
 *     trap   reads beyond 4 GiB's end and traps
 *     spin   never returns
 *
 * Cost model: bump and burn charge exactly the cycles they are given.
 */
#include "rackloom.h"

RL_KERNEL(bump)(u64 cell_addr, u64 cycles) {
  u64 *cell = rl_array(cell_addr, 1, 1, sizeof(u64));
  rl_charge(cycles);
  return ++*cell;
}

/* One step of SplitMix64: element n of the stream that the seed gives. */
static u64 mix(u64 seed, u64 n) {
  u64 z = seed + (n + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

RL_KERNEL(burn)(u64 out_addr, u64 extent, u64 seed, u64 cycles) {
  u64 *out = rl_array(out_addr, extent, 1, sizeof(u64));
  for (u32 n = 0; n < (u32)extent; n++) out[n] = mix(seed, n);
  rl_charge(cycles);
  return extent;
}

RL_KERNEL(trap)(void) { __builtin_trap(); }

RL_KERNEL(spin)(void) {
  for (volatile u32 forever = 0;; forever++) rl_charge(1);
}
