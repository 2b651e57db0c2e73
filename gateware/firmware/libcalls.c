// What the compiler calls for what RV32I lacks, when the source has it.
#include <stdint.h>

uint32_t __mulsi3(uint32_t a, uint32_t b);

uint32_t __mulsi3(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (; a; a >>= 1, b <<= 1) {
    if (a & 1) product += b;
  }
  return product;
}
