// Bytes, halves, strings, a switch and calls through pointers.
#include <stdarg.h>

#include "program.h"

static char text[64];
static uint16_t length;

static void add(char c) {
  text[length++] = c;
}

static void decimal(uint32_t n) {
  char digits[10];
  int8_t i = 0;
  do {
    digits[i++] = '0' + n % 10;
  } while (n /= 10);
  while (i) add(digits[--i]);
}

static void with_sign(uint32_t n) {
  if ((int32_t)n < 0) {
    add('-');
    n = -n;
  }
  decimal(n);
}

static void hex(uint32_t n) {
  for (int shift = 28; shift >= 0; shift -= 4) add("0123456789abcdef"[n >> shift & 15]);
}

static void (*const forms[])(uint32_t) = {decimal, with_sign, hex};

static void print(const char *format, ...) {
  va_list values;
  va_start(values, format);
  for (; *format; format++) {
    if (*format != '%') {
      add(*format);
      continue;
    }
    int form = 0;
    switch (*++format) {
      case 'd': form = 1; break;
      case 'x': form = 2; break;
      default: break;
    }
    forms[form](va_arg(values, uint32_t));
  }
  va_end(values);
}

int main(void) {
  print("rackloom %u %d 0x%x", 0xFFFFFFFFu, 0x80000000u, 0x00C0FFEEu);
  for (int i = 0; i < length; i++) put((uint8_t)text[i]);
  put(0);
  return 0;
}
