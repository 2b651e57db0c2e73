// The main loop: frames first, then what has happened, then what is due. When there is nothing to do the processor
// sleeps until something happens or is due.
#include "bridge.h"
#include "card.h"
#include "clock.h"
#include "counters.h"
#include "discovery.h"
#include "filter.h"
#include "frame.h"
#include "hw.h"
#include "keys.h"
#include "launch.h"
#include "load.h"
#include "memory.h"
#include "random.h"
#include "result.h"
#include "role.h"
#include "session.h"

// Events that stay until they are cleared and that the main loop takes.
#define LATCHED (EVENTS_DIGEST_IDLE | EVENTS_SCRUB_DONE | EVENTS_CONFIG_DONE | EVENTS_ROLE_FAULT)
// What wakes the processor.
#define WAKES (EVENTS_CONTROL | EVENTS_ACK_DUE | EVENTS_LAUNCH_ENDED | EVENTS_ALARM | LATCHED | KEYS_WAKE)

// True when the payload at hand has the length of its kind. If not, the frame counts as malformed.
#define WHOLE(kind) asked_words(WORDS_OF_##kind)

// Hands a frame to the part that takes its kind. The analyzer has checked heads and lengths, but not payloads.
static void dispatch(void) {
  switch ((enum taken)asked.kind) {
    case TAKEN_DISCOVERY_SOLICIT:
      if (WHOLE(DISCOVERY_SOLICIT)) discovery_solicit();
      return;
    case TAKEN_SESSION_CLAIM:
      if (WHOLE(SESSION_CLAIM)) session_claim();
      return;
    case TAKEN_SESSION_RELEASE:
      if (WHOLE(SESSION_RELEASE)) session_release();
      return;
    case TAKEN_SESSION_PING:
      if (WHOLE(SESSION_PING)) session_ping();
      return;
    case TAKEN_SESSION_COUNTERS_GET:
      if (WHOLE(SESSION_COUNTERS_GET)) counters_tell();
      return;
    case TAKEN_SESSION_MANIFEST_GET:
      if (WHOLE(SESSION_MANIFEST_GET)) role_tell_manifest();
      return;
    case TAKEN_SESSION_WINDOW_SET:
      if (WHOLE(SESSION_WINDOW_SET)) bridge_set();
      return;
    case TAKEN_SESSION_ROUTE_SET:
      if (WHOLE(SESSION_ROUTE_SET)) bridge_set();
      return;
    case TAKEN_IMAGE_BEGIN:
      if (WHOLE(IMAGE_BEGIN)) load_begin();
      return;
    case TAKEN_IMAGE_DATA:
      load_data();
      return;
    case TAKEN_IMAGE_POLL:
      load_poll();
      return;
    case TAKEN_IMAGE_COMMIT:
      load_commit();
      return;
    case TAKEN_IMAGE_ABORT:
      load_abort();
      return;
    case TAKEN_IMAGE_CONFIRM_MISSING:
      load_overhear();
      return;
    case TAKEN_INPUT_WRITE:
      memory_write();
      return;
    case TAKEN_INPUT_READ:
      if (WHOLE(INPUT_READ)) memory_read();
      return;
    case TAKEN_EXEC_LAUNCH:
      launch_come();
      return;
    case TAKEN_EXEC_GO:
      if (WHOLE(EXEC_GO)) launch_go();
      return;
    case TAKEN_EXEC_CANCEL:
      if (WHOLE(EXEC_CANCEL)) launch_cancel();
      return;
    case TAKEN_EXEC_QUERY:
      if (WHOLE(EXEC_QUERY)) launch_query();
      return;
    case TAKEN_EXEC_RESULT_ACK:
      if (WHOLE(EXEC_RESULT_ACK)) result_acknowledge();
      return;
  }
  // The analyzer lets no other kind through.
  count(COUNTER_DROP_KIND);
}

// Switches on.
void firmware_start(void) {
  filter_start();
  clock_turn();
  random_start();
  keys_start();
  session_start();
  role_start();
  launch_start();
  discovery_start();
  // Before anything else: a host of the life before should learn why it gets no answer any more.
  if (!keys_gone()) discovery_turn();
}

// One turn of a card that is not on the network: what comes is not for it. All else that happens waits for its return.
static void be_gone(void) {
  if (frame_waits()) {
    frame_pop();
  } else {
    WRITE(CSR_SLEEP, KEYS_WAKE | EVENTS_CONTROL);
  }
}

// One turn of the main loop.
void firmware_turn(void) {
  static bool is_busy;
  bool was_busy = is_busy;
  is_busy = true;
  ACT(CSR_ALIVE);
  clock_turn();
  uint32_t events = READ(CSR_EVENTS);
  keys_turn(events);
  if (keys_gone()) return be_gone();
  WRITE(CSR_CLEAR, events & LATCHED);
  session_expire(was_busy);
  session_turn(events);
  launch_collect();
  role_turn(events);
  if (events & EVENTS_ROLE_FAULT) discovery_role_failed();
  bool busy = frame_next();
  if (busy) {
    if (keys_admit()) dispatch();
    card_publish();
    frame_pop();
  }
  if (events & EVENTS_ACK_DUE) memory_acknowledge();
  load_turn();
  result_turn();
  discovery_turn();
  card_publish();
  // Answers go first, and so do all that are still to be given.
  if (busy || result_transmit() || load_works()) return;
  clock_set_alarm();
  is_busy = false;
  WRITE(CSR_SLEEP, load_hungry() ? WAKES | EVENTS_BLOCK_WHOLE : WAKES);
}

#ifdef __riscv
int main(void) {
  firmware_start();
  for (;;) firmware_turn();
}
#endif
