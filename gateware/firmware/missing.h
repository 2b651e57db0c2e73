// What is missing of the image under way, and what other members have reported as missing in the present poll.
#ifndef RL_MISSING_H
#define RL_MISSING_H

#include <stdbool.h>
#include <stdint.h>

// An image of so many chunks.
void missing_start(uint32_t chunks);

// A new poll begins: nothing is reported.
void missing_poll(void);

// Another member has reported these chunks; false if there are no such chunks.
bool missing_note(uint32_t first, uint32_t chunks);

// Sends the reports that answer this poll to the load's group.
void missing_report(uint32_t group, uint32_t poll);

#endif
