#include "signed.h"

#include "arith.h"
#include "covered.h"
#include "ed25519.h"
#include "frame.h"
#include "hw.h"
#include "manifest.h"
#include "memory.h"

// A signature's part, in words: what is signed before the digest of what is covered, and the signature.
#define PART_BYTES 128u
#define STATED_WORDS 16u
#define MAGIC_0 0x524C5349u  // "RLSI"
#define MAGIC_1 0x474E4544u  // "GNED"
#define FORM_1 0x00010000u
#define VERSION_WORD 4u
#define SIGNER_WORD 8u
#define DIGEST_WORDS 8u
#define SLOT 0u
#define TEXT_MAX 64u
// Frames that have their turn before the next step of the arithmetic. A step takes so long that more may come meanwhile
// than have theirs between two, and then the newest question would never be the next.
#define FRAMES_FIRST 8u
// Letters of a key that tell a stranger.
#define SHORT_KEY_WORDS 2u

// The message: the first half of the part, and the digest. Behind it the signature.
static uint32_t message[STATED_WORDS + DIGEST_WORDS];
static uint32_t signature[ED25519_SIGNATURE_WORDS];
static enum { COVERED, SIGNATURE, OVER } state;
static uint32_t refusal;
static char said[TEXT_MAX + 1];
static uint32_t letters;

// -- what is said
static void letter(uint32_t byte) {
  if (letters < TEXT_MAX) said[letters++] = (char)byte;
  said[letters] = 0;
}

static void say(const char *text) {
  for (; *text != 0; text++) letter((uint8_t)*text);
}

static void say_number(uint64_t n) {
  char digits[20];
  uint32_t count = 0;
  do {
    // A tenth is a fifth of the half.
    uint64_t tenth = arith_parts((n >> 1) + 1, 5) - 1;
    digits[count++] = (char)('0' + (uint32_t)n - ((uint32_t)tenth << 3) - ((uint32_t)tenth << 1));
    n = tenth;
  } while (n != 0);
  while (count != 0) letter((uint8_t)digits[--count]);
}

static void say_hex(uint32_t word) {
  for (uint32_t i = 0; i < 8; i++, word <<= 4) letter((uint8_t) "0123456789abcdef"[word >> 28]);
}

static void say_name(uint32_t signer) {
  for (uint32_t i = 0; i < 4 * SIGNER_NAME_WORDS; i++) {
    uint32_t byte = signers_name(signer, i / 4) << 8 * (i % 4) >> 24;
    if (byte != 0) letter(byte);
  }
}

static void refuse(const char *text) {
  refusal = ERROR_CODE_IMAGE_SIGNATURE;
  state = OVER;
  say(text);
}

// -- the part
static bool read_part(const struct image *image) {
  if (image->signature == 0) {
    refuse("signed by nobody");
  } else if (!image->signature_is_last) {
    refuse("another part follows its signature");
  } else if (image->signature_length != PART_BYTES) {
    refuse("its signature is malformed: it has not 128 bytes");
  } else {
    memory_fetch(SLOT, image->base + image->signature, PART_BYTES);
    for (uint32_t i = 0; i < STATED_WORDS; i++) message[i] = memory_word(SLOT, i);
    for (uint32_t i = 0; i < ED25519_SIGNATURE_WORDS; i++) signature[i] = memory_word(SLOT, STATED_WORDS + i);
    if (message[0] != MAGIC_0 || message[1] != MAGIC_1 || message[2] >> 16 != FORM_1 >> 16) {
      refuse("its signature is malformed: it is of no form known here");
    } else if (((message[2] ^ FORM_1) | message[3] | message[6] | message[7]) != 0) {
      refuse("its signature is malformed: a reserved byte is not zero");
    } else if ((message[VERSION_WORD] | message[VERSION_WORD + 1]) == 0) {
      refuse("its signature is malformed: version 0");
    } else {
      return true;
    }
  }
  return false;
}

// Who it claims to be from first: a stranger gets no signature checked.
static bool judge_signer(struct image *image) {
  uint32_t signer = signers_find(&message[SIGNER_WORD]);
  image->release.signer = signer;
  image->release.version = (uint64_t)message[VERSION_WORD] << 32 | message[VERSION_WORD + 1];
  if (signer == signers_count()) {
    say("signed by ");
    for (uint32_t i = 0; i < SHORT_KEY_WORDS; i++) say_hex(message[SIGNER_WORD + i]);
    refuse(", whom nobody knows here");
    return false;
  }
  if (signers_may(signer)) return true;
  say("signed by ");
  say_name(signer);
  refuse(", who may not sign for it");
  return false;
}

bool signed_begin(struct image *image) {
  image->is_signed = false;
  if (signers_count() == 0) return false;
  letters = 0;
  said[0] = 0;
  if (read_part(image) && judge_signer(image)) {
    state = COVERED;
    covered_begin(image);
  }
  return true;
}

// -- what it is a version of
static void judge_version(struct image *image) {
  state = OVER;
  refusal = ERROR_CODE_OK;
  if (!manifest_role(image, image->release.role, ROLE_NAME_WORDS)) {
    say("the image is malformed");
    refusal = ERROR_CODE_IMAGE_FORMAT;
    return;
  }
  uint64_t newest;
  switch (versions_check(&image->release, &newest)) {
    case VERSION_RUNS:
      if (!versions_kept()) return refuse("the board keeps no versions any more");
      image->is_signed = true;
      return;
    case VERSION_OLDER:
      say("version ");
      say_number(image->release.version);
      say(" is older than ");
      say_number(newest);
      return refuse("");
    case VERSION_SIGNER_FULL:
      return refuse("it has run 64 roles of this signer, and keeps no more");
    case VERSION_FULL:
      return refuse("it has run 96 roles, and keeps no more");
  }
}

static void check_signature(struct image *image) {
  static uint32_t put_off;
  if (frame_waits() && ++put_off < FRAMES_FIRST) return;
  put_off = 0;
  switch (ed25519_step()) {
    case ED25519_UNKNOWN:
      return;
    case ED25519_RIGHT:
      return judge_version(image);
    case ED25519_WEAK:
      return refuse("its signer's key is none that one signer alone can have");
    case ED25519_WRONG:
      return refuse("its signature is not of this image");
  }
}

bool signed_works(void) {
  return state != COVERED || covered_works();
}

bool signed_step(struct image *image, uint32_t *code, const char **text) {
  if (state == COVERED) {
    uint32_t *digest = &message[STATED_WORDS];
    if (!covered_step(digest)) return false;
    for (uint32_t i = 0; i < DIGEST_WORDS; i++) digest[i] = arith_reversed(digest[i]);
    ed25519_begin(signature, &message[SIGNER_WORD], message, STATED_WORDS + DIGEST_WORDS);
    state = SIGNATURE;
  } else if (state == SIGNATURE) {
    check_signature(image);
  }
  *code = refusal;
  *text = said;
  return state == OVER;
}

static bool keep(const struct image *image) {
  uint64_t newest = 0;
  if (!image->is_signed || versions_check(&image->release, &newest) != VERSION_RUNS) return true;
  return newest < image->release.version ? versions_raise(&image->release) : versions_kept();
}

static bool lost;

bool signed_ran(const struct image *image) {
  lost = !keep(image);
  return !lost;
}

const char *signed_lost(void) {
  return lost ? "the board does not keep its version" : 0;
}
