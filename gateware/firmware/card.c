#include "card.h"

#include "bridge.h"
#include "discovery.h"
#include "filter.h"
#include "hw.h"
#include "keys.h"
#include "launch.h"
#include "load.h"
#include "memory.h"
#include "result.h"
#include "role.h"
#include "session.h"
#include "wire.h"

// A frame that the analyzer took for the old claim's may have been under way when that ended of itself. So everything
// is emptied twice: then, and when the next claim, after which the analyzer waits, has begun.
static void forget(void) {
  launch_forget();
  result_forget();
  memory_forget();
}

static void publish_claim(void) {
  filter_owner(session_claimed() ? &claim.owner : 0);
  filter_claim(session_claimed() && claim.group != 0, claim.group);
  WRITE(CSR_EPOCH, claim.epoch);
}

void card_begin_claim(void) {
  forget();
  memory_serve();
  publish_claim();
  card_publish();
  launch_allow();
  discovery_change();
}

void card_end_claim(void) {
  // First: from now on, the fast paths take nothing more of it.
  publish_claim();
  card_publish();
  bridge_end();
  forget();
  role_renew();
  load_forget();
  discovery_change();
}

bool card_faulty(void) {
  return READ(CSR_RESTARTS) & RESTARTS_UNTRAINED;
}

uint32_t card_state(void) {
  if (card_faulty()) return CARD_STATE_FAULTY;
  if (role_configuring()) return CARD_STATE_CONFIGURING;
  if (launch_running()) return CARD_STATE_RUNNING;
  if (load_loading()) return CARD_STATE_LOADING;
  if (role_active()) return CARD_STATE_ACTIVE;
  return role_written() ? CARD_STATE_WRITTEN : CARD_STATE_EMPTY;
}

// As last written.
static uint32_t session;

void card_publish(void) {
  filter_load(load_member(), load_group());
  session = SESSION_LISTENING;
  if (load_member()) session |= SESSION_LOADING;
  if (load_receiving()) session |= SESSION_RECEIVING;
  if (role_active()) session |= SESSION_ROLE;
  if (role_configuring()) session |= SESSION_CONFIGURING;
  if (discovery_idle() && !keys_gone()) session |= SESSION_SOLICIT_FAST;
  if (session_claimed()) session |= SESSION_CLAIMED;
  WRITE(CSR_SESSION, session);
}

void card_answer_slowly(void) {
  WRITE(CSR_SESSION, session & ~SESSION_SOLICIT_FAST);
}
