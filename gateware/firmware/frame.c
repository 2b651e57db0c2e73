#include "frame.h"

#include "counters.h"
#include "keys.h"

struct head asked;

static uint32_t ring;   // Where the payload at hand starts, in words of the ring.
static uint32_t slot;   // The slot that was filled last; the other one is next.
static uint32_t put;    // Words of the payload put so far.
static uint32_t group;  // The epoch or group of the open frame: it shares a word with the length.

bool mac_same(const struct mac *a, const struct mac *b) {
  return a->hi == b->hi && a->lo == b->lo;
}

bool frame_waits(void) {
  return READ(CSR_CTL_HEAD) & CTL_HEAD_VALID;
}

bool frame_next(void) {
  uint32_t head = READ(CSR_CTL_HEAD);
  if (!(head & CTL_HEAD_VALID)) return false;
  uint32_t at = (head & CTL_HEAD_OFFSET_MASK) / 4;
  ring = at + PAYLOAD_WORD;
  uint32_t kind = READ(RING_WORD(at + KIND_WORD));
  uint32_t length = READ(RING_WORD(at + HEADER_LENGTH_WORD));
  asked.reason = head >> CTL_HEAD_REASON_SHIFT & CTL_HEAD_REASON_MASK;
  asked.src.hi = READ(RING_WORD(at + HEADER_SRC_WORD)) & 0xFFFF;
  asked.src.lo = READ(RING_WORD(at + HEADER_SRC_WORD + 1));
  asked.kind = kind & KIND_MASK;
  asked.flags = kind & ~KIND_MASK;
  asked.length = length >> HEADER_LENGTH_SHIFT;
  asked.epoch = length & HEADER_EPOCH_MASK;
  asked.seq = READ(RING_WORD(at + HEADER_SEQ_WORD));
  asked.addr = (uint64_t)READ(RING_WORD(at + HEADER_ADDR_WORD)) << 32;
  asked.addr |= READ(RING_WORD(at + HEADER_ADDR_WORD + 1));
  return true;
}

void frame_pop(void) {
  ACT(CSR_CTL_POP);
}

uint32_t asked_word(uint32_t word) {
  return READ(RING_WORD(ring + word));
}

bool asked_words(uint32_t words) {
  bool exactly = asked.length == 4 * words;
  if (!exactly) count(COUNTER_DROP_MALFORMED);
  return exactly;
}

static void set(uint32_t word, uint32_t value) {
  WRITE(TX_WORD(slot, word), value);
}

void frame_head(uint32_t into, uint32_t word, const struct mac *dst, uint32_t kind, uint32_t lengths, uint32_t seq,
                uint64_t addr) {
  uint32_t mac_hi = READ(CSR_MAC_HI);
  WRITE(TX_WORD(into, word), dst->hi << 16 | dst->lo >> 16);
  WRITE(TX_WORD(into, word + 1), dst->lo << 16 | mac_hi);
  WRITE(TX_WORD(into, word + 2), READ(CSR_MAC_LO));
  WRITE(TX_WORD(into, word + KIND_WORD), kind | VERSION_PLACED);
  WRITE(TX_WORD(into, word + HEADER_LENGTH_WORD), lengths);
  WRITE(TX_WORD(into, word + HEADER_SEQ_WORD), seq);
  WRITE(TX_WORD(into, word + HEADER_ADDR_WORD), (uint32_t)(addr >> 32));
  WRITE(TX_WORD(into, word + HEADER_ADDR_WORD + 1), (uint32_t)addr);
}

void frame_open(const struct mac *dst, uint32_t kind, uint32_t epoch, uint32_t seq) {
  slot ^= 1;
  while (READ(CSR_TX_BUSY) & (slot + 1)) {
  }
  frame_head(slot, 0, dst, kind, 0, seq, 0);
  group = epoch;
  put = 0;
}

void frame_answer(uint32_t kind, uint32_t epoch) {
  frame_open(&asked.src, kind, epoch, asked.seq);
}

void frame_address(uint64_t addr) {
  set(HEADER_ADDR_WORD, (uint32_t)(addr >> 32));
  set(HEADER_ADDR_WORD + 1, (uint32_t)addr);
}

void frame_set(uint32_t word, uint32_t value) {
  set(PAYLOAD_WORD + word, value);
}

void frame_put(uint32_t word) {
  frame_set(put++, word);
}

void frame_put_long(uint64_t words) {
  frame_put((uint32_t)(words >> 32));
  frame_put((uint32_t)words);
}

void frame_send(void) {
  frame_send_bytes(4 * put);
}

void frame_send_bytes(uint32_t bytes) {
  set(HEADER_LENGTH_WORD, bytes << HEADER_LENGTH_SHIFT | group);
  bytes = keys_seal(slot, bytes);
  // Padding.
  for (; bytes < FRAME_MIN - HEADER_END; bytes += 4 - bytes % 4) {
    if (bytes % 4 == 0) frame_set(bytes / 4, 0);
  }
  WRITE(CSR_TX_SEND, slot * TX_SEND_SLOT | (HEADER_END + bytes));
}

void frame_send_text(const char *text) {
  uint32_t bytes = 4 * put;
  uint32_t word = 0;
  for (; *text != 0; text++) {
    word = word << 8 | (uint8_t)*text;
    bytes++;
    if (bytes % 4 == 0) frame_put(word);
  }
  // What is left stands at the upper end of its word.
  frame_put(word << (32 - 8 * (bytes % 4)) % 32);
  frame_send_bytes(bytes);
}

uint32_t frame_slot(void) {
  return slot;
}

void frame_refuse(uint32_t kind, uint32_t code, const struct mac *holder, uint64_t detail) {
  static const struct mac nobody;
  if (holder == 0) holder = &nobody;
  count(COUNTER_REFUSALS);
  frame_answer(kind, asked.epoch);
  frame_address(asked.addr);
  frame_put(code << REFUSAL_CODE_SHIFT | holder->hi);
  frame_put(holder->lo);
  frame_put_long(detail);
  frame_send();
}
