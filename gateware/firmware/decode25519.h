// A point of the curve from the 32 bytes that it is sent as, step by step, for that takes some 2 million cycles.
#ifndef RL_DECODE25519_H
#define RL_DECODE25519_H

#include "curve25519.h"

// Begins with the point of these words, the lowest first: y, and in the highest bit whether x is odd.
void decode25519_begin(const uint32_t *words);

// Goes on. True at the end: then `valid` says whether there is such a point, and `p` is it.
bool decode25519_step(struct point *p, bool *valid);

#endif
