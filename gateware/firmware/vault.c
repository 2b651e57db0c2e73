#include "vault.h"

#include "hw.h"

// What a key is made for: crates/core/auth/src/key.rs.
enum step { STEP_PAIR = 2, STEP_CLAIMS = 3 };

// Bytes that make no word yet. A message of frames' words has none before the last of them.
static uint32_t gathered;
static uint32_t held;
static bool empty;

static bool order(uint32_t word) {
  WRITE(CSR_KEY_ORDER, word);
  uint32_t status;
  do status = READ(CSR_KEY_ORDER);
  while (status & KEY_ORDER_BUSY);
  return status & KEY_ORDER_DONE;
}

void vault_begin(enum vault_key key) {
  held = 0;
  gathered = 0;
  empty = true;
  order((uint32_t)key << KEY_ORDER_SLOT_SHIFT);
}

void vault_put(uint32_t value, uint32_t bytes) {
  for (; bytes != 0; bytes--) {
    gathered |= (value & 0xFF) << 8 * held;
    value >>= 8;
    if (++held < 4) continue;
    WRITE(CSR_KEY_DATA, gathered);
    held = 0;
    gathered = 0;
    empty = false;
  }
}

void vault_put_word(uint32_t word) {
  WRITE(CSR_KEY_FRAME, word);
  empty = false;
}

bool vault_end(enum vault_result to, uint32_t target) {
  uint32_t bytes = held;
  if (held != 0) WRITE(CSR_KEY_DATA, gathered);
  if (held == 0 && !empty) bytes = 4;
  return order(1u << KEY_ORDER_OP_SHIFT | bytes << KEY_ORDER_BYTES_SHIFT | (uint32_t)to << KEY_ORDER_TO_SHIFT | target);
}

void vault_begin_claims(void) {
  vault_begin(VAULT_PAIR);
  vault_put(STEP_CLAIMS, 1);
}

bool vault_pair(enum vault_key card_key, uint32_t host, uint32_t generation) {
  vault_begin(card_key);
  vault_put(STEP_PAIR, 1);
  vault_put(host, 4);
  vault_put(0, 4);
  vault_put(generation, 4);
  if (!vault_end(VAULT_DERIVES, VAULT_PAIR)) return false;
  vault_begin_claims();
  return vault_end(VAULT_TAGS, VAULT_CLAIMS);
}

uint64_t vault_print(void) {
  // No frame is as short, so this is the tag of none.
  vault_begin(VAULT_CLAIMS);
  vault_put(0, 1);
  vault_end(VAULT_SHOWN, 0);
  return (uint64_t)READ(CSR_KEY_TAG(0)) << 32 | READ(CSR_KEY_TAG(1)) | 1;
}

void vault_forget_session(uint32_t session) {
  order(3u << KEY_ORDER_OP_SHIFT | session);
}
