#include "field25519.h"

#define BITS 24u
#define MASK 0xFFFFFFu
// Of the last limb those below 2^255, and how much 2^255 is modulo 2^255 - 19.
#define LAST (FIELD_LIMBS - 1)
#define LAST_BITS 15u
#define LAST_MASK 0x7FFFu
#define FOLD 19u
// A factor's digits, of 4 bits.
#define DIGITS 16u
#define DIGIT_BITS 4u

// That many times, without the compiler's making a multiplication of it again.
static inline uint32_t folded(uint32_t n) {
  uint32_t thrice = (n << 1) + n;
  __asm__("" : "+r"(thrice));
  return (n << 4) + thrice;
}

// Products of one factor and each digit, as long as the multiplications take: of a row 16 words, so that a row is found
// by a shift.
static uint32_t rows[DIGITS][16];

// Brings limbs of less than 2^31 below their bounds.
static void carry(field_t a) {
  uint32_t above = folded(a[LAST] >> LAST_BITS);
  a[LAST] &= LAST_MASK;
  for (uint32_t i = 0; i < FIELD_LIMBS; i++) {
    above += a[i];
    a[i] = i < LAST ? above & MASK : above;
    above >>= BITS;
  }
}

void field_add(field_t sum, const field_t a, const field_t b) {
  for (uint32_t i = 0; i < FIELD_LIMBS; i++) sum[i] = a[i] + b[i];
  carry(sum);
}

void field_sub(field_t difference, const field_t a, const field_t b) {
  for (uint32_t i = 0; i < FIELD_LIMBS; i++) {
    // Twice the modulus, whose limbs are no less than any of `b`.
    uint32_t twice = i == 0 ? 2 * (MASK - FOLD + 1) : 2 * (i < LAST ? MASK : LAST_MASK);
    difference[i] = a[i] + twice - b[i];
  }
  carry(difference);
}

void field_copy(field_t to, const field_t from) {
  for (uint32_t i = 0; i < FIELD_LIMBS; i++) to[i] = from[i];
}

#define SUM(n) \
  sum += a[i]; \
  rows[n][i] = sum;

static void make_rows(const field_t a) {
  for (uint32_t i = 0; i < FIELD_LIMBS; i++) {
    uint32_t sum = 0;
    SUM(1) SUM(2) SUM(3) SUM(4) SUM(5) SUM(6) SUM(7) SUM(8) SUM(9) SUM(10) SUM(11) SUM(12) SUM(13) SUM(14) SUM(15)
  }
}

// The row of the digit that stands in a limb there. Its address is to stay in a register: the compiler must not know
// what it is made of.
static inline const uint32_t *row(uint32_t limb, uint32_t shift) {
  const uint32_t *at = rows[limb >> shift & (DIGITS - 1)];
  __asm__("" : "+r"(at));
  return at;
}

#define ROW(i, name) const uint32_t *name = row(b[i], shift);
// One more limb of the product so far: that times 16, and what all rows have for this place. Fewer than 11 rows of less
// than 15 * 2^24, less than 2^28 of before, and the carry are less than 2^32. What is above a limb stays with it until
// it is needed again: the carry is its uppermost byte, which is read sooner than shifted down. Both the processor and
// the machines that test this have the lowest byte first.
#define NEXT(n, sum)                                     \
  above += ((product[n] & MASK) << DIGIT_BITS) + (sum);  \
  product[n] = above;                                    \
  above = ((volatile uint8_t *)&product[n])[BITS / 8];

// The processor cannot multiply. The factor `b` is taken digit by digit, the highest of all its limbs first, then the
// next of all: each chooses a row, and the rows are added limb by limb of the product, whose sum stays in a register.
void field_multiply(field_t to, const field_t a, const field_t b) {
  // In memory: the registers are for the rows.
  volatile uint32_t product[2 * FIELD_LIMBS];
  for (uint32_t i = 0; i < 2 * FIELD_LIMBS; i++) product[i] = 0;
  make_rows(a);
  for (uint32_t shift = BITS; shift != 0;) {
    shift -= DIGIT_BITS;
    ROW(0, p) ROW(1, q) ROW(2, r) ROW(3, s) ROW(4, t) ROW(5, u) ROW(6, v) ROW(7, w) ROW(8, x) ROW(9, y) ROW(10, z)
    uint32_t above = 0;
    NEXT(0, p[0])
    NEXT(1, p[1] + q[0])
    NEXT(2, p[2] + q[1] + r[0])
    NEXT(3, p[3] + q[2] + r[1] + s[0])
    NEXT(4, p[4] + q[3] + r[2] + s[1] + t[0])
    NEXT(5, p[5] + q[4] + r[3] + s[2] + t[1] + u[0])
    NEXT(6, p[6] + q[5] + r[4] + s[3] + t[2] + u[1] + v[0])
    NEXT(7, p[7] + q[6] + r[5] + s[4] + t[3] + u[2] + v[1] + w[0])
    NEXT(8, p[8] + q[7] + r[6] + s[5] + t[4] + u[3] + v[2] + w[1] + x[0])
    NEXT(9, p[9] + q[8] + r[7] + s[6] + t[5] + u[4] + v[3] + w[2] + x[1] + y[0])
    NEXT(10, p[10] + q[9] + r[8] + s[7] + t[6] + u[5] + v[4] + w[3] + x[2] + y[1] + z[0])
    NEXT(11, q[10] + r[9] + s[8] + t[7] + u[6] + v[5] + w[4] + x[3] + y[2] + z[1])
    NEXT(12, r[10] + s[9] + t[8] + u[7] + v[6] + w[5] + x[4] + y[3] + z[2])
    NEXT(13, s[10] + t[9] + u[8] + v[7] + w[6] + x[5] + y[4] + z[3])
    NEXT(14, t[10] + u[9] + v[8] + w[7] + x[6] + y[5] + z[4])
    NEXT(15, u[10] + v[9] + w[8] + x[7] + y[6] + z[5])
    NEXT(16, v[10] + w[9] + x[8] + y[7] + z[6])
    NEXT(17, w[10] + x[9] + y[8] + z[7])
    NEXT(18, x[10] + y[9] + z[8])
    NEXT(19, y[10] + z[9])
    NEXT(20, z[10])
    product[21] = (product[21] << DIGIT_BITS) + above;  // It has few bits.
  }
  // 2^264 is 19 * 2^9: the limbs of the upper half, times 19, come in nine bits higher, and so a part of each in the
  // limb above. Of the last one that part is 0, for a product has 511 bits.
  uint32_t over = 0;
  for (uint32_t i = 0; i < FIELD_LIMBS; i++) {
    uint32_t upper = folded(product[FIELD_LIMBS + i] & MASK);
    to[i] = (product[i] & MASK) + (upper << 9 & MASK) + over;
    over = upper >> LAST_BITS;
  }
  carry(to);
}

void field_read(field_t to, const uint32_t *words) {
  for (uint32_t i = 0; i < FIELD_LIMBS; i++) {
    uint32_t bit = BITS * i;
    uint64_t pair = words[bit / 32];
    if (bit / 32 + 1 < FIELD_WORDS) pair |= (uint64_t)words[bit / 32 + 1] << 32;
    to[i] = (uint32_t)(pair >> bit % 32) & (i < LAST ? MASK : LAST_MASK);
  }
}

// The form below the modulus.
static void reduce(field_t a) {
  // That is 2^255 - 19 below, if adding 19 passes 2^255; otherwise it is as it was.
  field_t more;
  field_copy(more, a);
  more[0] += FOLD;
  for (uint32_t i = 0; i < LAST; i++) {
    more[i + 1] += more[i] >> BITS;
    more[i] &= MASK;
  }
  if (more[LAST] > LAST_MASK) {
    more[LAST] &= LAST_MASK;
    field_copy(a, more);
  }
}

bool field_is_zero(const field_t a) {
  field_t reduced;
  field_copy(reduced, a);
  reduce(reduced);
  uint32_t bits = 0;
  for (uint32_t i = 0; i < FIELD_LIMBS; i++) bits |= reduced[i];
  return bits == 0;
}

bool field_same(const field_t a, const field_t b) {
  field_t difference;
  field_sub(difference, a, b);
  return field_is_zero(difference);
}

bool field_is_odd(const field_t a) {
  field_t reduced;
  field_copy(reduced, a);
  reduce(reduced);
  return reduced[0] & 1;
}
