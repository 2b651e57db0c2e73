/* What a test of a card needs.
 *
 *     bump   adds 1 to a cell and returns it: a launch that was executed twice shows
 *     trap   traps
 *     spin   never returns
 *
 * Cost model: bump charges exactly the cycles it is given.
 */
#include "rackloom.h"

RL_KERNEL(bump)(u64 cell_addr, u64 cycles) {
  u64 *cell = rl_array(cell_addr, 1, 1, sizeof(u64));
  rl_charge(cycles);
  return ++*cell;
}

RL_KERNEL(trap)(void) { __builtin_trap(); }

RL_KERNEL(spin)(void) {
  for (volatile u32 forever = 0;; forever++) rl_charge(1);
}
