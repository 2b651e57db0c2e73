// Points of Ed25519's curve, -x^2 + y^2 = 1 + d x^2 y^2, in extended coordinates: x = X / Z, y = Y / Z, xy = T / Z.
#ifndef RL_CURVE25519_H
#define RL_CURVE25519_H

#include "field25519.h"

struct point {
  field_t x, y, z, t;
};

// A point as it is added: Y + X, Y - X, 2 d T, and 2 Z, which stands nowhere if Z is 1.
struct addend {
  field_t sum, difference, dt;
};
struct addend_z {
  struct addend point;
  field_t z;
};

// Odd multiples of the curve's base point, from 1 on, Z being 1.
#define BASE_MULTIPLES 8u
extern const struct addend base[BASE_MULTIPLES];

// The point that adds nothing.
void point_zero(struct point *p);

void point_copy(struct point *to, const struct point *from);

// T is left as it was where nothing is added next.
void point_double(struct point *p, bool adds);

// Adds the other one, whose Z is given if it is not 1, or takes it away.
void point_add(struct point *p, const struct addend *other, const uint32_t *z, bool minus);
void point_prepare(struct addend_z *to, const struct point *p);

// Whether a point is the one that adds nothing, and whether two are the same.
bool point_is_zero(const struct point *p);
bool point_same(const struct point *a, const struct point *b);

#endif
