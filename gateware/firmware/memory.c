#include "memory.h"

#include "admit.h"
#include "arith.h"
#include "counters.h"
#include "frame.h"
#include "session.h"

// Numbers that are so far from the window's start are all judged alike.
#define WINDOW_FAR 1024

uint64_t memory_bytes(void) {
  return (uint64_t)READ(CSR_MEMORY) << 16;
}

uint32_t memory_bulk(void) {
  return READ(CSR_LIMITS) & LIMITS_BULK_MASK;
}

uint32_t memory_staging(void) {
  return (READ(CSR_STAGING_MAX) + BEAT - 1) / BEAT * BEAT;
}

bool memory_is_hosts(uint64_t addr, uint64_t length) {
  uint64_t end = addr + length;
  return addr >= ROLE_PRIVATE && end >= addr && end <= memory_bytes();
}

static void refuse(uint32_t code, uint64_t detail) {
  frame_refuse(KIND_INPUT_CONFIRM_NAK, code, 0, detail);
}

// Takes note of the number of the write at hand, and yields what it was to the window.
static uint32_t insert(void) {
  // Before the window is asked it moves on by less than that.
  uint32_t next = READ(CSR_WIN_NEXT);
  uint32_t number = asked.seq;
  if ((int32_t)(number - next) < -WINDOW_FAR) number = next - WINDOW_FAR;
  if ((int32_t)(number - next) > WINDOW_FAR) number = next + WINDOW_FAR;
  if (asked.flags & FLAG_ACK_NOW) {
    WRITE(CSR_WIN_INSERT_NOW, number);
  } else {
    WRITE(CSR_WIN_INSERT, number);
  }
  uint32_t result;
  do result = READ(CSR_WIN_INSERT);
  while (result & WIN_INSERT_BUSY);
  return result & WIN_INSERT_RESULT_MASK;
}

void memory_write(void) {
  if (!session_fresh(admitted(CLAIM_OF_INPUT_WRITE), KIND_INPUT_CONFIRM_NAK)) return;
  uint32_t bulk = memory_bulk();
  bool fits = asked.length <= bulk;
  // A good one is for the fast path, which had no room for it.
  if (fits && memory_is_hosts(asked.addr, asked.length)) return count(COUNTER_DROP_QUEUE);
  // A refused write counts as received.
  switch (insert()) {
    case INSERT_NEW:
      if (!fits) {
        refuse(ERROR_CODE_BAD_REQUEST, bulk);
      } else {
        refuse(ERROR_CODE_BAD_ADDRESS, memory_bytes());
      }
      break;
    case INSERT_DUPLICATE:
      count(COUNTER_DROP_DUPLICATE);
      break;
    default:
      count(COUNTER_DROP_WINDOW);
      break;
  }
}

void memory_read(void) {
  if (!session_fresh(admitted(CLAIM_OF_INPUT_READ), KIND_INPUT_CONFIRM_NAK)) return;
  uint32_t length = ASKED(READ_LENGTH);
  uint32_t bulk = memory_bulk();
  if (length == 0 || length > bulk) return refuse(ERROR_CODE_BAD_REQUEST, bulk);
  if (!memory_is_hosts(asked.addr, length)) return refuse(ERROR_CODE_BAD_ADDRESS, memory_bytes());
  // A good one is for the fast path, which had no room for it.
  count(COUNTER_DROP_QUEUE);
}

// Waits until what has been taken is in memory. A memory that has failed never says so: then the card restarts before
// anything is acknowledged.
static void settle(void) {
  uint32_t stored = READ(CSR_WIN_WRITTEN) & WIN_WRITTEN_STORED_MASK;
  uint32_t left;
  do left = (stored - (READ(CSR_WIN_WRITTEN) >> WIN_WRITTEN_WRITTEN_SHIFT)) & WIN_WRITTEN_STORED_MASK;
  // Others may have come meanwhile; far fewer than 128 are under way.
  while (left != 0 && left < 128);
}

void memory_acknowledge(void) {
  // Before the window is read: a write that comes meanwhile asks for another acknowledgement.
  ACT(CSR_WIN_ACKED);
  if (!session_claimed()) return;
  uint32_t bits[ACK_BITMAP_WORDS];
  uint32_t before = READ(CSR_WIN_NEXT);
  for (uint32_t i = 0; i < ACK_BITMAP_WORDS; i++) bits[i] = READ(CSR_WIN_BITS(i));
  uint32_t next = READ(CSR_WIN_NEXT);
  // The window may have moved on meanwhile. Then places in its ring may still have stood for numbers 256 before those
  // that they would stand for now: the last ones are left out.
  uint32_t moved = next - before;
  uint32_t valid = moved < SACK_BITS ? SACK_BITS - moved : 0;
  settle();
  frame_open(&claim.owner, KIND_INPUT_CONFIRM_WRITE_ACK, claim.epoch, next);
  uint32_t at = next + 1;
  for (uint32_t i = 0; i < ACK_BITMAP_WORDS; i++) {
    uint32_t low = bits[at / 32 % ACK_BITMAP_WORDS];
    uint32_t high = bits[(at / 32 + 1) % ACK_BITMAP_WORDS];
    uint32_t word = low >> at % 32;
    if (at % 32 != 0) word |= high << (32 - at % 32);
    if (valid < 32) word &= (1u << valid) - 1;
    valid -= valid < 32 ? valid : 32;
    frame_put(arith_reversed(word));
    at += 32;
  }
  frame_send();
}

void memory_forget(void) {
  WRITE(CSR_WIN_NEXT, 1);  // Writes are counted from 1.
  ACT(CSR_FET_FLUSH);
}

// Waits until one of these events has come, and takes it.
static void await(uint32_t event) {
  while (!(READ(CSR_EVENTS) & event)) WRITE(CSR_SLEEP, event);
  WRITE(CSR_CLEAR, event);
}

void memory_scrub(void) {
  // What was written before must not land on the zeros.
  memory_fetch(0, 0, BEAT);
  WRITE(CSR_MEM_SCRUB_FIRST, ROLE_PRIVATE / BEAT);
  WRITE(CSR_MEM_SCRUB_LAST, (READ(CSR_MEMORY) << 10) - 1);
  WRITE(CSR_CLEAR, EVENTS_SCRUB_DONE);
  ACT(CSR_MEM_SCRUB_GO);
}

// The templates, in this slot of the transmit buffer: of the owner's reads, and of the fetches of the firmware. Before
// the frame's head they have two words for the memory.
#define TEMPLATES 3u
#define OWNERS 0u
#define OURS 16u
#define HEAD 2u
#define LENGTH_SHIFT 16u
#define TO_CPU_SLOT_SHIFT 14u
#define TO_CPU (2u << TO_CPU_SLOT_SHIFT)

// Queues the fetch of these bytes, as the template's head tells.
static void queue(uint64_t addr, uint32_t length, uint32_t how) {
  WRITE(TX_WORD(TEMPLATES, OURS), length << LENGTH_SHIFT | how | (uint32_t)(addr >> 32));
  WRITE(TX_WORD(TEMPLATES, OURS + 1), (uint32_t)addr);
  ACT(CSR_FET_GO);
}

void memory_serve(void) {
  // What is under way still needs the head of its own claim.
  while (!(READ(CSR_FET_GO) & FET_GO_IDLE)) {
  }
  WRITE(TX_WORD(TEMPLATES, OWNERS), 0);
  WRITE(TX_WORD(TEMPLATES, OWNERS + 1), 0);
  frame_head(TEMPLATES, OWNERS + HEAD, &claim.owner, KIND_INPUT_CONFIRM_READ_DATA, claim.epoch, 0, 0);
}

void memory_send(uint32_t kind, uint32_t seq, uint64_t head_addr, uint64_t addr, uint32_t length) {
  uint32_t lengths = length << HEADER_LENGTH_SHIFT | claim.epoch;
  frame_head(TEMPLATES, OURS + HEAD, &claim.owner, kind, lengths, seq, head_addr);
  queue(addr, length, 0);
}

void memory_fetch(uint32_t slot, uint64_t addr, uint32_t length) {
  while (!(READ(CSR_FET_GO) & FET_GO_ROOM)) {
  }
  while (READ(CSR_TX_BUSY) & (slot + 1)) {
  }
  WRITE(CSR_CLEAR, EVENTS_FETCH_DONE);
  queue(addr, length, TO_CPU | slot << TO_CPU_SLOT_SHIFT);
  await(EVENTS_FETCH_DONE);
}

uint32_t memory_word(uint32_t slot, uint32_t word) {
  return READ(TX_WORD(slot, PAYLOAD_WORD + word));
}
