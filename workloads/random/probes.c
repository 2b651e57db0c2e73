#include "probes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch.h"
#include "sandbox.h"
#include "status.h"
#include "transcript.h"

struct probe {
  const char *name;
  cl_int expected;
  const char *deviation; /* Why PoCL answers otherwise; NULL if it does not. */
  cl_int (*call)(const struct probes *s);
};

/* The lists are read twice: for the functions, and for the table of them. */
#define PROBE(name, expected, ...) \
  static cl_int probe_##name(const struct probes *s) { \
    (void)s; \
    return __VA_ARGS__; \
  }
#define DEVIANT(name, expected, deviation, ...) PROBE(name, expected, __VA_ARGS__)
#include "probes_objects.h"
#include "probes_commands.h"
#include "probes_kernels.h"
#undef PROBE
#undef DEVIANT

#define PROBE(name, expected, ...) {#name, CL_##expected, NULL, probe_##name},
#define DEVIANT(name, expected, deviation, ...) {#name, CL_##expected, deviation, probe_##name},
static const struct probe PROBES[] = {
#include "probes_objects.h"
#include "probes_commands.h"
#include "probes_kernels.h"
};
enum { PROBES_COUNT = sizeof PROBES / sizeof *PROBES };

static void make(const struct probes *probes, const struct probe *probe) {
  note_status(probe->call(probes), probe->expected, "  probe %s", probe->name);
}

static bool is_made(const struct probes *probes, const struct probe *probe) {
  return !probe->deviation || probes->all_of_standard;
}

void probes_any(const struct probes *probes, struct draw *draw) {
  const struct probe *probe = &PROBES[draw_below(draw, PROBES_COUNT)];
  if (is_made(probes, probe)) make(probes, probe);
}

void probes_all(const struct probes *probes, const char *name) {
  unsigned made = 0;
  for (unsigned i = 0; i < PROBES_COUNT; i++) {
    if (name ? strcmp(PROBES[i].name, name) != 0 : !is_made(probes, &PROBES[i])) continue;
    make(probes, &PROBES[i]);
    made++;
  }
  if (made == 0) die("there is no probe %s", name);
}

void probes_list(void) {
  for (unsigned i = 0; i < PROBES_COUNT; i++) {
    const struct probe *probe = &PROBES[i];
    printf("%s %s%s%s\n", probe->name, status_name(probe->expected), probe->deviation ? "  PoCL: " : "",
           probe->deviation ? probe->deviation : "");
  }
}
