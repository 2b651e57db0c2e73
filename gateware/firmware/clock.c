#include "clock.h"

#include "arith.h"
#include "hw.h"
#include "random.h"
#include "wire.h"

uint32_t now;

static uint32_t now_hi;
static uint32_t earliest;

void clock_turn(void) {
  now = READ(CSR_TIME_LO);
  now_hi = READ(CSR_TIME_HI);
  earliest = now + CLOCK_SPAN_MAX;
}

bool clock_due(uint32_t at) {
  if ((int32_t)(at - now) <= 0) return true;
  if ((int32_t)(at - earliest) < 0) earliest = at;
  return false;
}

uint32_t clock_within(uint32_t us) {
  return now + random_below(us < WINDOW_US_MAX ? us : WINDOW_US_MAX);
}

uint64_t clock_ns(uint32_t at) {
  uint64_t us = ((uint64_t)now_hi << 32 | now) + (uint64_t)(int64_t)(int32_t)(at - now);
  return arith_times((uint32_t)us, 1000) + (arith_times((uint32_t)(us >> 32), 1000) << 32);
}

void clock_set_alarm(void) {
  WRITE(CSR_ALARM, earliest);
}
