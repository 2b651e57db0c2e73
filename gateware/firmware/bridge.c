#include "bridge.h"

#include "admit.h"
#include "frame.h"
#include "memory.h"
#include "session.h"

#define WINDOWS (BRG_WINDOW_INDEX_MASK + 1)
// The protocol's.
#define RIGHTS_STREAM 8u

// Sets the window that the frame at hand asks for. Yields 0, or why that cannot be; `*detail` goes with it.
static uint32_t set(uint64_t *detail) {
  uint64_t base = ASKED_LONG(WINDOW_BASE);
  uint64_t length = ASKED_LONG(WINDOW_LENGTH);
  uint32_t rights = ASKED(WINDOW_RIGHTS);
  uint32_t hi = asked_word(WINDOW_PEER_WORD);
  uint32_t lo = asked_word(WINDOW_PEER_WORD + 1);
  *detail = 0;
  if (!(READ(CSR_BRG_STATUS) & BRG_STATUS_THERE)) return ERROR_CODE_UNSUPPORTED;
  *detail = rights;
  if (rights > RIGHTS_STREAM) return ERROR_CODE_BAD_REQUEST;
  if (length != 0) {
    // Streams lead nowhere, and whoever comes would have to have a place.
    *detail = 0;
    if (rights == RIGHTS_STREAM || (hi | lo >> 16) == 0) return ERROR_CODE_UNSUPPORTED;
    *detail = memory_bytes();
    if (!memory_is_hosts(base, length)) return ERROR_CODE_BAD_ADDRESS;
  }
  *detail = WINDOWS;
  if (asked.addr >= WINDOWS) return ERROR_CODE_BAD_REQUEST;
  WRITE(CSR_BRG_BASE_HI, (uint32_t)(base >> 32));
  WRITE(CSR_BRG_BASE_LO, (uint32_t)base);
  WRITE(CSR_BRG_LENGTH_HI, (uint32_t)(length >> 32));
  WRITE(CSR_BRG_LENGTH_LO, (uint32_t)length);
  WRITE(CSR_BRG_PEER_HI, hi);
  WRITE(CSR_BRG_PEER_LO, lo);
  uint32_t open = length != 0 ? BRG_WINDOW_OPEN : 0;
  WRITE(CSR_BRG_WINDOW, open | (uint32_t)asked.addr << BRG_WINDOW_INDEX_SHIFT | rights << BRG_WINDOW_RIGHTS_SHIFT);
  *detail = 0;
  while (READ(CSR_BRG_STATUS) & BRG_STATUS_SETS) {
  }
  return READ(CSR_BRG_STATUS) & BRG_STATUS_FULL ? ERROR_CODE_BUSY : 0;
}

// Windows and routes need the same claim.
_Static_assert(CLAIM_OF_SESSION_WINDOW_SET == CLAIM_OF_SESSION_ROUTE_SET, "one rule");

void bridge_set(void) {
  if (!session_fresh(admitted(CLAIM_OF_SESSION_WINDOW_SET), KIND_SESSION_REFUSE)) return;
  uint64_t detail = 0;
  uint32_t code = ERROR_CODE_UNSUPPORTED;
  if (asked.kind == KIND_SESSION_WINDOW_SET) code = set(&detail);
  if (code != 0) return frame_refuse(KIND_SESSION_REFUSE, code, 0, detail);
  frame_answer(KIND_SESSION_WINDOW_DONE, asked.epoch);
  frame_address(asked.addr);
  frame_send();
}

void bridge_end(void) {
  ACT(CSR_BRG_END);
  // What was permitted may still be on its way to memory, for less than a frame takes.
  while (READ(CSR_BRG_STATUS) & BRG_STATUS_MOVES) {
  }
}
