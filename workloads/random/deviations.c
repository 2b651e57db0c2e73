#include "deviations.h"

#include <stdio.h>

static bool none;

static const char *const WHAT[DEVIATIONS] = {
    [CALLBACKS_OF_FAILURES] = "a callback of a command that fails is never called",
    [WAITS_FOR_FAILED] = "a command that is to wait for an event which has failed already never ends",
    [RUNNING_USER_EVENTS] = "a user event that is set complete does not call its callbacks for running",
    [BLOCKING_WAITS_FOR_ALL] = "a blocking call waits for all commands of an out-of-order queue, not for its own alone",
    [COPY_RECT_OF_SUB_BUFFERS] = "clEnqueueCopyBufferRect crashes if one of the buffers is a sub-buffer",
    [CLONES_WITHOUT_BUFFER] = "clCloneKernel crashes or mistakes arguments if one of them is no buffer, but NULL",
    [TASKS_ARE_RANGES] = "the event of clEnqueueTask is of the type of clEnqueueNDRangeKernel",
};

bool deviates(enum deviation deviation) {
  (void)deviation; /* All or none, until another implementation is the reference. */
  return !none;
}

void deviations_none(void) { none = true; }

void deviations_list(void) {
  for (unsigned i = 0; i < DEVIATIONS; i++) printf("PoCL: %s\n", WHAT[i]);
}
