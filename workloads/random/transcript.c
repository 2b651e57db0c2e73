#include "transcript.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "status.h"

static _Thread_local FILE *out; /* NULL: stdout. */
static _Thread_local unsigned wrongs;

static void line(const char *begin, const char *format, va_list args, const char *end) {
  FILE *file = out ? out : stdout;
  fputs(begin, file);
  vfprintf(file, format, args);
  fputs(end, file);
  fputc('\n', file);
  /* After a crash or a hang the last line says where. */
  fflush(file);
}

void transcript_to(FILE *file) {
  out = file;
  wrongs = 0;
}

void note(const char *format, ...) {
  va_list args;
  va_start(args, format);
  line("", format, args, "");
  va_end(args);
}

void wrong(const char *format, ...) {
  va_list args;
  va_start(args, format);
  line("WRONG ", format, args, "");
  va_end(args);
  wrongs++;
}

unsigned wrong_count(void) { return wrongs; }

uint64_t digest(const void *data, size_t bytes) {
  const unsigned char *at = data;
  uint64_t hash = 0xcbf29ce484222325u;
  while (bytes > 0) {
    uint64_t word = 0;
    size_t some = bytes < sizeof word ? bytes : sizeof word;
    memcpy(&word, at, some);
    hash = (hash ^ word) * 0x100000001b3u;
    hash ^= hash >> 32;
    at += some;
    bytes -= some;
  }
  return hash;
}

void note_status(cl_int status, cl_int expected, const char *format, ...) {
  char end[160];
  if (status == expected) {
    snprintf(end, sizeof end, " -> %s", status_name(status));
  } else {
    /* Two calls: the name of an unknown status lies in one place. */
    int length = snprintf(end, sizeof end, " -> %s", status_name(status));
    snprintf(end + length, sizeof end - (size_t)length, ", not %s", status_name(expected));
    wrongs++;
  }
  va_list args;
  va_start(args, format);
  line(status == expected ? "" : "WRONG ", format, args, end);
  va_end(args);
}

static void hang(int signal_number) {
  (void)signal_number;
  static const char TEXT[] = "WRONG the last call does not return\n";
  ssize_t written = write(STDOUT_FILENO, TEXT, sizeof TEXT - 1);
  _exit(written < 0 ? 4 : 3);
}

void expect_progress(unsigned seconds) {
  signal(SIGALRM, hang);
  alarm(seconds);
}
