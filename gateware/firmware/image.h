// Images: where things are in one, checked, and what the card's part of it says.
#ifndef RL_IMAGE_H
#define RL_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "versions.h"

// Most kernels of an image.
#define IMAGE_KERNELS_MAX 64u

#define IMAGE_DIGEST_WORDS 8u

// What the card knows of an image in one of its staging slots.
struct image {
  uint64_t base;             // Address of its first byte.
  uint32_t length;           // Bytes.
  uint32_t manifest;         // Offset of the manifest.
  uint32_t manifest_length;  // Bytes.
  uint32_t part;             // Offset of the part for this card.
  uint32_t part_length;      // Bytes.
  uint32_t kernels;
  uint32_t clock_khz;
  uint32_t digest[IMAGE_DIGEST_WORDS];
#ifdef RL_KEYS
  uint32_t signature;            // Offset of the signature's part; 0: there is none.
  uint32_t signature_length;     // Bytes.
  uint32_t signature_entry_end;  // Where its entry in the table ends, bytes.
  bool signature_is_last;
  bool is_signed;  // The card asks for signatures, and has found this one right:
  struct release release;
#endif
};

// Checks header, part table, padding and the part for this card of the image whose base and length are given, and fills
// in the rest. Yields ERROR_CODE_OK, or what is wrong.
//
// What the model checks and this does not: the manifest's JSON, and the tag over the head. The digest of the whole
// image, which is checked before, covers both against damage.
uint32_t image_check(struct image *image);

// Copies the numbers of arguments of the part's kernels.
void image_args(const struct image *image, uint8_t *args);

#endif
