// Auto-discovery: when the card says who it is, and what.
//
// At link-up (a few times, for the first may be lost before the switch has learnt the port), on solicitation, when its
// image or claim has changed, and at slow intervals. What an announcement says lies in a template, which the hardware
// sends when told, and by itself to a solicitor that gives no window.
#ifndef RL_DISCOVERY_H
#define RL_DISCOVERY_H

#include <stdbool.h>
#include <stdint.h>

#include "frame.h"

// The link has come up.
void discovery_start(void);

// The card's image or claim has changed.
void discovery_change(void);

// The role has broken a rule of its ports, and rl_role_port has cut it off and started it again.
void discovery_role_failed(void);

// True when no answer waits for its moment.
bool discovery_idle(void);

// A host asks who is there.
void discovery_solicit(void);

// Writes the announcement of a change into the frame in this slot, from this word of its payload on. Only of a card with
// keys, whose grants have one.
void discovery_describe(uint32_t slot, uint32_t word);

// Says that the card leaves the network in good order: to the owner of the claim that was its last, under whose session
// that leaves, and to all. Owner 0: it had none. Only of a card with keys: from another one a host believes a goodbye
// without a tag, which is of whoever pulls the card out.
void discovery_goodbye(const struct mac *owner);

// The card that has left is there again, and says so.
void discovery_return(void);

// Keeps the template true, and says what is due.
void discovery_turn(void);

#endif
