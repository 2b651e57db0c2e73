// What the compiler calls for the operations that RV32I lacks.
#include <stdint.h>

uint32_t __mulsi3(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (; a; a >>= 1, b <<= 1) {
    if (a & 1) product += b;
  }
  return product;
}

static uint32_t divide(uint32_t a, uint32_t b, uint32_t *rest) {
  uint32_t quotient = 0, left = 0;
  for (int i = 31; i >= 0; i--) {
    left = left << 1 | (a >> i & 1);
    if (left >= b) {
      left -= b;
      quotient |= 1u << i;
    }
  }
  *rest = left;
  return quotient;
}

uint32_t __udivsi3(uint32_t a, uint32_t b) {
  uint32_t rest;
  return divide(a, b, &rest);
}

uint32_t __umodsi3(uint32_t a, uint32_t b) {
  uint32_t rest;
  divide(a, b, &rest);
  return rest;
}

int32_t __divsi3(int32_t a, int32_t b) {
  uint32_t quotient = __udivsi3(a < 0 ? 0u - a : a, b < 0 ? 0u - b : b);
  return (a < 0) != (b < 0) ? 0u - quotient : quotient;
}

int32_t __modsi3(int32_t a, int32_t b) {
  uint32_t rest = __umodsi3(a < 0 ? 0u - a : a, b < 0 ? 0u - b : b);
  return a < 0 ? 0u - rest : rest;
}
