#include "ed25519.h"

#include "arith.h"
#include "curve25519.h"
#include "decode25519.h"
#include "scalar25519.h"
#include "sha512.h"

// Bits of the digits by which the key and the base point are multiplied: there are odd multiples for a quarter of what
// such a digit may be. For the base point there are more.
#define KEY_WIDTH 4u
#define BASE_WIDTH 5u
#define KEY_MULTIPLES (1u << (KEY_WIDTH - 2))
_Static_assert(BASE_MULTIPLES == 1u << (BASE_WIDTH - 2), "each odd digit has its multiple");

// What is right is R = S base - h key, where h is the SHA-512 of R, the key and the message. Digits of S and h are
// gone through from the highest on, and the sum is doubled for each.
static enum phase { KEY, KEY_ORDER, R, R_ORDER, SUM, DONE } phase;
static enum ed25519 verdict;
static uint32_t r_words[ED25519_KEY_WORDS];
static struct point r, key, sum;
static struct addend_z multiples[KEY_MULTIPLES];
static int8_t s_digits[SCALAR_DIGITS], h_digits[SCALAR_DIGITS];
static uint32_t left;
static bool s_is_reduced;

// The words of a number that is sent with its lowest byte first.
static void turn(uint32_t *to, const uint32_t *from) {
  for (uint32_t i = 0; i < ED25519_KEY_WORDS; i++) to[i] = arith_reversed(from[i]);
}

static void put(const uint32_t *words, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) sha512_put(words[i]);
}

static void decide(enum ed25519 is) {
  verdict = is;
  phase = DONE;
}

void ed25519_begin(const uint32_t *signature, const uint32_t *of, const uint32_t *message, uint32_t words) {
  uint32_t number[2 * SCALAR_WORDS], h[SCALAR_WORDS];
  verdict = ED25519_UNKNOWN;
  phase = KEY;
  sha512_begin();
  put(signature, ED25519_KEY_WORDS);
  put(of, ED25519_KEY_WORDS);
  put(message, words);
  const uint32_t *digest = sha512_end(0, 0);
  turn(number, digest);
  turn(number + SCALAR_WORDS, digest + SCALAR_WORDS);
  scalar_reduce(h, number);
  scalar_recode(h_digits, h, KEY_WIDTH);
  turn(r_words, signature);
  turn(number, of);
  decode25519_begin(number);
  turn(number, signature + ED25519_KEY_WORDS);
  s_is_reduced = scalar_is_reduced(number);
  scalar_recode(s_digits, number, BASE_WIDTH);
}

static void multiply_key(void) {
  struct addend_z twice;
  point_copy(&sum, &key);
  point_prepare(&multiples[0], &sum);
  point_double(&key, true);
  point_prepare(&twice, &key);
  for (uint32_t i = 1; i < KEY_MULTIPLES; i++) {
    point_add(&sum, &twice.point, twice.z, false);
    point_prepare(&multiples[i], &sum);
  }
}

// Which of the odd multiples a digit is.
static uint32_t multiple(int8_t digit) {
  return (uint32_t)(digit < 0 ? -digit : digit) >> 1;
}

static void next_digit(void) {
  left--;
  int8_t s = s_digits[left], h = h_digits[left];
  point_double(&sum, s != 0 || h != 0);
  if (s != 0) point_add(&sum, &base[multiple(s)], 0, s < 0);
  const struct addend_z *of_key = &multiples[multiple(h)];
  if (h != 0) point_add(&sum, &of_key->point, of_key->z, h > 0);
}

static void take_key(void) {
  if (point_is_small(&key)) return decide(ED25519_WEAK);
  if (!s_is_reduced) return decide(ED25519_WRONG);
  multiply_key();
  decode25519_begin(r_words);
  phase = R;
}

static void take_r(void) {
  if (point_is_small(&r)) return decide(ED25519_WRONG);
  point_zero(&sum);
  left = SCALAR_DIGITS;
  while (left != 0 && s_digits[left - 1] == 0 && h_digits[left - 1] == 0) left--;
  phase = SUM;
}

enum ed25519 ed25519_step(void) {
  bool valid = true;
  switch (phase) {
    case KEY:
      if (!decode25519_step(&key, &valid)) break;
      if (!valid) decide(ED25519_WEAK);
      else phase = KEY_ORDER;
      break;
    case KEY_ORDER:
      take_key();
      break;
    case R:
      if (!decode25519_step(&r, &valid)) break;
      if (!valid) decide(ED25519_WRONG);
      else phase = R_ORDER;
      break;
    case R_ORDER:
      take_r();
      break;
    case SUM:
      if (left != 0) next_digit();
      else decide(point_same(&sum, &r) ? ED25519_RIGHT : ED25519_WRONG);
      break;
    case DONE:
      break;
  }
  return verdict;
}
