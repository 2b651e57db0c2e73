// Division and multiplication, with signs and without.
#include "program.h"

int main(void) {
  uint32_t state = 1;
  for (int i = 0; i < 12; i++) {
    uint32_t a = next_word(&state), b = next_word(&state);
    b >>= a & 31;
    if (!b) b = 1;
    put(a / b);
    put(a % b);
    put((int32_t)a / (int32_t)b);
    put((int32_t)a % (int32_t)b);
    put(a * b);
  }
  put(0);
  return 0;
}
