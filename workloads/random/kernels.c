#include "launch.h"

const char RANDOM_SOURCE[] =
#include "random.cl.inc"
    ;

static uint32_t stir(uint32_t hash, uint32_t value) { return (hash ^ value) * 0x01000193u + (hash >> 15); }

void model_add(uint32_t *a, const struct range3 *range, uint32_t twist, uint32_t k) {
  for (size_t i = 0; i < range->global[0]; i++) a[range->offset[0] + i] += k + twist;
}

void model_axpy(const uint32_t *x, uint32_t *y, const struct range3 *range, uint32_t twist, const uint32_t k[2]) {
  for (size_t i = range->offset[0]; i < range->offset[0] + range->global[0]; i++) y[i] += x[i] * k[0] + k[1] * twist;
}

void model_reverse(uint32_t *a, const struct range3 *range, uint32_t twist) {
  for (size_t group = 0; group < range->global[0]; group += 16) {
    uint32_t *first = a + range->offset[0] + group;
    for (size_t i = 0; i < 8; i++) {
      uint32_t left = first[i];
      first[i] = first[15 - i] ^ twist;
      first[15 - i] = left ^ twist;
    }
  }
}

void model_grid(uint32_t *a, const struct range3 *range, uint32_t twist) {
  const size_t *n = range->global;
  for (size_t i = 0; i < n[0] * n[1] * n[2]; i++) {
    size_t id[3] = {i % n[0], i / n[0] % n[1], i / n[0] / n[1]};
    uint32_t hash = twist;
    for (unsigned d = 3; d-- > 0;) {
      hash = stir(hash, (uint32_t)(id[d] + range->offset[d]));
      hash = stir(hash, (uint32_t)n[d]);
      hash = stir(hash, (uint32_t)range->offset[d]);
    }
    a[i] = stir(hash, range->dimensions);
  }
}

void model_groups(uint32_t *a, const struct range3 *range, uint32_t twist) {
  static const uint32_t LOCAL[2] = {4, 2};
  for (size_t i = 0; i < range->global[0] * range->global[1]; i++) {
    size_t id[2] = {i % range->global[0], i / range->global[0]};
    uint32_t hash = twist;
    for (unsigned d = 0; d < 2; d++) {
      hash = stir(hash, (uint32_t)id[d] % LOCAL[d]);
      hash = stir(hash, (uint32_t)id[d] / LOCAL[d]);
      hash = stir(hash, (uint32_t)range->global[d] / LOCAL[d]);
      hash = stir(hash, LOCAL[d]);
    }
    a[i] = hash;
  }
}

void model_sum(const uint32_t *x, uint32_t *total, const struct range3 *range, uint32_t twist) {
  for (size_t i = range->offset[0]; i < range->offset[0] + range->global[0]; i++) *total += x[i] * twist;
}

void model_lookup(uint32_t *a, const uint32_t *table, uint32_t entries, const struct range3 *range, uint32_t twist) {
  for (size_t i = range->offset[0]; i < range->offset[0] + range->global[0]; i++) {
    a[i] ^= table[(a[i] + twist) % entries];
  }
}

void model_either(uint32_t *a, const uint32_t *b, const struct range3 *range, uint32_t twist) {
  for (size_t i = range->offset[0]; i < range->offset[0] + range->global[0]; i++) a[i] = b ? b[i] ^ twist : ~a[i];
}

void model_bytes(uint8_t *a, const struct range3 *range, uint32_t twist, const uint8_t k[4], uint64_t l) {
  for (size_t i = range->offset[0]; i < range->offset[0] + range->global[0]; i++) {
    a[i] = (uint8_t)((uint32_t)a[i] * k[0] + k[1] - k[3] + (uint8_t)(l >> (8 * (i % 8))) + twist);
  }
}
