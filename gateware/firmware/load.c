#include "load.h"

#include "admit.h"
#include "arith.h"
#include "clock.h"
#include "counters.h"
#include "frame.h"
#include "keys.h"
#include "memory.h"
#include "missing.h"
#include "role.h"
#include "session.h"
#include "signed.h"

// BLAKE3's chunks, and the blocks of them in which the digest follows the arrival of the image.
#define LEAF_BYTES 1024u
#define BLOCK_BYTES 65536u
#define BLOCK_LEAVES (BLOCK_BYTES / LEAF_BYTES)
#define VALUE_BYTES 32u
// Chunks that the hardware forgets in a cycle.
#define STG_ROW 4u
// Bound on what a begin may claim of its members, for the jitter.
#define MEMBERS_MAX (1u << 16)
// Members for whose answers a 10 Gb/s port has room in a microsecond.
#define ANSWERS_PER_US 10u
// Loads of this claim that are over. A late copy of their begin must not drop the present load.
#define SPENT_MAX 8u

enum phase { NONE, RECEIVING, STAGED, LOADED, FAILED };  // LOADED: configuring or active.

// All in one: a base and offsets are shorter than as many addresses.
static struct {
  enum phase phase;

  // The load, its begin word by word, and the image it brings.
  uint32_t seq;
  struct mac owner;
  uint32_t begin[IMAGE_BEGIN_WORDS];
  struct image *image;

  // The newest poll.
  uint32_t polls;  // So many so far.
  uint32_t poll;

  // Something to say at a random moment: what, the phase then tells.
  bool answers;
  uint32_t answer;
  uint32_t due;

  // Why it failed.
  uint32_t failure;
  const char *text;

  // The digest: blocks that were not given to it yet, and values at the present level of the tree.
  uint32_t blocks_left;
  uint32_t values;
  bool signs;  // All else is right: the signature is checked.

  bool configured;
  uint32_t restart;  // What the card awaits, or 0.
  uint64_t took_ns;
  uint32_t commit;

  uint32_t spent[SPENT_MAX];
  uint32_t spent_count;
  uint32_t spent_next;
} load;

static uint32_t group_of(const uint32_t *words) {
  return FIELD(words, IMAGE_BEGIN_GROUP);
}

bool load_member(void) {
  return load.phase != NONE;
}

bool load_loading(void) {
  return load.phase == RECEIVING || load.phase == STAGED;
}

bool load_receiving(void) {
  return load.phase == RECEIVING;
}

uint32_t load_group(void) {
  return load_member() ? group_of(load.begin) : 0;
}

static void spend(void) {
  load.spent[load.spent_next] = load.seq;
  load.spent_next = (load.spent_next + 1) % SPENT_MAX;
  if (load.spent_count < SPENT_MAX) load.spent_count++;
}

static bool is_spent(void) {
  for (uint32_t i = 0; i < load.spent_count; i++) {
    if (load.spent[i] == asked.seq) return true;
  }
  return false;
}

static void send(uint32_t kind, uint32_t number) {
  frame_open(&load.owner, kind, load_group(), number);
}

// An answer within a time in which each member's has room.
static void answer_soon(uint32_t number) {
  if (load.answers) return;
  uint32_t members = load.begin[IMAGE_BEGIN_MEMBERS_WORD];
  if (members == 0) members = 1;
  if (members > MEMBERS_MAX) members = MEMBERS_MAX;
  load.answers = true;
  load.answer = number;
  load.due = clock_within((uint32_t)arith_parts(members, ANSWERS_PER_US));
}

static void send_failure(uint32_t code, const char *text) {
  frame_put(code << FAILURE_CODE_SHIFT);
  frame_put(0);
  frame_send_text(text);
}

static void fail(uint32_t code, const char *text) {
  load.phase = FAILED;
  load.failure = code;
  load.text = text;
}

// Why a begin is refused, and its code; null if it is not.
static const char *begin_fault(const uint32_t *words, uint32_t *code) {
  uint32_t chunk = FIELD(words, IMAGE_BEGIN_CHUNK);
  uint32_t length = words[IMAGE_BEGIN_LENGTH_WORD + 1];
  bool huge = words[IMAGE_BEGIN_LENGTH_WORD] != 0;
  *code = ERROR_CODE_BUSY;
  if (role_configuring()) return "the card is configuring";
  if (role_local()) return "the configuration port is in local use";
  *code = ERROR_CODE_BAD_REQUEST;
  if (chunk == 0 || chunk % BEAT != 0 || chunk > memory_bulk()) {
    return "the chunk is not a multiple of 64 that the card takes";
  }
  if (group_of(words) == 0) return "the group is 0";
  if (!huge && length == 0) return "the image is empty";
  *code = ERROR_CODE_IMAGE_TOO_LARGE;
  if (huge || length > READ(CSR_STAGING_MAX)) return "the image is larger than the staging area";
  *code = ERROR_CODE_BAD_REQUEST;
  if (arith_parts(length, chunk) > IMAGE_CHUNKS_MAX) return "the image has too many chunks";
  return 0;
}

static void start(const uint32_t *words) {
  if (load_member() && load.seq != asked.seq) spend();
  uint32_t length = words[IMAGE_BEGIN_LENGTH_WORD + 1];
  uint32_t chunk = FIELD(words, IMAGE_BEGIN_CHUNK);
  uint32_t chunks = (uint32_t)arith_parts(length, chunk);
  for (uint32_t i = 0; i < IMAGE_BEGIN_WORDS; i++) load.begin[i] = words[i];
  load.phase = RECEIVING;
  load.seq = asked.seq;
  load.owner = asked.src;
  load.polls = 0;
  load.answers = false;
  load.signs = false;
  load.image = role_next_image();
  load.image->length = length;
  load.values = (length + LEAF_BYTES - 1) / LEAF_BYTES;
  load.blocks_left = (length + BLOCK_BYTES - 1) / BLOCK_BYTES;
  missing_start(chunks);
  // Blocks of the load before may still be under digest, at the same place.
  while (!(READ(CSR_DIG_GO) & DIG_GO_IDLE)) {
  }
  WRITE(CSR_LOAD_GROUP, load_group());
  WRITE(CSR_STG_BASE, (uint32_t)(load.image->base / BEAT));
  WRITE(CSR_STG_LAST, chunks - 1);
  uint32_t last_length = length - (uint32_t)arith_times(chunks - 1, chunk);
  WRITE(CSR_STG_CHUNK, last_length << STG_CHUNK_LAST_LENGTH_SHIFT | chunk);
  uint32_t rows = (chunks - 1) / STG_ROW;
  WRITE(CSR_STG_EMPTY, rows < load.blocks_left ? load.blocks_left - 1 : rows);
  ACT(CSR_STG_START);
  while (READ(CSR_STG_START) & STG_START_BUSY) {
  }
}

static bool same_begin(const uint32_t *words) {
  if (!load_member() || load.seq != asked.seq) return false;
  for (uint32_t i = 0; i < IMAGE_BEGIN_WORDS; i++) {
    if (load.begin[i] != words[i]) return false;
  }
  return true;
}

void load_begin(void) {
  uint32_t words[IMAGE_BEGIN_WORDS];
  for (uint32_t i = 0; i < IMAGE_BEGIN_WORDS; i++) words[i] = asked_word(i);
  uint32_t code;
  if (!admitted(CLAIM_OF_IMAGE_BEGIN)) {
    count(COUNTER_DROP_EPOCH);
    count(COUNTER_REFUSALS);
    frame_answer(KIND_IMAGE_CONFIRM_FAILED, group_of(words));
    return send_failure(ERROR_CODE_STALE_EPOCH, "");
  }
  session_renew();
  if (!same_begin(words)) {
    if (is_spent()) return count(COUNTER_DROP_DUPLICATE);
    const char *text = begin_fault(words, &code);
    if (text != 0) {
      count(COUNTER_REFUSALS);
      frame_answer(KIND_IMAGE_CONFIRM_FAILED, group_of(words));
      return send_failure(code, text);
    }
    start(words);
  }
  frame_answer(KIND_IMAGE_CONFIRM_READY, group_of(words));
  frame_send();
}

// Renews the lease if the frame at hand is admitted, and drops the frame if not. Returns whether it is.
static bool takes(enum claim_rule rule) {
  bool is_admitted = admitted(rule);
  if (is_admitted) {
    if (keys_proven()) session_renew();
  } else {
    count(COUNTER_DROP_EPOCH);
  }
  return is_admitted;
}

void load_data(void) {
  if (!takes(CLAIM_OF_IMAGE_DATA)) return;
  // When the load takes no more chunks, all were there once. When it does, there was no room.
  count(load_receiving() ? COUNTER_DROP_QUEUE : COUNTER_DROP_DUPLICATE);
}

void load_poll(void) {
  if (!takes(CLAIM_OF_IMAGE_POLL) || !asked_words(WORDS_OF_IMAGE_POLL)) return;
  if (load.polls == 0 || load.poll != asked.seq) {
    load.polls++;
    load.poll = asked.seq;
    load.answers = false;
    if (load_receiving()) missing_poll();
  }
  if (!load.answers) {
    load.answers = true;
    load.answer = asked.seq;
    load.due = clock_within(ASKED(POLL_WINDOW_US));
  }
}

void load_commit(void) {
  if (!takes(CLAIM_OF_IMAGE_COMMIT) || !asked_words(WORDS_OF_IMAGE_COMMIT)) return;
  if (load.phase == STAGED) {
    load.phase = LOADED;
    load.configured = false;
    load.commit = asked.seq;
    load.answers = false;
    role_configure();
  }
  answer_soon(asked.seq);
}

void load_abort(void) {
  if (!takes(CLAIM_OF_IMAGE_ABORT) || !asked_words(WORDS_OF_IMAGE_ABORT)) return;
  if (load.phase == LOADED && !load.configured) return;
  spend();
  load.phase = NONE;
}

// The ranges of the report at hand; more than it may have if it is malformed.
static uint32_t sound_ranges(void) {
  const uint32_t none = MISSING_RANGES + 1;
  if (asked.length < 4 * MISSING_WORDS) return none;
  uint32_t ranges = ASKED(MISSING_RANGES);
  if (ranges > MISSING_RANGES || asked.length < 4 * MISSING_WORDS + 8 * ranges) return none;
  for (uint32_t i = 0; i < ranges; i++) {
    uint32_t at = MISSING_WORDS + CHUNK_RANGE_WORDS * i;
    uint32_t first = asked_word(at);
    uint32_t chunks = asked_word(at + CHUNK_RANGE_CHUNKS_WORD);
    if (chunks == 0 || first + chunks < first) return none;
  }
  return ranges;
}

void load_overhear(void) {
  if (!admitted(CLAIM_OF_IMAGE_CONFIRM_MISSING)) return count(COUNTER_DROP_EPOCH);
  uint32_t ranges = sound_ranges();
  if (ranges > MISSING_RANGES) return count(COUNTER_DROP_MALFORMED);
  if (load.polls == 0 || load.poll != asked.seq) return count(COUNTER_DROP_WINDOW);
  // What was left out once and did not come is reported, whatever others say: their report may have been lost, or be a
  // lie.
  if (!load_receiving() || load.polls > 1) return;
  uint32_t end = 0;
  for (uint32_t i = 0; i < ranges; i++) {
    uint32_t at = MISSING_WORDS + CHUNK_RANGE_WORDS * i;
    uint32_t first = asked_word(at);
    uint32_t chunks = asked_word(at + CHUNK_RANGE_CHUNKS_WORD);
    // Ascending, as every card sends them: so the work is bounded by the image, not by the frame.
    if (first < end || !missing_note(first, chunks)) return count(COUNTER_DROP_MALFORMED);
    end = first + chunks;
  }
}

void load_forget(void) {
  load.phase = NONE;
  load.spent_count = 0;
  load.spent_next = 0;
}

// Why the port has failed, with its own number.
static const char *port_text(void) {
  static const char words[] = "the configuration port refuses the part: error 000";
  static char text[sizeof words];
  for (uint32_t at = 0; at < sizeof words; at++) text[at] = words[at];
  uint32_t code = READ(CSR_CFG_STATUS) >> CFG_STATUS_CODE_SHIFT & CFG_STATUS_CODE_MASK;
  for (uint32_t at = sizeof words - 2; at >= sizeof words - 4; at--) {
    uint32_t rest = (uint32_t)arith_parts(code + 1, 10) - 1;
    text[at] = (char)('0' + code - 10 * rest);
    code = rest;
  }
  return text;
}

void load_configured(bool done, uint32_t restart, uint64_t ns) {
  // The claim whose load it was may have ended.
  if (load.phase != LOADED || load.configured) return;
  load.configured = true;
  load.took_ns = ns;
  load.restart = restart;
  const char *lost = signed_lost();
  if (!done) fail(lost != 0 ? ERROR_CODE_IMAGE_SIGNATURE : ERROR_CODE_IMAGE_PART, lost != 0 ? lost : port_text());
  answer_soon(load.commit);
}

// Gives the digest one more job: the bytes from `source` on become values at `target`.
static void digest(uint32_t go, uint32_t source, uint32_t target, uint32_t length) {
  if (load.values <= 2 && (go & DIG_GO_PARENTS)) go |= DIG_GO_ROOT;
  if (load.values == 1) go |= DIG_GO_ROOT;
  WRITE(CSR_DIG_SOURCE, source);
  WRITE(CSR_DIG_TARGET, target);
  WRITE(CSR_DIG_LENGTH, length);
  WRITE(CSR_DIG_GO, go);
}

// Gives the digest the blocks that are whole.
static void digest_blocks(void) {
  while (READ(CSR_DIG_GO) & DIG_GO_ROOM) {
    uint32_t state = READ(CSR_STG_BLOCK);
    if (!(state & STG_BLOCK_VALID)) return;
    uint32_t block = state & STG_BLOCK_NUMBER_MASK;
    uint32_t rest = load.image->length - block * BLOCK_BYTES;
    WRITE(CSR_DIG_CHUNK, block * BLOCK_LEAVES);
    digest(0, (uint32_t)(load.image->base / BEAT) + block * (BLOCK_BYTES / BEAT),
           memory_values() + block * (BLOCK_LEAVES * VALUE_BYTES / BEAT), rest < BLOCK_BYTES ? rest : BLOCK_BYTES);
    ACT(CSR_STG_BLOCK_POP);
    load.blocks_left--;
  }
}

bool load_hungry(void) {
  return load_receiving() && (READ(CSR_DIG_GO) & DIG_GO_ROOM);
}

static const char *text_of(uint32_t code) {
  switch (code) {
    case ERROR_CODE_IMAGE_TOO_LARGE:
      return "the image says that it is larger than any";
    case ERROR_CODE_IMAGE_VERSION:
      return "the image needs another format or shell";
    case ERROR_CODE_IMAGE_TARGET:
      return "the image has no part for `rtl`";
    case ERROR_CODE_IMAGE_PART:
      return "the part for `rtl` is malformed";
    default:
      return "the image is malformed";
  }
}

// The image may be committed, or has failed.
static void end_staging(uint32_t code, const char *text) {
  load.phase = STAGED;
  load.signs = false;
  if (code != ERROR_CODE_OK) {
    fail(code, text);
    count(COUNTER_IMAGES_FAILED);
  }
  answer_soon(load.seq);
}

// Everything that an image must stand before it counts as staged, but for its signature.
static void check(void) {
  bool same = true;
  memory_fetch(0, (uint64_t)memory_values() * BEAT, VALUE_BYTES);
  for (uint32_t i = 0; i < IMAGE_BEGIN_DIGEST_WORDS; i++) {
    load.image->digest[i] = load.begin[IMAGE_BEGIN_DIGEST_WORD + i];
    if (memory_word(0, i) != load.image->digest[i]) same = false;
  }
  if (!same) return end_staging(ERROR_CODE_IMAGE_DIGEST, "the image does not have the digest announced");
  uint32_t code = image_check(load.image);
  load.signs = code == ERROR_CODE_OK && signed_begin(load.image);
  if (!load.signs) end_staging(code, text_of(code));
}

static void check_signature(void) {
  uint32_t code;
  const char *text;
  if (signed_step(load.image, &code, &text)) end_staging(code, text);
}

static void digest_turn(void) {
  if (load.signs) return check_signature();
  digest_blocks();
  if (load.blocks_left != 0 || !(READ(CSR_DIG_GO) & DIG_GO_IDLE)) return;
  if (load.values == 1) return check();
  // One level of the tree more, in place: an engine that goes forward never writes where it has not read. An odd value
  // at the end goes up as it is.
  uint32_t at = memory_values();
  digest(DIG_GO_PARENTS, at, at, load.values * VALUE_BYTES);
  load.values = (load.values + 1) / 2;
}

bool load_works(void) {
  return load_receiving() && load.signs && signed_works();
}

static void speak_of_commit(void) {
  send(KIND_IMAGE_CONFIRM_COMMITTED, load.answer);
  frame_send();
}

static void speak_of_end(void) {
  send(load.restart != 0 ? KIND_IMAGE_CONFIRM_WRITTEN : KIND_IMAGE_CONFIRM_ACTIVE, load.answer);
  for (uint32_t i = 0; i < IMAGE_BEGIN_DIGEST_WORDS; i++) frame_put(load.begin[IMAGE_BEGIN_DIGEST_WORD + i]);
  frame_put_long(load.took_ns);
  if (load.restart != 0) {
    frame_put(load.restart << WRITTEN_RESTART_SHIFT);
    frame_put(0);
  }
  frame_send();
}

static void speak(void) {
  switch (load.phase) {
    case RECEIVING:
      return missing_report(load_group(), load.answer);
    case STAGED:
      send(KIND_IMAGE_CONFIRM_STAGED, load.answer);
      return frame_send();
    case FAILED:
      send(KIND_IMAGE_CONFIRM_FAILED, load.answer);
      return send_failure(load.failure, load.text);
    default:
      return load.configured ? speak_of_end() : speak_of_commit();
  }
}

void load_turn(void) {
  if (load_receiving()) digest_turn();
  if (load_member() && load.answers && clock_due(load.due)) {
    load.answers = false;
    speak();
  }
}
