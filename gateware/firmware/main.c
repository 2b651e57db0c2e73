// The main loop: frames first, then what has happened, then what is due. When there is nothing to do the processor
// sleeps until something happens or is due.
#include "card.h"
#include "clock.h"
#include "counters.h"
#include "discovery.h"
#include "filter.h"
#include "frame.h"
#include "hw.h"
#include "launch.h"
#include "load.h"
#include "memory.h"
#include "random.h"
#include "result.h"
#include "role.h"
#include "session.h"

// Events that stay until they are cleared and that the main loop takes.
#define LATCHED (EVENTS_DIGEST_IDLE | EVENTS_CONFIG_DONE)
// What wakes the processor.
#define WAKES (EVENTS_CONTROL | EVENTS_ACK_DUE | EVENTS_LAUNCH_ENDED | EVENTS_ALARM | LATCHED)

// Which frame goes to which part. Heads and lengths have been checked by the analyzer; payloads have not.
static void dispatch(void) {
  switch (asked.kind) {
    case KIND_DISCOVERY_SOLICIT:
      if (asked_words(SOLICIT_WORDS)) discovery_solicit();
      break;
    case KIND_SESSION_CLAIM:
      if (asked_words(CLAIM_WORDS)) session_claim();
      break;
    case KIND_SESSION_RELEASE:
      if (asked_words(RELEASE_WORDS)) session_release();
      break;
    case KIND_SESSION_PING:
      if (asked_words(0)) session_ping();
      break;
    case KIND_SESSION_COUNTERS_GET:
      if (asked_words(0)) counters_tell();
      break;
    case KIND_SESSION_MANIFEST_GET:
      if (asked_words(0)) role_tell_manifest();
      break;
    case KIND_IMAGE_BEGIN:
      if (asked_words(IMAGE_BEGIN_WORDS)) load_begin();
      break;
    case KIND_IMAGE_DATA:
    case KIND_IMAGE_POLL:
    case KIND_IMAGE_COMMIT:
    case KIND_IMAGE_ABORT:
      load_image();
      break;
    case KIND_IMAGE_CONFIRM_MISSING:
      load_overhear();
      break;
    case KIND_INPUT_WRITE:
      memory_write();
      break;
    case KIND_INPUT_READ:
      if (asked_words(READ_WORDS)) memory_read();
      break;
    case KIND_EXEC_LAUNCH:
      launch_come();
      break;
    case KIND_EXEC_GO:
      if (asked_words(0)) launch_go();
      break;
    case KIND_EXEC_CANCEL:
      if (asked_words(0)) launch_cancel();
      break;
    case KIND_EXEC_QUERY:
      if (asked_words(0)) launch_query();
      break;
    case KIND_EXEC_RESULT_ACK:
      if (asked_words(RESULT_ACK_WORDS)) result_acknowledge();
      break;
    default:
      // The analyzer lets no other kind through.
      count(COUNTER_DROP_KIND);
      break;
  }
}

// Switches on.
void firmware_start(void) {
  filter_start();
  clock_turn();
  random_start();
  session_start();
  role_start();
  launch_start();
  discovery_start();
}

// One turn of the main loop.
void firmware_turn(void) {
  clock_turn();
  uint32_t events = READ(CSR_EVENTS);
  WRITE(CSR_CLEAR, events & LATCHED);
  session_expire();
  launch_collect();
  role_turn(events);
  bool busy = frame_next();
  if (busy) {
    dispatch();
    card_publish();
    frame_pop();
  }
  if (events & EVENTS_ACK_DUE) memory_acknowledge();
  load_turn();
  result_turn();
  discovery_turn();
  card_publish();
  // Answers go first, and so do all that are still to be given.
  if (busy || result_transmit()) return;
  clock_set_alarm();
  WRITE(CSR_SLEEP, load_hungry() ? WAKES | EVENTS_BLOCK_WHOLE : WAKES);
}

#ifdef __riscv
int main(void) {
  firmware_start();
  for (;;) firmware_turn();
}
#endif
