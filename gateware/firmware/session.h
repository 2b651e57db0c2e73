// Claims: who owns the card, in which epoch, and for how long.
#ifndef RL_SESSION_H
#define RL_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "frame.h"

// A claim. Without one, all is 0.
struct claim {
  struct mac owner;
  uint32_t epoch;
  uint32_t group;  // For Go frames, 0: none.
  uint64_t nonce;
  uint32_t lease_ms;
  uint32_t bulk;  // Most payload bytes of a frame that the card sends the owner.
};

extern struct claim claim;

void session_start(void);

bool session_claimed(void);

// Whether the frame at hand is the owner's, and of the present epoch.
bool session_owns(void);
bool session_holds(void);

// The owner has been heard.
void session_renew(void);

// Renews the lease if the frame at hand `is_admitted`. If not, drops the frame and refuses it with this kind, so that a
// host that has lost its claim learns it at once. Returns `is_admitted`.
bool session_fresh(bool is_admitted, uint32_t refusal);

// Ends the present claim, if there is one.
void session_end(void);

// Ends the claim of an owner that was silent for too long, once all frames have been read that came while it lasted.
// To be called before each frame is read. `was_busy`: since the turn before, the processor has not slept.
void session_expire(bool was_busy);

// Answers whoever waits for memory to be zeroed, when that is done.
void session_turn(uint32_t events);

void session_claim(void);
void session_release(void);
void session_ping(void);

#endif
