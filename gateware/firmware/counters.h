// The counters of what the firmware does and judges. Those of the fast paths are the hardware's; a host sees the sums.
#ifndef RL_COUNTERS_H
#define RL_COUNTERS_H

#include <stdint.h>

// A call is shorter than what it does: it must stay one.
__attribute__((noinline)) void count(uint32_t counter);
__attribute__((noinline)) void count_by(uint32_t counter, uint64_t n);

// Answers a request for the counters.
void counters_tell(void);

#endif
