#include "draw.h"

#include <assert.h>
#include <string.h>

uint64_t draw_bits(struct draw *draw) {
  uint64_t z = draw->state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

uint32_t draw_below(struct draw *draw, uint32_t end) {
  assert(end > 0);
  return (uint32_t)(((draw_bits(draw) >> 32) * end) >> 32);
}

uint32_t draw_from(struct draw *draw, uint32_t first, uint32_t last) {
  assert(first <= last);
  return first + draw_below(draw, last - first + 1);
}

bool draw_chance(struct draw *draw, uint32_t percent) { return draw_below(draw, 100) < percent; }

void draw_bytes(struct draw *draw, void *to, size_t bytes) {
  unsigned char *at = to;
  while (bytes > 0) {
    uint64_t bits = draw_bits(draw);
    size_t some = bytes < sizeof bits ? bytes : sizeof bits;
    memcpy(at, &bits, some);
    at += some;
    bytes -= some;
  }
}
