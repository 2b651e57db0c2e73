// Waiting for what takes long, without being deaf meanwhile.
#ifndef RL_WAIT_H
#define RL_WAIT_H

#include <stdint.h>

// Waits until this latched event has come, and takes it. Whoever asks meanwhile what the card is, how it does or what it
// has counted gets an answer, up to the first frame that asks for something else, which waits. The frame at hand is
// done with before: of it there are left who asked, the epoch and the number.
void wait_for(uint32_t event);

#endif
