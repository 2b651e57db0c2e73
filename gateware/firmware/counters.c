#include "counters.h"

#include "frame.h"
#include "hw.h"
#include "keys.h"
#include "wire.h"

// Those that the firmware counts are among these; hardware counts the others.
#define FIRST COUNTER_DROP_KIND
#define LAST COUNTER_DROP_QUEUE
static uint64_t counts[LAST - FIRST + 1];

void count_by(uint32_t counter, uint64_t n) {
  counts[counter - FIRST] += n;
}

void count(uint32_t counter) {
  count_by(counter, 1);
}

// Of the bridge's counters, and of those of tags behind them (KEY_COUNT), the firmware counts none. They are 0 without.
static uint32_t half(uint32_t counter, uint32_t which) {
  if (counter < COUNTERS_COMMON) return READ(COUNTER_WORD(counter, which));
  return READ(CSR_BRG_COUNT(2 * (counter - COUNTERS_COMMON) + which));
}

void counters_tell(void) {
  uint32_t first = asked.addr < COUNTERS ? (uint32_t)asked.addr : COUNTERS;
  frame_answer(KIND_SESSION_COUNTERS, asked.epoch);
  frame_address(asked.addr);
  for (uint32_t i = first; i < COUNTERS; i++) {
    // The high half may come a moment after the low one that goes with it.
    uint32_t high;
    uint32_t low;
    do {
      high = half(i, COUNTER_SLOT_HI);
      low = half(i, COUNTER_SLOT_LO);
    } while (half(i, COUNTER_SLOT_HI) != high);
    uint64_t fast = (uint64_t)high << 32 | low;
    if (i - FIRST <= LAST - FIRST) fast += counts[i - FIRST];
    fast += keys_counted(i);
    if (i == COUNTER_DROP_FOREIGN) fast += READ(CSR_BRG_LOST);
    frame_put_long(fast);
  }
  frame_send();
}
