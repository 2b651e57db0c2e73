// Programs over links: launches of a kernel of their own number, which the card's sequencer runs (rl_collective_csr), eight
// at once. They are accepted in order with all others, and wait and run beside them. Only the firmware of a card with
// links is built with RL_LINKS.
#ifndef RL_PROGRAMS_H
#define RL_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>

// Programs that have not ended, at most: the protocol's CONTEXTS.
#define PROGRAMS 8u

#ifdef RL_LINKS
// Whether the launch at hand is a program's, and this card has links.
bool programs_asked(void);

// What is wrong with the program at hand, which has so many arguments, or OK.
uint32_t programs_fault(uint32_t args);

// Begins it, or keeps it until its Go.
void programs_accept(void);

// Programs that have not ended.
uint32_t programs_queued(void);

// Whether one has this number.
bool programs_has(uint32_t seq);

// Hands those that have ended to the results.
void programs_collect(void);

// A Go with this number has come.
void programs_go(uint32_t number);

// Cancels a program; whether there was one.
bool programs_cancel(uint32_t seq);

// Ends all programs without a word. Returns when nothing of theirs is under way.
void programs_forget(void);
#else
static inline bool programs_asked(void) {
  return false;
}

static inline uint32_t programs_fault(uint32_t args) {
  return args;
}

static inline void programs_accept(void) {}

static inline uint32_t programs_queued(void) {
  return 0;
}

static inline bool programs_has(uint32_t seq) {
  (void)seq;
  return false;
}

static inline void programs_collect(void) {}

static inline void programs_go(uint32_t number) {
  (void)number;
}

static inline bool programs_cancel(uint32_t seq) {
  (void)seq;
  return false;
}

static inline void programs_forget(void) {}
#endif

#endif
