// Arithmetic that the processor does not have.
#ifndef RL_ARITH_H
#define RL_ARITH_H

#include <stdint.h>

// The whole product. Quick when `b` is the one with few bits.
uint64_t arith_times(uint32_t a, uint32_t b);

// `n` / `d`, rounded up; `d` is not 0.
uint64_t arith_parts(uint64_t n, uint32_t d);

// The bytes in opposite order: bitmaps on the wire have their least significant byte first.
uint32_t arith_reversed(uint32_t word);

#endif
