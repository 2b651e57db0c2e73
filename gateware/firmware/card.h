// The card as a whole: what all its parts do when a claim begins or ends, and what it tells of itself.
#ifndef RL_CARD_H
#define RL_CARD_H

#include <stdbool.h>
#include <stdint.h>

// Makes everything ready for the claim that was just granted.
void card_begin_claim(void);

// Ends everything that belonged to the claim that just ended.
void card_end_claim(void);

// What it is doing: CARD_STATE_...
uint32_t card_state(void);

// Its memory cannot be used, so that it takes no claim.
bool card_faulty(void);

// Tells the fast paths whether there are a claim, a load and a role.
void card_publish(void);

// Until it is written anew, solicitations come to the firmware.
void card_answer_slowly(void);

#endif
