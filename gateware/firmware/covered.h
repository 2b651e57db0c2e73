// The digest of what an image's signature covers: all before the signature's part, but for two fields of the head that
// depend on the signature and are read as zeros. crates/core/sign has the rule.
#ifndef RL_COVERED_H
#define RL_COVERED_H

#include <stdbool.h>
#include <stdint.h>

#include "image.h"

// Begins with an image that is checked and has a signature. The digest's engine has nothing to do.
void covered_begin(const struct image *image);

// Goes on. True at the end: then these 8 words are the digest's, of each the first byte lowest.
bool covered_step(uint32_t *digest);

// Whether there is something to do before the engine is idle again.
bool covered_works(void);

#endif
