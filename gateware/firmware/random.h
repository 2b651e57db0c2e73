// Random numbers for jitter and the first epoch. Not for secrets.
#ifndef RL_RANDOM_H
#define RL_RANDOM_H

#include <stdint.h>

void random_start(void);

// A number below `bound`; 0 when that is 0.
uint32_t random_below(uint32_t bound);

#endif
