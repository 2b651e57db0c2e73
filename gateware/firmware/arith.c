#include "arith.h"

uint64_t arith_times(uint32_t a, uint32_t b) {
  uint64_t product = 0;
  uint64_t shifted = a;
  while (b != 0) {
    if (b & 1) product += shifted;
    shifted <<= 1;
    b >>= 1;
  }
  return product;
}

uint64_t arith_parts(uint64_t n, uint32_t d) {
  uint32_t rest = 0;
  n += d - 1;
  // Bit by bit: the quotient comes in where the dividend goes out.
  for (uint32_t i = 0; i < 64; i++) {
    uint32_t carry = rest >> 31;
    rest = rest << 1 | (uint32_t)(n >> 63);
    n <<= 1;
    if (carry != 0 || rest >= d) {
      rest -= d;
      n |= 1;
    }
  }
  return n;
}

uint32_t arith_reversed(uint32_t word) {
  return word << 24 | (word & 0xFF00) << 8 | (word >> 8 & 0xFF00) | word >> 24;
}
