/* Waiting for callbacks: they come soon after what they are for, but the standard says no time. */
#ifndef RANDOM_SOON_H
#define RANDOM_SOON_H

#include <stdbool.h>

/* Waits until `count` is `least` or more, at most two seconds; false if it does not get there. An implementation that
 * has lost one callback is given little time for others. */
bool soon(_Atomic unsigned *count, unsigned least);

#endif
