#include "counters.h"

#include "frame.h"
#include "hw.h"
#include "wire.h"

static uint64_t counts[COUNTERS_COMMON];

void count_by(uint32_t counter, uint64_t n) {
  counts[counter] += n;
}

void count(uint32_t counter) {
  count_by(counter, 1);
}

void counters_tell(void) {
  uint32_t first = asked.addr < COUNTERS ? (uint32_t)asked.addr : COUNTERS;
  frame_answer(KIND_SESSION_COUNTERS, asked.epoch);
  frame_address(asked.addr);
  for (uint32_t i = first; i < COUNTERS; i++) {
    if (i >= COUNTERS_COMMON) {
      frame_put_long(0);
      continue;
    }
    // The high half may come a moment after the low one that goes with it.
    uint32_t high;
    uint32_t low;
    do {
      high = READ(COUNTER_WORD(i, COUNTER_SLOT_HI));
      low = READ(COUNTER_WORD(i, COUNTER_SLOT_LO));
    } while (READ(COUNTER_WORD(i, COUNTER_SLOT_HI)) != high);
    uint64_t fast = (uint64_t)high << 32 | low;
    frame_put_long(fast + counts[i]);
  }
  frame_send();
}
