// A card with keys: claims and releases are judged by their tags, answers to them have one, and each claim has a session
// of its own, whose key the vault makes and shows to nobody. Only that card's firmware is built with RL_KEYS.
#ifndef RL_KEYS_H
#define RL_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "frame.h"
#include "hw.h"

#ifdef RL_KEYS
// Bytes that a tag takes of a frame's room.
#define KEYS_ROOM BEAT

// Waits for the key store. A card that has no key in it is not on the network yet.
void keys_start(void);

// Whether the frame at hand may be acted upon. If it is a claim or a release, that depends on its tag, and it is dropped
// or refused here; what else there is has been checked before.
bool keys_admit(void);

// Whether a tag has proven whom the frame at hand is from.
bool keys_proven(void);

// The key store may have other keys and hosts than before. A claim whose key is gone ends. If the card has no key any
// more, it leaves the network: its owner hears so under the session's tag, and all others without one.
#define KEYS_WAKE EVENTS_KEYS
void keys_turn(uint32_t events);

// The card has left, or was never there. It neither hears nor says anything until it has a key.
bool keys_gone(void);

// Whether this host may have the card: its claim was taken, and its key counts still.
bool keys_may_own(const struct mac *host);

// The present claim begins, and has a session; it ends.
void keys_begin(void);
void keys_end(void);

// The rest of a grant: the card's nonce for the present claim, and its announcement.
void keys_prove(void);

// Puts a trailer behind the frame in this slot, of so many bytes of payload, if it answers a claim or a release. Returns
// the bytes with it.
uint32_t keys_seal(uint32_t slot, uint32_t bytes);

// Of a counter of tags, what the firmware has counted.
uint32_t keys_counted(uint32_t counter);

// Who gets announcements of its own, under a tag. Null: nobody.
const struct mac *keys_witness(void);
#else
#define KEYS_ROOM 0u

static inline void keys_start(void) {}

static inline bool keys_admit(void) {
  return true;
}

static inline bool keys_proven(void) {
  return true;
}

#define KEYS_WAKE 0u
static inline void keys_turn(uint32_t events) {
  (void)events;
}

static inline bool keys_gone(void) {
  return false;
}

static inline bool keys_may_own(const struct mac *host) {
  (void)host;
  return true;
}

static inline void keys_begin(void) {}

static inline void keys_end(void) {}

static inline void keys_prove(void) {
  frame_send();
}

static inline uint32_t keys_seal(uint32_t slot, uint32_t bytes) {
  (void)slot;
  return bytes;
}

static inline uint32_t keys_counted(uint32_t counter) {
  (void)counter;
  return 0;
}

static inline const struct mac *keys_witness(void) {
  return 0;
}
#endif

#endif
