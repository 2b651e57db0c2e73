/* Random numbers that a seed decides: SplitMix64 (Steele, Lea, Flood 2014), the same on every machine. */
#ifndef WORKLOADS_DRAW_H
#define WORKLOADS_DRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct draw {
  uint64_t state; /* The seed, at first. */
};

/* 64 random bits. */
uint64_t draw_bits(struct draw *draw);

/* A number from 0 to `end` - 1; `end` of 1 or more. The bias is below 2^-32 for the small ends used here. */
uint32_t draw_below(struct draw *draw, uint32_t end);

/* A number from `first` to `last`, both possible. */
uint32_t draw_from(struct draw *draw, uint32_t first, uint32_t last);

/* True in `percent` of a hundred cases. */
bool draw_chance(struct draw *draw, uint32_t percent);

/* Random bytes. */
void draw_bytes(struct draw *draw, void *to, size_t bytes);

#endif
