#include "bridge.h"

#include "admit.h"
#include "frame.h"
#include "memory.h"
#include "session.h"

#define NUMBERS (BRG_SET_INDEX_MASK + 1)
// The protocol's.
#define RIGHTS_STREAM 8u

// Whether the window that the frame at hand asks for may be open: 0, or why not; `*detail` goes with it.
static uint32_t judge(uint32_t status, uint64_t *detail) {
  uint32_t rights = ASKED(WINDOW_RIGHTS);
  *detail = rights;
  if (rights > RIGHTS_STREAM) return ERROR_CODE_BAD_REQUEST;
  if (status & BRG_STATUS_EMPTY) return 0;
  // Whoever comes would have to have a place.
  *detail = 0;
  if (status & BRG_STATUS_NOBODY) return ERROR_CODE_UNSUPPORTED;
  *detail = NUMBERS;
  bool fits = status & BRG_STATUS_STREAMS;
  if (rights != RIGHTS_STREAM) {
    *detail = memory_bytes();
    fits = memory_is_hosts(ASKED_LONG(WINDOW_BASE), ASKED_LONG(WINDOW_LENGTH));
  }
  return fits ? 0 : ERROR_CODE_BAD_ADDRESS;
}

// Sets the window or the route that the frame at hand asks for. The same of it.
static uint32_t set(uint64_t *detail) {
  *detail = 0;
  if (!(READ(CSR_BRG_STATUS) & BRG_STATUS_THERE)) return ERROR_CODE_UNSUPPORTED;
  bool routes = asked.kind == KIND_SESSION_ROUTE_SET;
  uint32_t first = routes ? WINDOW_PEER_WORD : 0;
  for (uint32_t i = first; i < WINDOW_WORDS; i++) WRITE(CSR_BRG_WHAT(i), asked_word(i - first));
  uint32_t status = READ(CSR_BRG_STATUS);
  uint32_t word = (uint32_t)asked.addr;
  uint32_t closes = BRG_STATUS_EMPTY;
  if (routes) {
    word |= BRG_SET_ROUTE;
    closes = BRG_STATUS_NOBODY;
  } else {
    uint32_t code = judge(status, detail);
    if (code != 0) return code;
  }
  *detail = NUMBERS;
  if (asked.addr >= NUMBERS || (routes && status & BRG_STATUS_ASTRAY)) return ERROR_CODE_BAD_REQUEST;
  if (!(status & closes)) word |= BRG_SET_OPEN;
  WRITE(CSR_BRG_SET, word);
  *detail = 0;
  do {
    status = READ(CSR_BRG_STATUS);
  } while (status & BRG_STATUS_SETS);
  return status & BRG_STATUS_FULL ? ERROR_CODE_BUSY : 0;
}

// Windows and routes need the same claim, and what answers them follows the question.
_Static_assert(CLAIM_OF_SESSION_WINDOW_SET == CLAIM_OF_SESSION_ROUTE_SET, "one rule");
_Static_assert(KIND_SESSION_WINDOW_DONE == KIND_SESSION_WINDOW_SET + 1, "one behind the other");
_Static_assert(KIND_SESSION_ROUTE_DONE == KIND_SESSION_ROUTE_SET + 1, "one behind the other");

void bridge_set(void) {
  if (!session_fresh(admitted(CLAIM_OF_SESSION_WINDOW_SET), KIND_SESSION_REFUSE)) return;
  uint64_t detail;
  uint32_t code = set(&detail);
  if (code != 0) return frame_refuse(KIND_SESSION_REFUSE, code, 0, detail);
  frame_answer(asked.kind + 1, asked.epoch);
  frame_address(asked.addr);
  frame_send();
}

void bridge_end(void) {
  ACT(CSR_BRG_END);
  // What was permitted may still be on its way to memory, for less than a frame takes.
  while (READ(CSR_BRG_STATUS) & BRG_STATUS_MOVES) {
  }
}
