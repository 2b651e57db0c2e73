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

// Doublings that make zero of a point of small order.
#define ORDER_DOUBLINGS 3u
// Words of the hash that are taken at once.
#define HASH_WORDS_AT_ONCE 4u

// What is right is R = S base - h key, where h is the SHA-512 of R, the key and the message. Digits of S and h are
// gone through from the highest on, and the sum is doubled for each.
static enum phase {
  HASH,
  HASH_END,
  REDUCE,
  RECODE_H,
  RECODE_S,
  KEY_BEGIN,
  KEY,
  KEY_ORDER,
  MULTIPLES,
  R_BEGIN,
  R,
  R_ORDER,
  DOUBLE,
  ADD_S,
  ADD_H,
  COMPARE,
  DONE
} phase;
static enum ed25519 verdict;
static const uint32_t *signature, *key_words, *message;
static uint32_t message_words;
static uint32_t number[SCALAR_WORDS];
static const uint32_t *hash;
static struct point r, key, sum;
static struct addend_z multiples[KEY_MULTIPLES], twice;
static int8_t s_digits[SCALAR_DIGITS], h_digits[SCALAR_DIGITS];
static uint32_t left;  // Of what the phase counts.
static bool s_is_reduced;

// The words of a number that is sent with its lowest byte first.
static void turn(const uint32_t *from) {
  for (uint32_t i = 0; i < SCALAR_WORDS; i++) number[i] = arith_reversed(from[i]);
}

static void put(const uint32_t *words, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) sha512_put(words[i]);
}

static void decide(enum ed25519 is) {
  verdict = is;
  phase = DONE;
}

void ed25519_begin(const uint32_t *of, const uint32_t *by, const uint32_t *what, uint32_t words) {
  signature = of;
  key_words = by;
  message = what;
  message_words = words;
  verdict = ED25519_UNKNOWN;
  phase = HASH;
}

// -- numbers
static void hash_message(void) {
  sha512_begin();
  put(signature, ED25519_KEY_WORDS);
  put(key_words, ED25519_KEY_WORDS);
  put(message, message_words);
  phase = HASH_END;
}

static void end_hash(void) {
  hash = sha512_end(0, 0);
  for (uint32_t i = 0; i < SCALAR_WORDS; i++) number[i] = 0;
  left = SHA512_WORDS;
  phase = REDUCE;
}

static void reduce_hash(void) {
  for (uint32_t i = 0; i < HASH_WORDS_AT_ONCE; i++) scalar_append(number, arith_reversed(hash[--left]));
  if (left == 0) phase = RECODE_H;
}

static void recode_s(void) {
  turn(signature + ED25519_KEY_WORDS);
  s_is_reduced = scalar_is_reduced(number);
  scalar_recode(s_digits, number, BASE_WIDTH);
  phase = KEY_BEGIN;
}

// -- points
static void begin_point(const uint32_t *words, enum phase then) {
  turn(words);
  decode25519_begin(number);
  phase = then;
}

// The point was decoded, and is there or not: then its order is looked at.
static void decoded(const struct point *p, bool valid, enum phase then, enum ed25519 otherwise) {
  if (!valid) return decide(otherwise);
  point_copy(&sum, p);
  left = ORDER_DOUBLINGS;
  phase = then;
}

// True when the order is known: `small` says whether it is 8 or a part of that.
static bool order_step(bool *small) {
  if (left-- != 0) {
    point_double(&sum, false);
    return false;
  }
  *small = point_is_zero(&sum);
  return true;
}

static void judge_key(bool is_small) {
  if (is_small) return decide(ED25519_WEAK);
  if (!s_is_reduced) return decide(ED25519_WRONG);
  left = 0;
  phase = MULTIPLES;
}

// The next of the key's odd multiples.
static void multiply_key(void) {
  if (left == 0) {
    point_copy(&sum, &key);
    point_double(&key, true);
    point_prepare(&twice, &key);
  } else {
    point_add(&sum, &twice.point, twice.z, false);
  }
  point_prepare(&multiples[left], &sum);
  if (++left == KEY_MULTIPLES) phase = R_BEGIN;
}

static void judge_r(bool is_small) {
  if (is_small) return decide(ED25519_WRONG);
  point_zero(&sum);
  left = SCALAR_DIGITS;
  while (left != 0 && s_digits[left - 1] == 0 && h_digits[left - 1] == 0) left--;
  phase = left != 0 ? DOUBLE : COMPARE;
}

// Which of the odd multiples a digit is.
static uint32_t multiple(int8_t digit) {
  return (uint32_t)(digit < 0 ? -digit : digit) >> 1;
}

// One of the three parts of a digit's turn, and what comes next.
static void sum_step(void) {
  int8_t s = s_digits[left - 1], h = h_digits[left - 1];
  switch (phase) {
    case DOUBLE:
      point_double(&sum, s != 0 || h != 0);
      phase = s != 0 ? ADD_S : ADD_H;
      break;
    case ADD_S:
      point_add(&sum, &base[multiple(s)], 0, s < 0);
      phase = ADD_H;
      break;
    default:
      if (h != 0) point_add(&sum, &multiples[multiple(h)].point, multiples[multiple(h)].z, h > 0);
      phase = --left != 0 ? DOUBLE : COMPARE;
  }
}

enum ed25519 ed25519_step(void) {
  bool is = false;
  switch (phase) {
    case HASH:
      hash_message();
      break;
    case HASH_END:
      end_hash();
      break;
    case REDUCE:
      reduce_hash();
      break;
    case RECODE_H:
      scalar_recode(h_digits, number, KEY_WIDTH);
      phase = RECODE_S;
      break;
    case RECODE_S:
      recode_s();
      break;
    case KEY_BEGIN:
      begin_point(key_words, KEY);
      break;
    case KEY:
      if (decode25519_step(&key, &is)) decoded(&key, is, KEY_ORDER, ED25519_WEAK);
      break;
    case KEY_ORDER:
      if (order_step(&is)) judge_key(is);
      break;
    case MULTIPLES:
      multiply_key();
      break;
    case R_BEGIN:
      begin_point(signature, R);
      break;
    case R:
      if (decode25519_step(&r, &is)) decoded(&r, is, R_ORDER, ED25519_WRONG);
      break;
    case R_ORDER:
      if (order_step(&is)) judge_r(is);
      break;
    case DOUBLE:
    case ADD_S:
    case ADD_H:
      sum_step();
      break;
    case COMPARE:
      decide(point_same(&sum, &r) ? ED25519_RIGHT : ED25519_WRONG);
      break;
    case DONE:
      break;
  }
  return verdict;
}
