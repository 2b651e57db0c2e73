// Results: what launches gave, pushed until the host has acknowledged it.
//
// The output region is read from DDR when a chunk is sent: the host must not write to it, nor launch a kernel that
// does, before it has acknowledged the result.
#ifndef RL_RESULT_H
#define RL_RESULT_H

#include <stdbool.h>
#include <stdint.h>

// Results not yet acknowledged.
uint32_t result_kept(void);

// The launch in this slot has ended, after its kernel `ran` or without.
void result_push(uint32_t slot, uint32_t status, bool ran);

// A program over links has ended, with this cause, after so many microseconds; its report is to be sent.
void result_push_program(uint32_t seq, uint32_t status, uint32_t credit, uint64_t report_at, uint32_t length,
                         uint32_t cause, uint32_t took_us);

// A launch's number is used up without a kernel having run.
void result_push_rejected(uint32_t seq, uint32_t status);

// Says again how this launch ended; false if it is not known.
bool result_repeat(uint32_t seq);

// What the host has, and how much more it takes.
void result_acknowledge(void);

// Schedules again what has not been acknowledged in time.
void result_turn(void);

// Sends what there is to send, until other things have to be done; false when nothing is left.
bool result_transmit(void);

// Forgets all of them.
void result_forget(void);

#endif
