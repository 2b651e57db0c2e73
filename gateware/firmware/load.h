// Loading: an image is staged while the old role serves, checked, and only then committed.
//
//   begin -> receiving -> staged --commit--> configuring -> active, or written and awaiting a restart
//                |                                            (the claim may end meanwhile: it still completes)
//                +-> failed: the old role serves on
//
// The hardware takes the chunks and keeps the books of what is there.
#ifndef RL_LOAD_H
#define RL_LOAD_H

#include <stdbool.h>
#include <stdint.h>

// True when the card is a member of a load, when an image is being staged or waits for its commit, and when the load
// takes chunks.
bool load_member(void);
bool load_loading(void);
bool load_receiving(void);

// The load's group, or 0.
uint32_t load_group(void);

void load_begin(void);

// Image data that the hardware did not take; and what the owner sends to all members: how far are you, activate the
// image, forget it.
void load_data(void);
void load_poll(void);
void load_commit(void);
void load_abort(void);

// Another member reports what it lacks.
void load_overhear(void);

// The claim is over: the load is forgotten.
void load_forget(void);

// The configuration port is done, or has failed. Where it has written the image to a flash, the card awaits that restart;
// else 0.
void load_configured(bool done, uint32_t restart, uint64_t took_ns);

// True when the digest takes the next block that is whole. If not, its being idle is the next thing that happens.
bool load_hungry(void);

// True while there is something to compute: then nothing may be waited for.
bool load_works(void);

// Goes on with the digest, and says what is due.
void load_turn(void);

#endif
