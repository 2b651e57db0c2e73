#include "image.h"

#include <stdbool.h>

#include "hw.h"
#include "memory.h"
#include "wire.h"

// The format, see crates/core/image: all integers are big-endian, as words of the transmit buffer are.
#define MAGIC_0 0x524C494Du  // "RLIM"
#define MAGIC_1 0x41474500u  // "AGE\0"
#define FORMAT 1u
#define ALIGN 64u
#define HEADER_BYTES 64u
#define ENTRY_BYTES 64u
#define ENTRY_WORDS (ENTRY_BYTES / 4)
#define TAG_BYTES 16u
#define TAG_WORDS (TAG_BYTES / 4)
#define PARTS_MAX 16u
#define MANIFEST_BYTES_MAX 65536u

// The card's part.
#define TARGET 0x72746C00u         // "rtl"
#define PART_MAGIC_0 0x524C5254u   // "RLRT"
#define PART_MAGIC_1 0x4C000001u   // "L\0\0\1"
#define PART_HEAD_BYTES 88u
#define PART_BYTES_MIN 96u         // The head and the word with the check sequence.
#define PART_ARGS_WORD 6u          // Numbers of arguments, one byte a kernel.

// The slots of the transmit buffer into which the head, and all else, are read.
#define HEAD_SLOT 1u
#define OTHER_SLOT 0u

// Where the next thing must be: a forward pass over the file, in which each thing starts where the one before it ended,
// rounded up.
static uint32_t next;

static uint32_t head(uint32_t word) {
  return memory_word(HEAD_SLOT, word);
}

static uint32_t other(uint32_t word) {
  return memory_word(OTHER_SLOT, word);
}

// True when the bytes to the next multiple of 64 are there and zero; steps over them.
static bool skip_padding(const struct image *image) {
  uint32_t used = next % ALIGN;
  if (used == 0) return true;
  uint32_t start = next - used;
  next = start + ALIGN;
  if (next > image->length) return false;
  memory_fetch(OTHER_SLOT, image->base + start, ALIGN);
  uint32_t word = used / 4;
  uint32_t bits = other(word) << 8 * (used % 4);
  while (++word < ALIGN / 4) bits |= other(word);
  return bits == 0;
}

// True when what the four words of the head from `at` on tell of, its offset and length, is at its place.
static bool take(const struct image *image, uint32_t at) {
  if (!skip_padding(image)) return false;
  uint32_t length = head(at + 3);
  if (head(at) != 0 || head(at + 1) != next || head(at + 2) != 0 || length == 0) return false;
  if (length > image->length - next) return false;
  next += length;
  return true;
}

static bool is_letter(uint32_t byte) {
  return byte - 'a' < 26;
}

// True when the words of the head from `at` on are a tag: [a-z][a-z0-9-]*, then zeros.
static bool is_tag(uint32_t at) {
  bool ended = false;
  for (uint32_t i = 0; i < TAG_BYTES; i++) {
    uint32_t byte = head(at + i / 4) << 8 * (i % 4) >> 24;
    if (byte == 0) ended = true;
    bool good = is_letter(byte) || (i > 0 && (byte - '0' < 10 || byte == '-' || byte == 0));
    if (!good || (ended && byte != 0)) return false;
  }
  return true;
}

static bool same_tag(uint32_t a, uint32_t b) {
  for (uint32_t i = 0; i < TAG_WORDS; i++) {
    if (head(a + i) != head(b + i)) return false;
  }
  return true;
}

static bool is_target(uint32_t at) {
  return head(at) == TARGET && (head(at + 1) | head(at + 2) | head(at + 3)) == 0;
}

// The header's numbers, each checked as far as it can be alone.
static uint32_t check_header(const struct image *image) {
  // Magic and version come before all else: they tell best what it is.
  if (head(0) != MAGIC_0 || head(1) != MAGIC_1) return ERROR_CODE_IMAGE_FORMAT;
  if (head(2) >> 16 != FORMAT) return ERROR_CODE_IMAGE_VERSION;
  if (head(6) != 0 || head(7) > IMAGE_BYTES_MAX) return ERROR_CODE_IMAGE_TOO_LARGE;
  if (head(7) != image->length) return ERROR_CODE_IMAGE_FORMAT;
  // Reserved. A signature is a part like others, see signed.h.
  if (head(4) != 0) return ERROR_CODE_IMAGE_VERSION;
  uint32_t parts = head(3) >> 16;
  if ((head(3) & 0xFFFF) != 0 || head(5) != 0 || parts - 1 >= PARTS_MAX) return ERROR_CODE_IMAGE_FORMAT;
  if (image->length < HEADER_BYTES + parts * ENTRY_BYTES) return ERROR_CODE_IMAGE_FORMAT;
  if (head(10) != 0 || head(11) > MANIFEST_BYTES_MAX) return ERROR_CODE_IMAGE_FORMAT;
  return ERROR_CODE_OK;
}

#ifdef RL_KEYS
#define SIGNATURE_0 0x7369676Eu  // "signature"
#define SIGNATURE_1 0x61747572u
#define SIGNATURE_2 0x65000000u

static void note_none(struct image *image) {
  image->signature = 0;
}

// Notes where the signature is, if it is the part of this entry.
static void note(struct image *image, uint32_t entry, uint32_t end) {
  if (head(entry) != SIGNATURE_0 || head(entry + 1) != SIGNATURE_1) return;
  if (head(entry + 2) != SIGNATURE_2 || head(entry + 3) != 0) return;
  image->signature = head(entry + TAG_WORDS + 1);
  image->signature_length = head(entry + TAG_WORDS + 3);
  image->signature_entry_end = 4 * (entry + ENTRY_WORDS);
  image->signature_is_last = entry + ENTRY_WORDS == end;
}
#else
static inline void note_none(struct image *image) {
  (void)image;
}

static inline void note(struct image *image, uint32_t entry, uint32_t end) {
  (void)image;
  (void)entry;
  (void)end;
}
#endif

// Walks over the manifest and the parts, and notes where the card's part is.
static bool walk(struct image *image) {
  uint32_t end = HEADER_BYTES / 4 + (head(3) >> 16) * ENTRY_WORDS;
  next = 4 * end;
  if (!take(image, 8)) return false;
  image->manifest = head(9);
  image->manifest_length = head(11);
  image->part = 0;
  note_none(image);
  for (uint32_t entry = HEADER_BYTES / 4; entry < end; entry += ENTRY_WORDS) {
    if (!is_tag(entry)) return false;
    for (uint32_t other = HEADER_BYTES / 4; other < entry; other += ENTRY_WORDS) {
      if (same_tag(entry, other)) return false;
    }
    if (!take(image, entry + TAG_WORDS)) return false;
    note(image, entry, end);
    if (is_target(entry)) {
      image->part = head(entry + TAG_WORDS + 1);
      image->part_length = head(entry + TAG_WORDS + 3);
    }
  }
  return skip_padding(image) && next == image->length;
}

static void fetch_part(const struct image *image) {
  memory_fetch(OTHER_SLOT, image->base + image->part, PART_HEAD_BYTES);
}

static uint8_t part_args(uint32_t kernel) {
  return (uint8_t)(other(PART_ARGS_WORD + kernel / 4) >> (24 - 8 * (kernel % 4)));
}

// Whether the card can configure itself from its part. What the region's receiver checks, the data, is not looked at.
static bool check_part(struct image *image) {
  uint32_t length = image->part_length;
  if (length < PART_BYTES_MIN || length % 8 != 0) return false;
  fetch_part(image);
  image->kernels = other(3) >> 16;
  image->clock_khz = other(4);
  bool known = other(0) == PART_MAGIC_0 && other(1) == PART_MAGIC_1 && (other(3) & 0xFFFF) == 0;
  if (!known || image->kernels - 1 >= IMAGE_KERNELS_MAX || image->clock_khz == 0) return false;
  if (other(5) != length / 8) return false;
  for (uint32_t i = 0; i < IMAGE_KERNELS_MAX; i++) {
    if (part_args(i) > LAUNCH_ARGS) return false;
  }
  return true;
}

uint32_t image_check(struct image *image) {
  if (image->length < HEADER_BYTES) return ERROR_CODE_IMAGE_FORMAT;
  uint32_t most = HEADER_BYTES + PARTS_MAX * ENTRY_BYTES;
  memory_fetch(HEAD_SLOT, image->base, image->length < most ? image->length : most);
  uint32_t code = check_header(image);
  if (code != ERROR_CODE_OK) return code;
  if (!walk(image)) return ERROR_CODE_IMAGE_FORMAT;
  if ((head(2) & 0xFFFF) > VERSION) return ERROR_CODE_IMAGE_VERSION;
  if (image->part == 0) return ERROR_CODE_IMAGE_TARGET;
  return check_part(image) ? ERROR_CODE_OK : ERROR_CODE_IMAGE_PART;
}

void image_args(const struct image *image, uint8_t *args) {
  fetch_part(image);
  for (uint32_t i = 0; i < IMAGE_KERNELS_MAX; i++) args[i] = part_args(i);
}
