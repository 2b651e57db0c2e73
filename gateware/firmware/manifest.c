#include "manifest.h"

#include "memory.h"

#define SLOT 0u
#define WINDOW 1024u
#define END 0u  // No byte of a text.

static uint64_t base;
static uint32_t length, at;

static uint32_t next(void) {
  if (at == length) return END;
  uint32_t within = at % WINDOW;
  if (within == 0) memory_fetch(SLOT, base + at, length - at < WINDOW ? length - at : WINDOW);
  at++;
  return memory_word(SLOT, within / 4) << 8 * (within % 4) >> 24;
}

// A string, whose first quote was read: yields its bytes, as many as there is room for, and their number; more than that
// if there are more, or an escape.
static uint32_t string(uint32_t *to, uint32_t words) {
  uint32_t bytes = 0;
  for (uint32_t i = 0; i < words; i++) to[i] = 0;
  for (uint32_t byte = next(); byte != '"' && byte != END; byte = next()) {
    if (byte == '\\') {
      next();
      bytes = 4 * words;
    }
    if (bytes < 4 * words) to[bytes / 4] |= byte << (24 - 8 * (bytes % 4));
    if (bytes <= 4 * words) bytes++;
  }
  return bytes;
}

static bool is_letter(uint32_t byte) {
  return byte - 'a' < 26;
}

static bool is_name(const uint32_t *name, uint32_t bytes, uint32_t words) {
  if (bytes > 4 * words || !is_letter(name[0] >> 24)) return false;
  for (uint32_t i = 1; i < bytes; i++) {
    uint32_t byte = name[i / 4] << 8 * (i % 4) >> 24;
    if (!is_letter(byte) && byte - '0' >= 10 && byte != '_') return false;
  }
  return true;
}

bool manifest_role(const struct image *image, uint32_t *name, uint32_t words) {
  base = image->base + image->manifest;
  length = image->manifest_length;
  at = 0;
  uint32_t depth = 0;
  bool is_key = false;  // The next string names a field of the outermost object,
  bool is_role = false;  // and the last one that did was the role's name.
  for (uint32_t byte = next(); byte != END; byte = next()) {
    switch (byte) {
      case '{':
      case '[':
        is_key = ++depth == 1;
        break;
      case '}':
      case ']':
        depth--;
        break;
      case ',':
        is_key = depth == 1;
        break;
      case '"': {
        uint32_t bytes = string(name, words);
        if (is_role) return is_name(name, bytes, words);
        is_role = is_key && bytes == 4 && name[0] == 0x6E616D65u;
        is_key = false;
        break;
      }
      default:
        break;
    }
  }
  return false;
}
