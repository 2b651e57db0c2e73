// Whose frames the analyzer lets in, and from whom they are: it looks each byte of an address up in a table.
#ifndef RL_FILTER_H
#define RL_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "frame.h"

// Tells the addresses that stay. Before SESSION_LISTENING.
void filter_start(void);

// The owner of the claim, after nobody; or nobody (0).
void filter_owner(const struct mac *owner);

// The groups that the card belongs to: of its load, and of its claim.
void filter_load(bool member, uint32_t group);
void filter_claim(bool member, uint32_t group);

#endif
