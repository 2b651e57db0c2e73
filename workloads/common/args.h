/* The command line that the workloads share. */
#ifndef WORKLOADS_ARGS_H
#define WORKLOADS_ARGS_H

#include <stdbool.h>
#include <stdint.h>

/* Which iterations are compared with a computation in plain C. */
enum checks { CHECK_ALL, CHECK_FIRST, CHECK_NONE };

struct args {
  unsigned device;     /* Number of the OpenCL device, from 0. */
  unsigned iterations; /* How often to compute. */
  unsigned gap_ms;     /* Rest after each iteration. */
  uint64_t seed;       /* Of the input. */
  bool json;           /* A line of JSON for each iteration instead of text. */
  bool serve;          /* An iteration for each line on stdin, until its end; `iterations` and `gap_ms` do not count. */
  enum checks checks;
};

/* An option of one workload. */
struct own_option {
  const char *name; /* Without the dashes. */
  const char *help; /* The line of --help: the argument's form, then what it means. */
  /* Reads the argument's text into `to`; false if it is no good. */
  bool (*read)(const char *text, void *to);
  void *to;
};

/* Reads the command line. Prints help and ends for --help; ends with exit code 2 and a message for what it does not
 * know. `own` ends with an entry without a name. */
struct args args_read(int argc, char **argv, const char *about, const struct own_option *own);

/* A decimal number from `first` to `last`; false for anything else. */
bool args_number(const char *text, uint64_t first, uint64_t last, uint64_t *number);

#endif
