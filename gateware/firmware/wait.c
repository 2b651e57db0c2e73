#include "wait.h"

#include "clock.h"
#include "counters.h"
#include "discovery.h"
#include "frame.h"
#include "hw.h"
#include "session.h"

// Answers the frame at hand if nothing more than the card's own state is needed for that; else returns false.
static bool answer(void) {
  switch (asked.kind) {
    case KIND_DISCOVERY_SOLICIT:
      if (asked_words(WORDS_OF_DISCOVERY_SOLICIT)) discovery_solicit();
      return true;
    case KIND_SESSION_PING:
      if (asked_words(WORDS_OF_SESSION_PING)) session_ping();
      return true;
    case KIND_SESSION_COUNTERS_GET:
      if (asked_words(WORDS_OF_SESSION_COUNTERS_GET)) counters_tell();
      return true;
    default:
      return false;
  }
}

void wait_for(uint32_t event) {
  struct mac src = asked.src;
  uint32_t epoch = asked.epoch;
  uint32_t seq = asked.seq;
  frame_pop();
  bool is_blocked = false;
  while (!(READ(CSR_EVENTS) & event)) {
    ACT(CSR_ALIVE);
    clock_turn();
    bool busy = !is_blocked && frame_next();
    if (busy) {
      is_blocked = !answer();
      if (is_blocked) {
        frame_leave();
      } else {
        frame_pop();
      }
    }
    discovery_turn();
    if (busy) continue;
    clock_set_alarm();
    WRITE(CSR_SLEEP, event | EVENTS_ALARM | (is_blocked ? 0 : EVENTS_CONTROL));
  }
  WRITE(CSR_CLEAR, event);
  asked.src = src;
  asked.epoch = epoch;
  asked.seq = seq;
  // A lease that begins now must not have begun before.
  clock_turn();
}
