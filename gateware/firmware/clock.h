// Time: microseconds since reset, and when to be woken next.
//
// A moment is the low 32 bits of the time, and two of them are compared by the sign of their difference: nothing waits
// longer than CLOCK_SPAN_MAX.
#ifndef RL_CLOCK_H
#define RL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define CLOCK_SPAN_MAX (1u << 30)

// The moment for which the firmware acts at present. It is read once for each turn of the main loop, so that all of a
// turn's deadlines agree.
extern uint32_t now;

// Begins a turn: reads the time, and forgets the deadlines of the last turn.
void clock_turn(void);

// True when this moment has come. If not, the firmware is woken then at the latest.
bool clock_due(uint32_t at);

// The moment after a random part of so many microseconds.
uint32_t clock_within(uint32_t us);

// Nanoseconds from reset to this moment, which is near `now`.
uint64_t clock_ns(uint32_t at);

// Sets the alarm to the earliest deadline of this turn.
void clock_set_alarm(void);

#endif
