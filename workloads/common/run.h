/* The iterations of a workload: counted, or one for each line on stdin; and what is said of each.
 *
 *     struct run run = run_begin("sobel", &args);
 *     while (run_next(&run)) {
 *       clEnqueueWriteBuffer(...);
 *       run_lap(&run, "write");
 *       clEnqueueReadBuffer(...);
 *       run_lap(&run, "read");
 *       run_done(&run, !run_checks(&run) || matches(...));
 *     }
 *     return run_end(&run);
 *
 * An iteration's time is that of its laps: from run_start, or run_next if that is not called, to its last lap. */
#ifndef WORKLOADS_RUN_H
#define WORKLOADS_RUN_H

#include <stdbool.h>

#include "args.h"

enum { LAPS_MAX = 8 };

struct run {
  const char *workload;
  const char *shape; /* Further members of each line of JSON, as in "\"width\":10"; may be empty. */
  const struct args *args;
  unsigned iteration; /* From 0; the present one between run_next and run_done. */
  unsigned wrong;     /* Iterations whose result was not that of plain C. */
  double started_us, lap_us;
  unsigned laps;
  struct lap {
    const char *name;
    double us;
  } lap[LAPS_MAX];
  double *total_us; /* Of all iterations, for the median; not in --serve, which has no end. */
};

/* Says, in --serve, that the workload is ready. */
struct run run_begin(const char *workload, const char *shape, const struct args *args);

/* Waits for the next iteration; false after the last. */
bool run_next(struct run *run);

/* The iteration's time begins now: what came before was not for the device. */
void run_start(struct run *run);

/* Ends a part of the iteration: the time since the last one is its own. */
void run_lap(struct run *run, const char *name);

/* True if this iteration's result is to be compared with plain C. */
bool run_checks(const struct run *run);

/* Ends the iteration and prints it. `correct` is false if a check found another result. */
void run_done(struct run *run, bool correct);

/* Prints the median, and gives the exit code: 0, or 1 if a result was wrong. */
int run_end(struct run *run);

#endif
