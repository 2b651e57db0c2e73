#include "args.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OWN_MAX = 8 };
enum letter { DEVICE = 1, ITERATIONS, GAP_MS, SEED, CHECKS, JSON, SERVE, HELP, OWN };

static const struct option SHARED[] = {
    {"device", required_argument, NULL, DEVICE},     {"iterations", required_argument, NULL, ITERATIONS},
    {"gap-ms", required_argument, NULL, GAP_MS},     {"seed", required_argument, NULL, SEED},
    {"check", required_argument, NULL, CHECKS},      {"json", no_argument, NULL, JSON},
    {"serve", no_argument, NULL, SERVE},             {"help", no_argument, NULL, HELP},
};
enum { SHARED_COUNT = sizeof SHARED / sizeof *SHARED };

bool args_number(const char *text, uint64_t first, uint64_t last, uint64_t *number) {
  char *end = NULL;
  if (*text < '0' || *text > '9') return false;
  errno = 0;
  unsigned long long value = strtoull(text, &end, 10);
  if (errno || *end || value < first || value > last) return false;
  *number = value;
  return true;
}

static void help(const char *program, const char *about, const struct own_option *own) {
  printf("%s\n\nUsage: %s [OPTIONS]\n\n", about, program);
  for (; own->name; own++) printf("  --%s %s\n", own->name, own->help);
  puts("  --iterations N     how often to compute [default: 1]\n"
       "  --gap-ms M         rest after each iteration, in milliseconds [default: 0]\n"
       "  --device I         number of the OpenCL device, from 0 [default: 0]\n"
       "  --seed N           of the input [default: 1]\n"
       "  --check WHICH      all, first or none: iterations whose result is compared with plain C [default: all]\n"
       "  --json             a line of JSON for each iteration\n"
       "  --serve            an iteration for each line on stdin, answered by a line of JSON, until its end\n"
       "  --help             this");
}

static _Noreturn void refuse(const char *program, const char *option, const char *text) {
  fprintf(stderr, "error: --%s does not take '%s'\nhelp: %s --help lists what it takes\n", option, text, program);
  exit(2);
}

static bool read_checks(const char *text, enum checks *checks) {
  static const char *const NAMES[] = {[CHECK_ALL] = "all", [CHECK_FIRST] = "first", [CHECK_NONE] = "none"};
  for (unsigned i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
    if (strcmp(text, NAMES[i]) == 0) {
      *checks = (enum checks)i;
      return true;
    }
  }
  return false;
}

struct args args_read(int argc, char **argv, const char *about, const struct own_option *own) {
  struct args args = {.iterations = 1, .seed = 1};
  struct option options[SHARED_COUNT + OWN_MAX + 1] = {0};
  memcpy(options, SHARED, sizeof SHARED);
  for (int i = 0; own[i].name && i < OWN_MAX; i++) {
    options[SHARED_COUNT + i] = (struct option){own[i].name, required_argument, NULL, OWN + i};
  }

  int letter, at;
  while ((letter = getopt_long(argc, argv, "", options, &at)) != -1) {
    uint64_t number = 0;
    bool good = true;
    switch (letter) {
      case DEVICE:
        good = args_number(optarg, 0, UINT_MAX, &number);
        args.device = (unsigned)number;
        break;
      case ITERATIONS:
        good = args_number(optarg, 1, UINT_MAX, &number);
        args.iterations = (unsigned)number;
        break;
      case GAP_MS:
        good = args_number(optarg, 0, UINT_MAX, &number);
        args.gap_ms = (unsigned)number;
        break;
      case SEED: good = args_number(optarg, 0, UINT64_MAX, &args.seed); break;
      case CHECKS: good = read_checks(optarg, &args.checks); break;
      case JSON: args.json = true; break;
      case SERVE: args.serve = args.json = true; break;
      case HELP: help(argv[0], about, own); exit(0);
      case '?': exit(2); /* getopt has said why. */
      default: good = own[letter - OWN].read(optarg, own[letter - OWN].to);
    }
    if (!good) refuse(argv[0], options[at].name, optarg);
  }
  if (optind < argc) {
    fprintf(stderr, "error: '%s' is no option\nhelp: %s --help lists them\n", argv[optind], argv[0]);
    exit(2);
  }
  return args;
}
