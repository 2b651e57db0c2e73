// Quicksort down to short runs, with the bounds on a stack of its own, and insertion.
#include "program.h"

static uint32_t a[64];

static void insert(int low, int high) {
  for (int i = low + 1; i <= high; i++) {
    uint32_t x = a[i];
    int j = i - 1;
    for (; j >= low && a[j] > x; j--) a[j + 1] = a[j];
    a[j + 1] = x;
  }
}

int main(void) {
  uint32_t state = 1;
  for (int i = 0; i < 64; i++) a[i] = next_word(&state);
  int8_t bounds[64];
  int top = 0;
  bounds[top++] = 0;
  bounds[top++] = 63;
  while (top) {
    int high = bounds[--top], low = bounds[--top];
    if (high - low < 6) {
      insert(low, high);
      continue;
    }
    uint32_t pivot = a[(low + high) >> 1];
    int i = low, j = high;
    while (i <= j) {
      while (a[i] < pivot) i++;
      while (a[j] > pivot) j--;
      if (i <= j) {
        uint32_t x = a[i];
        a[i++] = a[j];
        a[j--] = x;
      }
    }
    bounds[top++] = low;
    bounds[top++] = j;
    bounds[top++] = i;
    bounds[top++] = high;
  }
  for (int i = 0; i < 64; i++) put(a[i]);
  put(0);
  return 0;
}
