// Frames: the control frame at hand, taken apart, and those that the firmware sends.
#ifndef RL_FRAME_H
#define RL_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "hw.h"
#include "wire.h"

// An Ethernet address: its first two bytes and the other four.
struct mac {
  uint32_t hi;
  uint32_t lo;
};

// The head of the control frame at hand.
struct head {
  struct mac src;
  uint32_t kind;    // KIND_...
  uint32_t flags;   // FLAG_...
  uint32_t reason;  // DIVERT_...
  uint32_t length;  // Bytes of the payload.
  uint32_t epoch;
  uint32_t seq;
  uint64_t addr;
};

extern struct head asked;

// A field of the payload at hand, of at most 32 bits, or of 64.
#define ASKED(name) (asked_word(name##_WORD) >> name##_SHIFT & name##_MASK)
#define ASKED_LONG(name) ((uint64_t)asked_word(name##_WORD) << 32 | asked_word(name##_WORD + 1))

bool mac_same(const struct mac *a, const struct mac *b);

// Whether a control frame waits.
bool frame_waits(void);

// Takes the oldest control frame apart; false when there is none.
bool frame_next(void);

// Done with it.
void frame_pop(void);

// A word of the payload at hand.
uint32_t asked_word(uint32_t word);

// True when the payload at hand has so many words and no more. If not, the frame counts as malformed.
bool asked_words(uint32_t words);

// Opens a frame, after waiting for room; `kind` may have flags in it. Its payload is then put word by word.
void frame_open(const struct mac *dst, uint32_t kind, uint32_t epoch, uint32_t seq);

// Writes a frame's head into the transmit buffer, from this word of slot `into` on. `lengths` is its word
// HEADER_LENGTH_WORD.
void frame_head(uint32_t into, uint32_t word, const struct mac *dst, uint32_t kind, uint32_t lengths, uint32_t seq,
                uint64_t addr);

// Opens an answer to the frame at hand.
void frame_answer(uint32_t kind, uint32_t epoch);

// The frame's address field, if it is not 0.
void frame_address(uint64_t addr);

void frame_put(uint32_t word);
void frame_put_long(uint64_t words);

// Changes a word of the payload that was put before.
void frame_set(uint32_t word, uint32_t value);

// Sends the frame with what was put, or with so many bytes of payload.
void frame_send(void);
void frame_send_bytes(uint32_t bytes);

// Bytes of text at the end of a payload.
void frame_send_text(const char *text);

// The slot of the transmit buffer in which the open frame is.
uint32_t frame_slot(void);

// Refuses what the frame at hand asked for. `holder` may be null.
void frame_refuse(uint32_t kind, uint32_t code, const struct mac *holder, uint64_t detail);

#endif
