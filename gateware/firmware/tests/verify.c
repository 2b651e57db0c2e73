// Checks signatures, and nothing else: when a turn begins and ASKED stands in the place of the verdict, key, signature
// and message are in the ring's memory, and the verdict is when it ends. The test counts what the processor needs for one.
#include "../ed25519.h"
#include "../hw.h"

#define MESSAGE_MAX 64u

#ifdef __riscv
#define MEMORY(word) (*(volatile uint32_t *)(RING_BASE + 4 * (word)))
#else
#define MEMORY(word) (RING_BASE + 4 * (word))
#endif

#define ASKED 4u

enum { VERDICT, WORDS, KEY, SIGNATURE = KEY + ED25519_KEY_WORDS, MESSAGE = SIGNATURE + ED25519_SIGNATURE_WORDS };

static uint32_t words[MESSAGE + MESSAGE_MAX];

void firmware_start(void) {}

static uint32_t check(void) {
  uint32_t count = READ(MEMORY(WORDS));
  for (uint32_t i = KEY; i < MESSAGE + count; i++) words[i] = READ(MEMORY(i));
  ed25519_begin(&words[SIGNATURE], &words[KEY], &words[MESSAGE], count);
  enum ed25519 verdict;
  do verdict = ed25519_step();
  while (verdict == ED25519_UNKNOWN);
  return verdict;
}

void firmware_turn(void) {
  if (READ(MEMORY(VERDICT)) == ASKED) WRITE(MEMORY(VERDICT), check());
  WRITE(CSR_SLEEP, 0);
}

#ifdef __riscv
int main(void) {
  for (;;) firmware_turn();
}
#endif
