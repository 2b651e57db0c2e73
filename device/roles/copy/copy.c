/* Copies arrays of 64-bit words, and goes on doing so while no kernel runs.
 *
 *     copy    copies an array
 *     work    has the worker copy an array so many times, or until it is stopped (0); returns 1, or 0 if it works already
 *     rounds  returns how many times the worker has copied since the role is there
 *     stop    has the worker stop after its present round; returns what rounds would
 *
 * After each round the worker reports its number as an event. Arrays are of whole beats of memory and do not overlap.
 *
 * Cost model of copy: a beat is read and written, each in a cycle of a memory that has one port for both.
 */
#include "rackloom.h"

static struct {
  u64 from, to, words, left;
  u32 endless;
} job;
static u32 working;
static u64 rounds_so_far;

static void check(u64 from, u64 to, u64 words) {
  rl_array(from, words, 1, sizeof(u64));
  rl_array(to, words, 1, sizeof(u64));
  if ((from | to | words * sizeof(u64)) % RL_BEAT) __builtin_trap();
}

static void copy_words(u64 from, u64 to, u64 words) {
  memcpy((void *)(__UINTPTR_TYPE__)to, (const void *)(__UINTPTR_TYPE__)from, (__SIZE_TYPE__)(words * sizeof(u64)));
}

RL_ON_WAKE {
  if (!working) return;
  copy_words(job.from, job.to, job.words);
  rl_event(++rounds_so_far);
  if (!job.endless && --job.left == 0) working = 0;
  if (working) rl_wake(1);
}

RL_KERNEL(copy)(u64 from, u64 to, u64 words) {
  check(from, to, words);
  rl_charge(words * sizeof(u64) / RL_BEAT * 2 + 1);
  copy_words(from, to, words);
  return 0;
}

RL_KERNEL(work)(u64 from, u64 to, u64 words, u64 rounds) {
  check(from, to, words);
  rl_charge(1);
  if (working) return 0;
  job.from = from;
  job.to = to;
  job.words = words;
  job.left = rounds;
  job.endless = rounds == 0;
  working = 1;
  rl_wake(1);
  return 1;
}

RL_KERNEL(rounds)(void) {
  rl_charge(1);
  return rounds_so_far;
}

RL_KERNEL(stop)(void) {
  rl_charge(1);
  working = 0;
  return rounds_so_far;
}
