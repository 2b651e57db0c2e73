// What the processor's test programs share: where results go, and numbers to work on.
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdint.h>

static inline void put(uint32_t result) {
  *(volatile uint32_t *)0x30000000 = result;
}

static inline uint8_t next_byte(uint32_t *state) {
  *state = *state * 1103515245u + 12345u;
  return *state >> 24;
}

static inline uint32_t next_word(uint32_t *state) {
  uint32_t word = 0;
  for (int i = 0; i < 4; i++) word = word << 8 | next_byte(state);
  return word;
}

#endif
