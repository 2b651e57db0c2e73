// Images of a card that knows signers: it runs what they have signed for it, and nothing older than what has run. A card
// without signers takes every image. Only firmware with RL_KEYS checks signatures.
#ifndef RL_SIGNED_H
#define RL_SIGNED_H

#include <stdbool.h>
#include <stdint.h>

#include "image.h"
#include "wire.h"

#ifdef RL_KEYS
// Begins to check an image that is sound otherwise. False if the card asks for no signatures.
bool signed_begin(struct image *image);

// Goes on. True at the end: then `code` is ERROR_CODE_OK, or why the image is refused, and `text` says more.
bool signed_step(struct image *image, uint32_t *code, const char **text);

// Whether there is something to do now; if not, the digest's being idle is the next thing that happens.
bool signed_works(void);

// The image runs, or will after a restart: nothing older may from now on. False if the board does not keep that: then it
// does not count as one that runs, and signed_lost says why; null of one that does.
bool signed_ran(const struct image *image);
const char *signed_lost(void);
#else
static inline bool signed_begin(struct image *image) {
  (void)image;
  return false;
}

static inline bool signed_step(struct image *image, uint32_t *code, const char **text) {
  (void)image;
  (void)code;
  (void)text;
  return true;
}

static inline bool signed_works(void) {
  return false;
}

static inline bool signed_ran(const struct image *image) {
  (void)image;
  return true;
}

static inline const char *signed_lost(void) {
  return 0;
}
#endif

#endif
