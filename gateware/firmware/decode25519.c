#include "decode25519.h"

// The curve's d, and a square root of -1.
static const field_t d = {0x5978A3, 0x4DCA13, 0xAB75EB, 0x4141D8, 0x700A4D, 0xE89800, 0x797779,
    0x8CC740, 0x6FFE73, 0x6CEE2B, 0x005203};
static const field_t root = {0x0EA0B0, 0x1B274A, 0x78C4EE, 0xAD2FE4, 0x431806, 0xD7A72F, 0x993DFB,
    0x2B4D00, 0xC1DF0B, 0x24804F, 0x002B83};
// x is the square root of u / v, with u = y^2 - 1 and v = d y^2 + 1: that is u v^3 times the power (p - 5) / 8 of u v^7,
// or this times the root of -1, if it has one. The exponent is 2^252 - 3, so the way there is by numbers of ones: each step
// squares so many times and multiplies by what was found before.
enum found { ONE, TEN, FIFTY, LAST, FOUND };
static const struct step {
  uint8_t squarings;
  uint8_t by;
  uint8_t is;
} steps[] = {
    {1, LAST, LAST},  // 2 ones,
    {2, LAST, LAST},  // 4,
    {1, ONE, LAST},   // 5,
    {5, LAST, TEN},
    {10, LAST, LAST},
    {20, LAST, LAST},
    {10, TEN, FIFTY},
    {50, LAST, LAST},   // 100,
    {100, LAST, LAST},  // 200,
    {50, FIFTY, LAST},  // 250; and a zero and a one.
    {2, ONE, LAST},
};
#define STEPS (sizeof steps / sizeof steps[0])
static const field_t unit = {1};
// Multiplications of a step of the firmware's.
#define AT_ONCE 4u

static field_t u, v, y, root_of, power;
static field_t found[FOUND];
static bool is_odd;
static uint32_t at, squared;

void decode25519_begin(const uint32_t *words) {
  is_odd = words[FIELD_WORDS - 1] >> 31;
  field_read(y, words);
  field_multiply(u, y, y);
  field_multiply(v, u, d);
  field_sub(u, u, unit);
  field_add(v, v, unit);
  field_multiply(power, v, v);
  field_multiply(root_of, power, v);
  field_multiply(root_of, root_of, u);
  field_multiply(power, power, power);
  field_multiply(power, power, root_of);
  field_copy(found[ONE], power);
  field_copy(found[LAST], power);
  at = squared = 0;
}

// Whether x was found, and the point.
static bool finish(struct point *p) {
  static const field_t zero;
  field_t same;
  field_multiply(p->x, root_of, power);
  field_multiply(same, p->x, p->x);
  field_multiply(same, same, v);
  if (!field_same(same, u)) {
    field_add(same, same, u);
    if (!field_is_zero(same)) return false;
    field_multiply(p->x, p->x, root);
  }
  if (field_is_odd(p->x) != is_odd) field_sub(p->x, zero, p->x);
  field_copy(p->y, y);
  field_copy(p->z, unit);
  field_multiply(p->t, p->x, p->y);
  return true;
}

bool decode25519_step(struct point *p, bool *valid) {
  for (uint32_t i = 0; i < AT_ONCE; i++) {
    const struct step *step = &steps[at];
    if (squared < step->squarings) {
      field_multiply(power, power, power);
      squared++;
      continue;
    }
    field_multiply(power, power, found[step->by]);
    field_copy(found[step->is], power);
    field_copy(found[LAST], power);
    squared = 0;
    if (++at < STEPS) continue;
    *valid = finish(p);
    return true;
  }
  return false;
}
