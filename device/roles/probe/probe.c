/* What a test of a card needs.
 *
 *     bump    adds 1 to a cell and returns it: a launch that was executed twice shows
 *     trap    traps
 *     spin    never returns
 *
 * and what goes wrong worst in a circuit, as near as a program comes to it:
 *
 *     hang    never returns; the circuit answers nothing any more
 *     flood   reads and writes without end; the circuit takes no answers besides
 *     wild    writes to an address, whatever it is
 *     broken  breaks the rules of the memory's port in one of four ways; a program has no port and traps
 *     greedy  as flood, but the circuit takes its answers: it breaks no rule
 *
 * Cost model: bump charges exactly the cycles it is given; hang, flood and greedy charge a cycle for each instruction.
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

RL_KERNEL(hang)(void) {
  for (volatile u32 forever = 0;; forever++);
}

/* What it writes is what is there, as the circuit writes without strobes. */
RL_KERNEL(flood)(void) {
  for (volatile u64 *cell = (u64 *)RL_PRIVATE;; cell = (u64 *)((u32)cell ^ RL_BEAT)) *cell = *cell;
}

RL_KERNEL(greedy)(void) {
  for (volatile u64 *cell = (u64 *)RL_PRIVATE;; cell = (u64 *)((u32)cell ^ RL_BEAT)) *cell = *cell;
}

RL_KERNEL(wild)(u64 addr) {
  /* The circuit's addresses have 40 bits, a module's 32. */
  if (addr >> 32) __builtin_trap();
  *(volatile u64 *)(__UINTPTR_TYPE__)addr = ~0ull;
  return 0;
}

RL_KERNEL(broken)(u64 how) {
  (void)how;
  __builtin_trap();
}
