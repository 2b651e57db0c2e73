// Numbers modulo 2^255 - 19, the field of Curve25519.
//
// Nothing here takes the same time for all numbers: they are those of public keys and signatures, which are no secrets.
#ifndef RL_FIELD25519_H
#define RL_FIELD25519_H

#include <stdbool.h>
#include <stdint.h>

// A number is the sum of its limbs times powers of 2^24, the lowest first. Each limb is less than 2^24 and the last one
// at most 2^15 + 2, so the sum may be the modulus and a little more: of a number there may be two forms.
#define FIELD_LIMBS 11u
typedef uint32_t field_t[FIELD_LIMBS];

// Words of 32 bits that hold a number's 255, the lowest first.
#define FIELD_WORDS 8u

// Results may be in the place of an operand.
void field_add(field_t sum, const field_t a, const field_t b);
void field_sub(field_t difference, const field_t a, const field_t b);
void field_multiply(field_t product, const field_t a, const field_t b);
void field_copy(field_t to, const field_t from);

// The lower 255 bits of the words, also where these are the modulus or more.
void field_read(field_t to, const uint32_t *words);

bool field_is_zero(const field_t a);
bool field_same(const field_t a, const field_t b);

// Whether the number, in its form below the modulus, is odd.
bool field_is_odd(const field_t a);

#endif
