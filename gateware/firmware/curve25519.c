#include "curve25519.h"

// Twice the curve's d.
static const field_t d_twice = {0xB2F159, 0x9B9426, 0x56EBD6, 0x8283B1, 0xE0149A, 0xD13000, 0xF2EEF3,
    0x198E80, 0xDFFCE7, 0xD9DC56, 0x002406};
const struct addend base[BASE_MULTIPLES] = {
    {{0x8C3B85, 0x93C6F5, 0x192FBC, 0xFB8C0E, 0x932DC6, 0x42C2CF, 0x98643D, 0x270B48, 0xD4BA65, 0x9D3A33, 0x0007CF},
     {0x40913E, 0x3905D7, 0xB39D10, 0xD140BE, 0x399F05, 0x8A09FD, 0x34688F, 0xA5C184, 0xF81267, 0x2F9298, 0x0044FD},
     {0x7AAA68, 0x120587, 0x9EABC9, 0xCCAAC4, 0xD9E823, 0x598C26, 0xCBDD43, 0x5A1B7D, 0x0C65A8, 0x7B689F, 0x006F11}},
    {{0xEE9730, 0xB0A84C, 0x8AAF25, 0xE8864B, 0x5A8430, 0x673202, 0x029F01, 0xC11B50, 0x80F8F4, 0x4E1B9A, 0x007A16},
     {0xFCD265, 0x1FE8A4, 0x7D5661, 0xE5C1BA, 0xD353FD, 0xD6BD3B, 0x1A214B, 0x8131F3, 0x5BDA62, 0x158755, 0x002AB9},
     {0xD0D889, 0x933F0D, 0x6214AE, 0x1C35DA, 0x942322, 0xDB4C58, 0x458CF2, 0xD170E5, 0xB9B4C6, 0x26AF12, 0x005A28}},
    {{0xA5BB33, 0xBC4408, 0x02A212, 0xC75EED, 0x5048C3, 0xEC448D, 0x0C5ABF, 0xDD1BEB, 0xE206EB, 0xCCF146, 0x002945},
     {0x47D6BA, 0x82C3A4, 0xB77F91, 0x4B2729, 0x0014D1, 0xA087D5, 0x1CB864, 0xE33CF1, 0x1B55F3, 0x7E73EB, 0x00154A},
     {0x2A8285, 0xDBF181, 0xFCBCBB, 0xD0BDD1, 0x0E0807, 0xA72D27, 0x0B1BBD, 0xB41B67, 0x3BB69A, 0xBE696B, 0x0043AA}},
    {{0x4EA3BF, 0x5CD094, 0xD26B1A, 0xB39DC0, 0x70353A, 0x2E4974, 0x822854, 0x71B252, 0x3C927E, 0xEA6928, 0x00461B},
     {0x3221B1, 0x2C9AAA, 0xA7BA6F, 0x3BBA23, 0xA02153, 0x2C3A6C, 0x4F9219, 0x9DEA76, 0x5317E0, 0xDD5D2E, 0x001D6E},
     {0xB8B3A2, 0x6DC801, 0x9AF183, 0x053EA4, 0x035F47, 0xADF3B3, 0xBA5877, 0x529C41, 0x0F90A7, 0xBB1C6A, 0x007A9F}},
    {{0xA8632F, 0x678AA6, 0xC59B2E, 0x51BC46, 0x509E6F, 0xF5B5A6, 0xC9C686, 0xCEB233, 0xDD7F59, 0xED338A, 0x0034B9},
     {0x9D8064, 0x217E03, 0x9BF36E, 0xF52041, 0xA081B6, 0xB04498, 0x08E75E, 0x96CBC6, 0xDC9C8F, 0x5A51FA, 0x0049C0},
     {0x45AF1B, 0xE8BF90, 0x2F06B4, 0xA719D2, 0xFF83E8, 0xCF16E2, 0x2993D4, 0xAAF6FC, 0x008B06, 0x72021B, 0x0073C1}},
    {{0x802ADE, 0x00848A, 0x272FBF, 0x02302E, 0xD9FECF, 0x3406E5, 0x711770, 0x113E84, 0x6D8FAF, 0xAAE254, 0x004275},
     {0x864348, 0x5B0249, 0x81315F, 0x770883, 0xD6B369, 0xEB953E, 0x556A8D, 0xA3A075, 0xD5C77F, 0x598029, 0x0018AB},
     {0x6089E9, 0x2CC5FD, 0xA4D82B, 0x3282E4, 0x1EB4A1, 0x862203, 0x99B51A, 0x443111, 0x3DF948, 0x5522B5, 0x003DC6}},
    {{0x007F6D, 0xC222A2, 0xDBBF70, 0xB5BCDE, 0x84B39A, 0xBA07BF, 0x12FB07, 0x537A0E, 0x46F241, 0xD7EEC3, 0x00234F},
     {0x7FBF93, 0x013B32, 0x6B506F, 0x9B776F, 0xFCEBC9, 0x5968AE, 0x32AAAD, 0x9D12B2, 0x6024A7, 0x882D17, 0x000267},
     {0x2EA378, 0xA11973, 0x715360, 0xDF8DD4, 0x37E6B1, 0xE53324, 0xF891A7, 0xA2EF37, 0x097863, 0xA6FDAA, 0x00497B}},
    {{0xCFEAA0, 0xCC0313, 0x6D24CE, 0x189C24, 0x48C28D, 0xD4D086, 0xFAC1F2, 0x2DBDBD, 0x2DE72B, 0x2917F1, 0x0061E2},
     {0x8CCF0B, 0xCD8646, 0xD6040B, 0x2A9910, 0x829BA4, 0x5192D3, 0x0807B2, 0x750830, 0xD05EBF, 0xCD4218, 0x0043B5},
     {0xD0B516, 0x762F9B, 0xEE5D9A, 0x373FDE, 0x38AF4E, 0x4270EB, 0x7D93D6, 0x032E5A, 0xE4D842, 0x61210A, 0x00511D}},
};

void point_zero(struct point *p) {
  for (uint32_t i = 0; i < FIELD_LIMBS; i++) p->x[i] = p->y[i] = p->z[i] = p->t[i] = 0;
  p->y[0] = p->z[0] = 1;
}

void point_copy(struct point *to, const struct point *from) {
  field_copy(to->x, from->x);
  field_copy(to->y, from->y);
  field_copy(to->z, from->z);
  field_copy(to->t, from->t);
}

// From the sides of a rectangle, as it were: x is e / g, y is h / f, in one denominator.
static void finish(struct point *p, const field_t e, const field_t f, const field_t g, const field_t h) {
  field_multiply(p->x, e, f);
  field_multiply(p->y, g, h);
  field_multiply(p->z, f, g);
}

// Hisil, Wong, Carter and Dawson, Twisted Edwards Curves Revisited (2008), section 3.3, with all signs turned.
void point_double(struct point *p, bool adds) {
  field_t e, f, g, h, a;
  field_multiply(a, p->x, p->x);
  field_multiply(g, p->y, p->y);
  field_multiply(f, p->z, p->z);
  field_add(f, f, f);
  field_add(e, p->x, p->y);
  field_multiply(e, e, e);
  field_add(h, a, g);
  field_sub(e, e, h);
  field_sub(g, g, a);
  field_sub(f, g, f);
  // There h is -a - g.
  field_sub(h, a, h);
  field_sub(h, h, a);
  finish(p, e, f, g, h);
  if (adds) field_multiply(p->t, e, h);
}

// The same, section 3.1. A point is taken away by adding that of the opposite x.
void point_add(struct point *p, const struct addend *other, const uint32_t *z, bool minus) {
  field_t e, f, g, h, a;
  field_sub(a, p->y, p->x);
  field_multiply(a, a, minus ? other->sum : other->difference);
  field_add(h, p->y, p->x);
  field_multiply(h, h, minus ? other->difference : other->sum);
  field_multiply(f, p->t, other->dt);
  if (z != 0) {
    field_multiply(g, p->z, z);
  } else {
    field_add(g, p->z, p->z);
  }
  field_sub(e, h, a);
  field_add(h, h, a);
  field_add(a, g, f);
  field_sub(g, g, f);
  if (minus) {
    finish(p, e, a, g, h);
  } else {
    finish(p, e, g, a, h);
  }
  field_multiply(p->t, e, h);
}

void point_prepare(struct addend_z *to, const struct point *p) {
  field_add(to->point.sum, p->y, p->x);
  field_sub(to->point.difference, p->y, p->x);
  field_multiply(to->point.dt, p->t, d_twice);
  field_add(to->z, p->z, p->z);
}

bool point_is_zero(const struct point *p) {
  return field_is_zero(p->x) && field_same(p->y, p->z);
}

bool point_same(const struct point *a, const struct point *b) {
  field_t left, right;
  field_multiply(left, a->x, b->z);
  field_multiply(right, b->x, a->z);
  if (!field_same(left, right)) return false;
  field_multiply(left, a->y, b->z);
  field_multiply(right, b->y, a->z);
  return field_same(left, right);
}
