/* What PoCL 3.1 does otherwise than the standard says. A random program keeps away from it, so that PoCL can be what
 * others are compared with; with --standard it does not, and only a better implementation than that comes through.
 * Single calls with wrong arguments have this at the call: see DEVIANT in the lists of probes. */
#ifndef RANDOM_DEVIATIONS_H
#define RANDOM_DEVIATIONS_H

#include <stdbool.h>

enum deviation {
  CALLBACKS_OF_FAILURES,
  WAITS_FOR_FAILED,
  RUNNING_USER_EVENTS,
  BLOCKING_WAITS_FOR_ALL,
  COPY_RECT_OF_SUB_BUFFERS,
  CLONES_WITHOUT_BUFFER,
  TASKS_ARE_RANGES,
  DEVIATIONS,
};

/* True if the program has to keep away from it. */
bool deviates(enum deviation deviation);

/* From now on there are no deviations. */
void deviations_none(void);

/* Prints them. */
void deviations_list(void);

#endif
