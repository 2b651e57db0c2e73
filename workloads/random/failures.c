/* Commands that wait for a user event which fails: they do not run, they end with an error, and so does whoever waits
 * for them. All in a queue of its own, for what a failure does to other commands of an in-order queue is not said. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "deviations.h"
#include "soon.h"
#include "status.h"
#include "transcript.h"
#include "world.h"

enum { BYTES = 256, COMMANDS = 4 };

static void CL_CALLBACK failed(cl_event event, cl_int status, void *data) {
  (void)event;
  struct watch *watch = data;
  atomic_store(&watch->status, status);
  atomic_fetch_add(&watch->calls, 1);
}

static struct watch *watch_failure(cl_event event) {
  struct watch *watch = allocate(sizeof *watch);
  *watch = (struct watch){.at = CL_COMPLETE};
  note_status(clSetEventCallback(event, CL_COMPLETE, failed, watch), CL_SUCCESS, "watch the write");
  return watch;
}

/* The callback is to be told an error. If it is not called its memory stays, for it may be yet. */
static void tell_watch(struct watch *watch) {
  if (!soon(&watch->calls, 1)) {
    wrong("the callback of a failure was not called");
    return;
  }
  if (atomic_load(&watch->status) >= 0) wrong("the callback of a failure got %d", atomic_load(&watch->status));
  free(watch);
}

void step_failure(struct world *world) {
  cl_int status = 1;
  uint8_t before[BYTES], after[BYTES], other[BYTES];
  draw_bytes(&world->draw, before, BYTES);
  draw_bytes(&world->draw, other, BYTES);
  cl_command_queue queue = clCreateCommandQueue(world->context, world->device,
                                                CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &status);
  note_status(status, CL_SUCCESS, "%u queue of a failure", world->step);
  cl_mem buffer = clCreateBuffer(world->context, CL_MEM_COPY_HOST_PTR, BYTES, before, &status);
  note_status(status, CL_SUCCESS, "%u buffer of a failure", world->step);
  cl_event gate = clCreateUserEvent(world->context, &status);
  note_status(status, CL_SUCCESS, "%u user event that fails", world->step);

  cl_event event[COMMANDS] = {0};
  status = clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, BYTES, other, 1, &gate, &event[0]);
  note_status(status, CL_SUCCESS, "%u write that fails", world->step);
  uint32_t pattern = 7;
  status = clEnqueueFillBuffer(queue, buffer, &pattern, sizeof pattern, 0, BYTES, 1, &event[0], &event[1]);
  note_status(status, CL_SUCCESS, "%u fill after it", world->step);
  memcpy(after, other, BYTES);
  status = clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, BYTES, after, 1, &event[1], &event[2]);
  note_status(status, CL_SUCCESS, "%u read after that", world->step);
  status = clEnqueueMarkerWithWaitList(queue, 1, &gate, &event[3]);
  note_status(status, CL_SUCCESS, "%u marker that fails", world->step);

  struct watch *watch = deviates(CALLBACKS_OF_FAILURES) ? NULL : watch_failure(event[0]);
  clFlush(queue);
  cl_int code = -(cl_int)draw_from(&world->draw, 1, 5000);
  note_status(clSetUserEventStatus(gate, code), CL_SUCCESS, "%u fail with %d", world->step, code);

  for (unsigned i = 0; i < COMMANDS; i++) {
    note_status(clWaitForEvents(1, &event[i]), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
                "%u wait for command %u", world->step, i);
    cl_int end = 1;
    clGetEventInfo(event[i], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof end, &end, NULL);
    /* Which error is not said. */
    if (end >= 0) wrong("command %u after a failure ended with %d", i, end);
  }
  if (watch) tell_watch(watch);
  /* A blocking read that waits for the failure does not read. */
  if (!deviates(WAITS_FOR_FAILED)) {
    status = clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, BYTES, after, 1, &event[0], NULL);
    note_status(status, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "%u blocking read after it", world->step);
  }
  if (memcmp(after, other, BYTES) != 0) wrong("a command ran though what it waits for failed");
  /* And the queue goes on. */
  status = clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, BYTES, after, 0, NULL, NULL);
  note_status(status, CL_SUCCESS, "%u read of what was before", world->step);
  note("%u holds %016llx", world->step, (unsigned long long)digest(after, BYTES));
  if (memcmp(after, before, BYTES) != 0) wrong("a command ran though what it waits for failed");

  for (unsigned i = 0; i < COMMANDS; i++) clReleaseEvent(event[i]);
  clReleaseEvent(gate);
  clReleaseMemObject(buffer);
  note_status(clReleaseCommandQueue(queue), CL_SUCCESS, "%u release it", world->step);
}
