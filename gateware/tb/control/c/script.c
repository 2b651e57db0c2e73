// Does what a script in the control ring says, word by word: 1, address, value writes; 2, address reads, and the
// value goes to the next word of the transmit buffer; 0 ends it, with a sleep for ever.
#include "csr.h"

int main(void) {
  uint32_t results = 0;
  for (uint32_t at = 0;;) {
    uint32_t what = RING_WORD(at++);
    if (what == 0) CSR_SLEEP = 0;
    uint32_t address = RING_WORD(at++);
    if (what == 1) {
      RL_WORD(address) = RING_WORD(at++);
    } else {
      TX_WORD(0, results++) = RL_WORD(address);
    }
  }
}
