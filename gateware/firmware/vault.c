#include "vault.h"

#include "hw.h"

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

void vault_forget_session(uint32_t session) {
  order(3u << KEY_ORDER_OP_SHIFT | session);
}
