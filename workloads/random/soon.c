#include "soon.h"

#include <stdatomic.h>
#include <time.h>

enum { MS_MAX = 2000, MS_MAX_AFTER_LOSS = 20 };

bool soon(_Atomic unsigned *count, unsigned least) {
  static _Thread_local unsigned patience_ms = MS_MAX;
  for (unsigned ms = 0; atomic_load(count) < least; ms++) {
    if (ms == patience_ms) {
      patience_ms = MS_MAX_AFTER_LOSS;
      return false;
    }
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
  return true;
}
