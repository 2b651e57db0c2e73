// Numbers modulo the order of Ed25519's group, 2^252 + 27742317777372353535851937790883648493; public ones.
#ifndef RL_SCALAR25519_H
#define RL_SCALAR25519_H

#include <stdbool.h>
#include <stdint.h>

// Words of a number, the lowest first.
#define SCALAR_WORDS 8u
// Digits of one that is less than the order.
#define SCALAR_DIGITS 254u

// Whether a number is less than the order.
bool scalar_is_reduced(const uint32_t *words);

// A number that is less than the order becomes itself times 2^32 and the word, modulo the order.
void scalar_append(uint32_t *to, uint32_t word);

// The number as the sum of its digits times powers of 2, the lowest first: of `width` digits in a row all but one are 0
// at least, and others are odd and less than 2^(width - 1), or as much below 0. The words are used up.
void scalar_recode(int8_t *digits, uint32_t *words, uint32_t width);

#endif
