#include "launch.h"

#include <stdbool.h>

#include "counters.h"
#include "frame.h"
#include "memory.h"
#include "result.h"
#include "role.h"
#include "session.h"

// The bound of all kernels, 2^40 cycles as in the model: an hour at 300 MHz.
#define FUEL_MAX_HI (1u << 8)

void launch_start(void) {
  WRITE(CSR_LCH_FUEL_MAX_LO, 0);
  WRITE(CSR_LCH_FUEL_MAX_HI, FUEL_MAX_HI);
}

uint32_t launch_queued(void) {
  return READ(CSR_LCH_QUEUED);
}

// Waits for the walk through the queue that was just begun; whether it found the launch.
static bool walked(void) {
  uint32_t state;
  do state = READ(CSR_LCH_CANCEL);
  while (state & LCH_CANCEL_BUSY);
  return state & LCH_CANCEL_FOUND;
}

static bool find(uint32_t seq) {
  WRITE(CSR_LCH_FIND, seq);
  return walked();
}

static bool cancel(uint32_t seq) {
  WRITE(CSR_LCH_CANCEL, seq);
  return walked();
}

void launch_collect(void) {
  for (;;) {
    uint32_t ended = READ(CSR_LCH_ENDED);
    if (!(ended & LCH_ENDED_VALID)) return;
    uint32_t status = ended & LCH_ENDED_STATUS_MASK;
    count(status == ERROR_CODE_OK ? COUNTER_KERNELS_DONE : COUNTER_KERNELS_FAILED);
    result_push(ended);
    ACT(CSR_LCH_POP);
  }
}

static void accepted(void) {
  frame_answer(KIND_RESULT_ACCEPTED, asked.epoch);
  frame_send();
}

// Tells what became of the launch whose number was asked for.
static void recall(void) {
  // First: what is in the queue now may have left it for the results a moment later, but not the other way round.
  if (find(asked.seq)) return accepted();
  launch_collect();
  if (!result_repeat(asked.seq)) frame_refuse(KIND_RESULT_REFUSED, ERROR_CODE_UNKNOWN_LAUNCH, 0, 0);
}

static void refuse_busy(uint64_t detail) {
  frame_refuse(KIND_RESULT_REFUSED, ERROR_CODE_BUSY, 0, detail);
}

// A fault of the launch itself uses its number up. If the number went to the next launch, a late copy of this one could
// pass for that.
static void reject(uint32_t code) {
  count(COUNTER_REFUSALS);
  WRITE(CSR_LCH_LAST, asked.seq);
  result_push_rejected(asked.seq, code);
}

// What is wrong with the launch at hand, or OK.
static uint32_t fault(uint32_t args) {
  uint64_t addr = ASKED_LONG(LAUNCH_OUT_ADDR);
  uint64_t length = ASKED_LONG(LAUNCH_OUT_LENGTH);
  if (!role_active()) return ERROR_CODE_NO_ROLE;
  if (asked.addr >= role_kernels()) return ERROR_CODE_UNKNOWN_KERNEL;
  if (role_args((uint32_t)asked.addr) != args) return ERROR_CODE_BAD_ARGUMENTS;
  if (length > 0 && !memory_is_hosts(addr, length)) return ERROR_CODE_BAD_ADDRESS;
  return ERROR_CODE_OK;
}

static void judge(void) {
  uint32_t args = asked.length >= 4 * LAUNCH_WORDS ? ASKED(LAUNCH_ARGS) : LAUNCH_ARGS + 1;
  if (args > LAUNCH_ARGS || asked.length != 4 * LAUNCH_WORDS + 8 * args) return count(COUNTER_DROP_MALFORMED);
  if (!session_fresh(KIND_RESULT_REFUSED)) return;
  // Numbers wrap: those up to 2^31 behind are old.
  int32_t ahead = (int32_t)(asked.seq - READ(CSR_LCH_LAST));
  if (ahead > 1) return count(COUNTER_DROP_WINDOW);
  if (ahead == 1) {
    launch_collect();
    if (launch_queued() + result_kept() >= RESULTS_KEPT) return refuse_busy(RESULTS_KEPT);
    if (role_configuring()) return refuse_busy(0);
    uint32_t code = fault(args);
    // Its time may come: the number stays free.
    if (code == ERROR_CODE_OK) return refuse_busy(LAUNCH_QUEUE);
    reject(code);
  } else {
    count(COUNTER_DROP_DUPLICATE);
  }
  recall();
}

void launch_come(void) {
  if (asked.why != WHY_ACCEPTED) return judge();
  // It may have ended already; but the host hears first that it was accepted.
  count(COUNTER_LAUNCHES);
  accepted();
}

void launch_go(void) {
  if (!session_owns() || claim.group == 0 || asked.epoch != claim.group) return count(COUNTER_DROP_EPOCH);
  session_renew();
  WRITE(CSR_LCH_GO, asked.seq);
  walked();
}

void launch_cancel(void) {
  if (!session_fresh(KIND_RESULT_REFUSED)) return;
  // The outcome of one that was there comes as that of any that ends.
  if (!cancel(asked.seq)) recall();
}

void launch_query(void) {
  if (session_fresh(KIND_RESULT_REFUSED)) recall();
}

void launch_allow(void) {
  WRITE(CSR_LCH_ENABLE, role_active() && session_claimed() ? LCH_ENABLE_ENABLE : 0);
}

// The oldest launch in the queue; false when that is empty.
static bool oldest(uint32_t *seq) {
  bool found = false;
  for (uint32_t slot = 0; slot < LAUNCH_SLOTS; slot++) {
    // A slot that is not in use may hold any number, but not one that is in the queue, or it does no harm.
    uint32_t in_slot = READ(LAUNCH_WORD(slot, LAUNCH_SLOT_SEQ));
    if ((!found || (int32_t)(in_slot - *seq) < 0) && find(in_slot)) {
      *seq = in_slot;
      found = true;
    }
  }
  return found;
}

void launch_cancel_all(void) {
  WRITE(CSR_LCH_ENABLE, 0);
  uint32_t seq = 0;
  while (launch_queued() != 0 && oldest(&seq)) {
    // One that runs takes a moment to end. The next must not end before it.
    cancel(seq);
    while (find(seq)) {
    }
    launch_collect();
  }
  launch_collect();
}

void launch_forget(void) {
  launch_cancel_all();
  ACT(CSR_LCH_RESET);
}
