// The role's name in an image's manifest.
#ifndef RL_MANIFEST_H
#define RL_MANIFEST_H

#include <stdbool.h>
#include <stdint.h>

#include "image.h"

// Reads the name: words with their first byte highest, and zeros behind it. False if there is none, or it is not
// [a-z][a-z0-9_]{0,31}. What else the manifest says is not looked at.
bool manifest_role(const struct image *image, uint32_t *name, uint32_t words);

#endif
