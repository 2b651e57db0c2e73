#include "launch.h"

#include <stdbool.h>

#include "admit.h"
#include "counters.h"
#include "frame.h"
#include "memory.h"
#include "programs.h"
#include "result.h"
#include "role.h"
#include "session.h"

// The ring of launches: which slot is in each place. Hardware moves the places' bounds, and the firmware what is there.
#define PLACES LAUNCH_SLOTS
_Static_assert(PLACES == 32, "places are bits of a word");
static uint8_t slots[PLACES];
static uint32_t popped;     // The place of the oldest launch that the results do not have.
static uint32_t cancelled;  // Bit p: the launch in place p ended without having run.
static uint32_t released;   // Bit s: the Go of the launch in slot s has come.

static uint32_t next(uint32_t place) {
  return (place + 1) % PLACES;
}

static uint32_t head(uint32_t queue) {
  return queue >> LCH_QUEUE_HEAD_SHIFT & LCH_QUEUE_HEAD_MASK;
}

static uint32_t tail(uint32_t queue) {
  return queue >> LCH_QUEUE_TAIL_SHIFT & LCH_QUEUE_TAIL_MASK;
}

static uint32_t slot_word(uint32_t place, uint32_t word) {
  return READ(LAUNCH_WORD(slots[place], word));
}

// Tells the hardware what slot is in a place, and whether its launch waits.
static void put(uint32_t place, uint32_t slot) {
  bool held;
  slots[place] = (uint8_t)slot;
  held = slot_word(place, LAUNCH_SLOT_GO) != 0 && !(released >> slot & 1);
  WRITE(CSR_LCH_ORDER, (held ? LCH_ORDER_HELD : 0) | place << LCH_ORDER_PLACE_SHIFT | slot);
}

void launch_start(void) {
  for (uint32_t i = 0; i < PLACES; i++) put(i, i);
}

void launch_bound(void) {
  uint32_t most = RESULTS_KEPT - result_kept() - programs_queued();
  if (most > LAUNCH_QUEUE) most = LAUNCH_QUEUE;
  WRITE(CSR_LCH_POPPED, (popped + most) % PLACES << LCH_POPPED_BOUND_SHIFT | popped);
}

static uint32_t queued(void) {
  uint32_t queue = READ(CSR_LCH_QUEUE);
  return (tail(queue) - head(queue)) % PLACES;
}

uint32_t launch_queued(void) {
  return queued() + programs_queued();
}

bool launch_running(void) {
  return READ(CSR_LCH_QUEUE) & LCH_QUEUE_RUNNING;
}

// Freezes the ring. What it holds stays so until `thaw`.
static uint32_t freeze(void) {
  uint32_t queue;
  WRITE(CSR_LCH_FREEZE, LCH_FREEZE_FREEZE);
  do queue = READ(CSR_LCH_QUEUE);
  while (!(queue & LCH_QUEUE_FROZEN));
  return queue;
}

static void thaw(void) {
  WRITE(CSR_LCH_FREEZE, 0);
}

// The place of the launch with this number, or the tail if it is not queued.
static uint32_t place_of(uint32_t queue, uint32_t seq) {
  uint32_t place = head(queue);
  while (place != tail(queue) && slot_word(place, LAUNCH_SLOT_SEQ) != seq) place = next(place);
  return place;
}

// Whether a launch is queued.
static bool find(uint32_t seq) {
  uint32_t queue = READ(CSR_LCH_QUEUE);
  return place_of(queue, seq) != tail(queue);
}

// Ends the launch in this place of a frozen ring: it comes before all others that have not ended.
static void end(uint32_t queue, uint32_t place) {
  uint32_t first = head(queue);
  if (place == first && (queue & LCH_QUEUE_RUNNING)) {
    ACT(CSR_LCH_STOP);
    return;
  }
  uint32_t slot = slots[place];
  while (place != first) {
    uint32_t before = (place - 1) % PLACES;
    put(place, slots[before]);
    place = before;
  }
  put(first, slot);
  cancelled |= 1u << first;
  ACT(CSR_LCH_DROP);
}

// Cancels a launch; whether it was queued.
static bool cancel(uint32_t seq) {
  uint32_t queue = freeze();
  uint32_t place = place_of(queue, seq);
  bool found = place != tail(queue);
  if (found) end(queue, place);
  thaw();
  return found;
}

void launch_collect(void) {
  programs_collect();
  for (;;) {
    uint32_t queue = READ(CSR_LCH_QUEUE);
    if (head(queue) == popped) return;
    uint32_t slot = slots[popped];
    bool ran = !(cancelled >> popped & 1);
    uint32_t how = ran ? queue >> LCH_QUEUE_END_SHIFT & LCH_QUEUE_END_MASK : 0;
    uint32_t status = ran ? ERROR_CODE_OK : ERROR_CODE_CANCELLED;
    if (how != 0) status = ERROR_CODE_KERNEL_TRAP - 1 + how;
    count(status == ERROR_CODE_OK ? COUNTER_KERNELS_DONE : COUNTER_KERNELS_FAILED);
    result_push(slot, status, ran);
    cancelled &= ~(1u << popped);
    released &= ~(1u << slot);
    popped = next(popped);
    launch_bound();
  }
}

static void accepted(void) {
  frame_answer(KIND_RESULT_ACCEPTED, asked.epoch);
  frame_send();
}

// Tells what became of the launch whose number was asked for.
static void recall(void) {
  // First: what is in the queue now may have left it for the results a moment later, but not the other way round.
  if (find(asked.seq) || programs_has(asked.seq)) return accepted();
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
  launch_bound();
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

// A program's launch, the next one. False: it was refused, and may come again.
static bool come_program(uint32_t args) {
  uint32_t code = programs_fault(args);
  if (code == ERROR_CODE_BUSY) {
    refuse_busy(PROGRAMS);
    return false;
  }
  if (code != ERROR_CODE_OK) {
    reject(code);
    return true;
  }
  count(COUNTER_LAUNCHES);
  WRITE(CSR_LCH_LAST, asked.seq);
  programs_accept();
  launch_bound();
  return true;
}

static void judge(void) {
  uint32_t args = asked.length >= 4 * LAUNCH_WORDS ? ASKED(LAUNCH_ARGS) : LAUNCH_ARGS + 1;
  if (args > LAUNCH_ARGS || asked.length != 4 * LAUNCH_WORDS + 8 * args) return count(COUNTER_DROP_MALFORMED);
  if (!session_fresh(admitted(CLAIM_OF_EXEC_LAUNCH), KIND_RESULT_REFUSED)) return;
  // Numbers wrap: those up to 2^31 behind are old.
  int32_t ahead = (int32_t)(asked.seq - READ(CSR_LCH_LAST));
  if (ahead > 1) return count(COUNTER_DROP_WINDOW);
  if (ahead == 1) {
    launch_collect();
    uint32_t here = (tail(READ(CSR_LCH_QUEUE)) - popped) % PLACES + programs_queued();
    if (here + result_kept() >= RESULTS_KEPT) return refuse_busy(RESULTS_KEPT);
    if (programs_asked()) {
      if (!come_program(args)) return;
    } else {
      if (role_configuring()) return refuse_busy(0);
      uint32_t code = fault(args);
      // Its time may come: the number stays free.
      if (code == ERROR_CODE_OK) return refuse_busy(LAUNCH_QUEUE);
      reject(code);
    }
  } else {
    count(COUNTER_DROP_DUPLICATE);
  }
  recall();
}

void launch_come(void) {
  if (asked.reason != DIVERT_ACCEPTED) return judge();
  // It may have ended already; but the host hears first that it was accepted.
  count(COUNTER_LAUNCHES);
  accepted();
}

void launch_go(void) {
  if (!admitted(CLAIM_OF_EXEC_GO)) return count(COUNTER_DROP_EPOCH);
  session_renew();
  uint32_t queue = freeze();
  for (uint32_t place = head(queue); place != tail(queue); place = next(place)) {
    if (slot_word(place, LAUNCH_SLOT_GO) != asked.seq) continue;
    released |= 1u << slots[place];
    put(place, slots[place]);
  }
  thaw();
  programs_go(asked.seq);
}

void launch_cancel(void) {
  if (!session_fresh(admitted(CLAIM_OF_EXEC_CANCEL), KIND_RESULT_REFUSED)) return;
  // The outcome of one that was there comes as that of any that ends.
  if (!cancel(asked.seq) && !programs_cancel(asked.seq)) recall();
}

void launch_query(void) {
  if (session_fresh(admitted(CLAIM_OF_EXEC_QUERY), KIND_RESULT_REFUSED)) recall();
}

void launch_allow(void) {
  WRITE(CSR_LCH_ENABLE, role_active() && session_claimed() ? LCH_ENABLE_ENABLE : 0);
}

void launch_cancel_all(void) {
  WRITE(CSR_LCH_ENABLE, 0);
  while (queued() != 0) {
    // The oldest. One that runs takes a moment to end, and is the oldest until then.
    uint32_t queue = freeze();
    if (head(queue) != tail(queue)) end(queue, head(queue));
    thaw();
    launch_collect();
  }
  launch_collect();
}

void launch_forget(void) {
  launch_cancel_all();
  programs_forget();
  WRITE(CSR_LCH_LAST, 0);
}
