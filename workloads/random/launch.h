/* The kernels of random.cl as plain C. */
#ifndef RANDOM_LAUNCH_H
#define RANDOM_LAUNCH_H

#include <stddef.h>
#include <stdint.h>

#include "world.h"

/* The source of random.cl. */
extern const char RANDOM_SOURCE[];

/* A range of work-items. */
struct range3 {
  unsigned dimensions;
  size_t offset[3], global[3];
};

void model_add(uint32_t *a, const struct range3 *range, uint32_t twist, uint32_t k);
void model_axpy(const uint32_t *x, uint32_t *y, const struct range3 *range, uint32_t twist, const uint32_t k[2]);
void model_reverse(uint32_t *a, const struct range3 *range, uint32_t twist);
void model_grid(uint32_t *a, const struct range3 *range, uint32_t twist);
void model_groups(uint32_t *a, const struct range3 *range, uint32_t twist);
void model_sum(const uint32_t *x, uint32_t *total, const struct range3 *range, uint32_t twist);
void model_lookup(uint32_t *a, const uint32_t *table, uint32_t entries, const struct range3 *range, uint32_t twist);
/* `b` may be NULL. */
void model_either(uint32_t *a, const uint32_t *b, const struct range3 *range, uint32_t twist);
void model_bytes(uint8_t *a, const struct range3 *range, uint32_t twist, const uint8_t k[4], uint64_t l);

/* launch.c: what is built now. */
cl_program kernels_program(const struct kernels *kernels);
bool kernels_of_source(const struct kernels *kernels);
cl_kernel kernels_any(const struct kernels *kernels, struct draw *draw);

#endif
