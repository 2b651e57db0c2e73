#include "run.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "status.h"

static double now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void sleep_ms(unsigned ms) {
  struct timespec rest = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
  while (nanosleep(&rest, &rest)) {
  }
}

/* Skips to the end of a line of stdin, however long; false at the end of all. */
static bool take_line(void) {
  int c = getchar();
  if (c == EOF) return false;
  while (c != '\n' && c != EOF) c = getchar();
  return true;
}

struct run run_begin(const char *workload, const char *shape, const struct args *args) {
  struct run run = {.workload = workload, .shape = shape, .args = args};
  if (args->serve) {
    printf("{\"workload\":\"%s\",\"ready\":true}\n", workload);
    fflush(stdout);
  } else {
    run.total_us = allocate(args->iterations * sizeof *run.total_us);
  }
  return run;
}

bool run_next(struct run *run) {
  if (run->args->serve) {
    if (!take_line()) return false;
  } else {
    if (run->iteration == run->args->iterations) return false;
    if (run->iteration > 0 && run->args->gap_ms > 0) sleep_ms(run->args->gap_ms);
  }
  run->laps = 0;
  run_start(run);
  return true;
}

void run_start(struct run *run) { run->started_us = run->lap_us = now_us(); }

void run_lap(struct run *run, const char *name) {
  assert(run->laps < LAPS_MAX);
  double now = now_us();
  run->lap[run->laps++] = (struct lap){name, now - run->lap_us};
  run->lap_us = now;
}

bool run_checks(const struct run *run) {
  return run->args->checks == CHECK_ALL || (run->args->checks == CHECK_FIRST && run->iteration == 0);
}

void run_done(struct run *run, bool correct) {
  double total_us = run->lap_us - run->started_us;
  const char *verdict = !run_checks(run) ? "unchecked" : correct ? "correct" : "WRONG";
  if (!correct) run->wrong++;
  if (run->args->json) {
    printf("{\"workload\":\"%s\",\"iteration\":%u", run->workload, run->iteration);
    if (*run->shape) printf(",%s", run->shape);
    for (unsigned i = 0; i < run->laps; i++) printf(",\"%s_us\":%.1f", run->lap[i].name, run->lap[i].us);
    printf(",\"total_us\":%.1f,\"correct\":%s}\n", total_us,
           !run_checks(run) ? "null" : correct ? "true" : "false");
  } else {
    printf("%4u  %10.1f us ", run->iteration, total_us);
    for (unsigned i = 0; i < run->laps; i++) printf(" %s %.1f", run->lap[i].name, run->lap[i].us);
    printf("  %s\n", verdict);
  }
  fflush(stdout);
  if (run->total_us) run->total_us[run->iteration] = total_us;
  run->iteration++;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int run_end(struct run *run) {
  if (run->total_us && !run->args->json) {
    qsort(run->total_us, run->iteration, sizeof *run->total_us, ascending);
    printf("median %.1f us of %u, %u wrong\n", run->total_us[run->iteration / 2], run->iteration, run->wrong);
  }
  free(run->total_us);
  return run->wrong > 0;
}
