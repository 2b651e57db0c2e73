/* Work of a stated length, for studies of long jobs: each element of `work` holds in its low 40 bits the cycles that it takes
 * on the card, and any number above them. `out` gets a hash of the whole element, so that every result can be checked.
 *
 * Cost model: the sum of what the elements state. A model card in virtual time takes that long; computing it takes no time
 * worth mentioning.
 */
#include "rackloom.h"

/* Rounds of the hash: enough that a result is not had without running the kernel, few enough to cost nothing. */
enum { ROUNDS = 64 };

/* The bits of an element that hold its cycles. */
#define CYCLES 0xffffffffffull

/* More than any bound: sums stop here rather than wrap round. */
#define MOST (1ull << 62)

/* One round of SplitMix64. */
static inline u64 mix(u64 z) {
  z += 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

RL_KERNEL(burn)(u64 work_addr, u64 out_addr, u64 extent) {
  const u64 *work = rl_array(work_addr, extent, 1, sizeof(u64));
  u64 *out = rl_array(out_addr, extent, 1, sizeof(u64));
  u32 n = (u32)extent;
  u64 cycles = 0;
  for (u32 i = 0; i < n; i++) {
    u64 z = work[i];
    cycles = rl_min(cycles + (z & CYCLES), MOST);
    for (u32 round = 0; round < ROUNDS; round++) z = mix(z);
    out[i] = z;
  }
  /* Not before all is read and written: an invalid address is reported as such, and not as a launch that took too long. */
  rl_charge(cycles);
  return 0;
}
