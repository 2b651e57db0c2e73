#include "scalar25519.h"

static const uint32_t order[SCALAR_WORDS] = {0x5CF5D3ED, 0x5812631A, 0xA2F79CD6, 0x14DEF9DE, 0, 0, 0, 0x10000000};

bool scalar_is_reduced(const uint32_t *words) {
  for (uint32_t i = SCALAR_WORDS; i-- > 0;) {
    if (words[i] != order[i]) return words[i] < order[i];
  }
  return false;
}

void scalar_append(uint32_t *to, uint32_t word) {
  // Bit by bit, the highest first: a number less than the order is doubled, and is less than twice the order then.
  for (uint32_t left = 32; left != 0; left--, word <<= 1) {
    uint32_t in = word >> 31;
    for (uint32_t i = 0; i < SCALAR_WORDS; i++) {
      uint32_t out = to[i] >> 31;
      to[i] = to[i] << 1 | in;
      in = out;
    }
    if (scalar_is_reduced(to)) continue;
    uint32_t borrow = 0;
    for (uint32_t i = 0; i < SCALAR_WORDS; i++) {
      uint32_t less = order[i] + borrow;
      // Of the order no word is full, so `less` has not passed it.
      borrow = to[i] < less;
      to[i] -= less;
    }
  }
}

void scalar_recode(int8_t *digits, uint32_t *words, uint32_t width) {
  for (uint32_t i = 0; i < SCALAR_DIGITS; i++) {
    int32_t digit = 0;
    if (words[0] & 1) {
      digit = (int32_t)(words[0] & ((1u << width) - 1));
      if (digit >> (width - 1)) digit -= 1 << width;
      // The lowest bits become 0; of a digit below 0 the number becomes more, and a carry may go far.
      uint32_t add = digit < 0 ? (uint32_t)-digit : 0;
      if (digit > 0) words[0] -= (uint32_t)digit;
      for (uint32_t j = 0; add != 0 && j < SCALAR_WORDS; j++) {
        words[j] += add;
        add = words[j] < add;
      }
    }
    digits[i] = (int8_t)digit;
    for (uint32_t j = 0; j < SCALAR_WORDS; j++) {
      words[j] = words[j] >> 1 | (j + 1 < SCALAR_WORDS ? words[j + 1] << 31 : 0);
    }
  }
}
