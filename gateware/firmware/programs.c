#include "programs.h"

#include "clock.h"
#include "counters.h"
#include "frame.h"
#include "launch.h"
#include "memory.h"
#include "result.h"

// The protocol's: what a program's launch has for a kernel.
#define KERNEL 65535u
// Arguments of a program's launch, two words each: where its commands lie, how many there are, microseconds that it may
// take, group, and sequence.
#define ARGS 5u
#define ARG_HI(n) asked_word(LAUNCH_WORDS + 2 * (n))
#define ARG_LO(n) asked_word(LAUNCH_WORDS + 2 * (n) + 1)
// As what a launch's frame has from there on.
#define PROGRAM 0u
#define COMMANDS 1u
#define LIMIT 2u
#define GROUP 3u
#define SEQUENCE 4u
// Nobody holds a context for longer: 10 minutes.
#define LIMIT_MAX 600000000u
#define REPORT_BYTES 64u

// What LNK_WHAT takes.
#define WHAT_WORDS 9u

struct program {
  bool there;
  bool cancelled;
  uint32_t seq;
  uint32_t go;  // What it waits for; 0: it has begun.
  uint32_t credit;
  uint32_t accepted_us;
  uint64_t report_at;
  uint32_t what[WHAT_WORDS];
};

static struct program programs[PROGRAMS];
_Static_assert(PROGRAMS == LNK_ORDER_NUMBER_MASK + 1, "each has a number");

bool programs_asked(void) {
  return asked.addr == KERNEL && READ(CSR_LNK_STATUS) & LNK_STATUS_THERE;
}

uint32_t programs_fault(uint32_t args) {
  uint64_t at = ASKED_LONG(LAUNCH_OUT_ADDR);
  uint64_t length = ASKED_LONG(LAUNCH_OUT_LENGTH);
  if (args != ARGS) return ERROR_CODE_BAD_ARGUMENTS;
  // A report is a beat of memory.
  if (length != REPORT_BYTES || at % BEAT != 0 || !memory_is_hosts(at, length)) return ERROR_CODE_BAD_ADDRESS;
  return programs_queued() < PROGRAMS ? ERROR_CODE_OK : ERROR_CODE_BUSY;
}

uint32_t programs_queued(void) {
  uint32_t queued = 0;
  for (uint32_t i = 0; i < PROGRAMS; i++) queued += programs[i].there;
  return queued;
}

static void start(uint32_t number) {
  struct program *program = &programs[number];
  program->go = 0;
  program->accepted_us = now;
  // What was written before is in memory when the sequencer reads it.
  memory_fetch(0, 0, BEAT);
  for (uint32_t i = 0; i < WHAT_WORDS; i++) WRITE(CSR_LNK_WHAT, program->what[i]);
  WRITE(CSR_LNK_ORDER, LNK_ORDER_START | number << LNK_ORDER_NUMBER_SHIFT);
}

void programs_accept(void) {
  uint32_t number = 0;
  while (programs[number].there) number++;
  struct program *program = &programs[number];
  uint64_t limit = (uint64_t)ARG_HI(LIMIT) << 32 | ARG_LO(LIMIT);
  // What a word cannot say is more than a program may have, or lies where nobody may write.
  bool far = ARG_HI(PROGRAM) > 0xff || ARG_HI(COMMANDS) != 0;
  // It relies on the lives that its neighbours have now, also when its Go comes in the midst of the end of one.
  WRITE(CSR_LNK_ORDER, LNK_ORDER_EXPECT | number << LNK_ORDER_NUMBER_SHIFT);
  program->there = true;
  program->cancelled = false;
  program->seq = asked.seq;
  program->credit = ASKED(LAUNCH_CREDIT);
  program->report_at = ASKED_LONG(LAUNCH_OUT_ADDR);
  program->what[0] = ARG_HI(PROGRAM);
  program->what[1] = ARG_LO(PROGRAM);
  program->what[2] = far ? UINT32_MAX : ARG_LO(COMMANDS);
  program->what[3] = limit < LIMIT_MAX ? (uint32_t)limit : LIMIT_MAX;
  program->what[4] = ARG_HI(GROUP);
  program->what[5] = ARG_LO(GROUP);
  program->what[6] = ARG_LO(SEQUENCE);
  program->what[7] = (uint32_t)(program->report_at >> 32);
  program->what[8] = (uint32_t)program->report_at;
  program->go = ASKED(LAUNCH_GO);
  if (program->go == 0) start(number);
}

bool programs_has(uint32_t seq) {
  for (uint32_t i = 0; i < PROGRAMS; i++) {
    if (programs[i].there && programs[i].seq == seq) return true;
  }
  return false;
}

// The results have this one now.
static void push(struct program *program, uint32_t status, uint32_t cause) {
  bool done = status == ERROR_CODE_OK;
  count(done ? COUNTER_KERNELS_DONE : COUNTER_KERNELS_FAILED);
  program->there = false;
  result_push_program(program->seq, status, program->credit, program->report_at, done ? REPORT_BYTES : 0, cause,
                      now - program->accepted_us);
  launch_bound();
}

void programs_collect(void) {
  for (;;) {
    uint32_t status = READ(CSR_LNK_STATUS);
    if (!(status & LNK_STATUS_ENDED)) return;
    struct program *program = &programs[status >> LNK_STATUS_NUMBER_SHIFT & LNK_STATUS_NUMBER_MASK];
    WRITE(CSR_LNK_ORDER, LNK_ORDER_POP);
    uint32_t code = status & LNK_STATUS_REFUSED ? ERROR_CODE_BAD_ARGUMENTS : ERROR_CODE_OK;
    if (program->cancelled) code = ERROR_CODE_CANCELLED;
    push(program, code, status >> LNK_STATUS_CAUSE_SHIFT & LNK_STATUS_CAUSE_MASK);
  }
}

void programs_go(uint32_t number) {
  for (uint32_t i = 0; i < PROGRAMS; i++) {
    if (programs[i].there && programs[i].go != 0 && programs[i].go == number) start(i);
  }
}

bool programs_cancel(uint32_t seq) {
  for (uint32_t i = 0; i < PROGRAMS; i++) {
    struct program *program = &programs[i];
    if (!program->there || program->seq != seq) continue;
    program->cancelled = true;
    if (program->go != 0) {
      program->accepted_us = now;
      push(program, ERROR_CODE_CANCELLED, 0);
    } else {
      WRITE(CSR_LNK_ORDER, LNK_ORDER_CANCEL | i << LNK_ORDER_NUMBER_SHIFT);
    }
    return true;
  }
  return false;
}

void programs_forget(void) {
  if (!(READ(CSR_LNK_STATUS) & LNK_STATUS_THERE)) return;
  WRITE(CSR_LNK_ORDER, LNK_ORDER_RESET);
  while (READ(CSR_LNK_STATUS) & LNK_STATUS_RESETS) {
  }
  for (uint32_t i = 0; i < PROGRAMS; i++) programs[i].there = false;
}
