/* Events: callbacks, user events, and settling, where everything is waited for and told. */
#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "deviations.h"
#include "soon.h"
#include "status.h"
#include "transcript.h"
#include "world.h"

struct event *event_new(struct world *world, cl_event handle, cl_command_type type) {
  assert(world->event_count < EVENTS_MAX);
  struct event *event = &world->event[world->event_count++];
  *event = (struct event){.handle = handle, .number = world->events_made++, .type = type};
  return event;
}

static void CL_CALLBACK called(cl_event handle, cl_int status, void *data) {
  (void)handle;
  struct watch *watch = data;
  atomic_store(&watch->status, status);
  atomic_fetch_add(&watch->calls, 1);
}

void event_watch(struct world *world, struct event *event) {
  static const cl_int STATUSES[] = {CL_COMPLETE, CL_COMPLETE, CL_RUNNING, CL_SUBMITTED};
  unsigned count = draw_from(&world->draw, 1, WATCHES_MAX);
  for (unsigned i = 0; i < count; i++) {
    cl_int at = STATUSES[draw_below(&world->draw, 4)];
    if (at == CL_RUNNING && !event->queue && deviates(RUNNING_USER_EVENTS)) at = CL_COMPLETE;
    if (event->watch_count == WATCHES_MAX) return;
    struct watch *watch = allocate(sizeof *watch);
    *watch = (struct watch){.at = at};
    cl_int status = clSetEventCallback(event->handle, at, called, watch);
    note_status(status, CL_SUCCESS, "%u watch e%u for %d", world->step, event->number, at);
    if (status == CL_SUCCESS) {
      event->watch[event->watch_count++] = watch;
    } else {
      free(watch);
    }
  }
}

void open_gates(struct world *world, uint32_t gates) {
  for (unsigned bit = 0; bit < USER_EVENTS_MAX; bit++) {
    struct event *user = world->user[bit];
    if (!user || !(gates >> bit & 1)) continue;
    cl_int status = clSetUserEventStatus(user->handle, CL_COMPLETE);
    note_status(status, CL_SUCCESS, "%u set e%u complete", world->step, user->number);
    world->user[bit] = NULL;
    for (unsigned i = 0; i < world->event_count; i++) world->event[i].gates &= ~(1u << bit);
    for (unsigned i = 0; i < QUEUES_MAX; i++) {
      world->queue[i].gates &= ~(1u << bit);
      world->queue[i].held &= ~(1u << bit);
    }
  }
}

void step_user_event(struct world *world) {
  for (unsigned bit = 0; bit < USER_EVENTS_MAX; bit++) {
    if (world->user[bit]) continue;
    cl_int status = 1;
    cl_event handle = clCreateUserEvent(world->context, &status);
    struct event *event = event_new(world, handle, CL_COMMAND_USER);
    note_status(status, CL_SUCCESS, "%u create user event e%u", world->step, event->number);
    if (!handle) return;
    event->gates = 1u << bit;
    world->user[bit] = event;
    if (draw_chance(&world->draw, 30)) event_watch(world, event);
    return;
  }
}

static void CL_CALLBACK set_next(cl_event handle, cl_int status, void *next) {
  (void)handle;
  clSetUserEventStatus(next, status);
  clReleaseEvent(next);
}

void step_chain(struct world *world) {
  if (world->event_count == 0) return;
  struct event *before = &world->event[draw_below(&world->draw, world->event_count)];
  if (!before->handle) return;
  cl_int status = 1;
  cl_event handle = clCreateUserEvent(world->context, &status);
  struct event *event = event_new(world, handle, CL_COMMAND_USER);
  note_status(status, CL_SUCCESS, "%u create user event e%u", world->step, event->number);
  if (!handle) return;
  /* It opens when the other ends, so it waits for the same gates. The callback has its own reference. */
  event->gates = before->gates;
  clRetainEvent(handle);
  status = clSetEventCallback(before->handle, CL_COMPLETE, set_next, handle);
  note_status(status, CL_SUCCESS, "%u chain it to e%u", world->step, before->number);
}

void step_release_event(struct world *world) {
  if (world->event_count == 0) return;
  struct event *event = &world->event[draw_below(&world->draw, world->event_count)];
  /* Those of released queues are waited for when all is settled, and those of maps before the memory is used. */
  bool needed = !event->queue || !event->queue->handle || event->type == CL_COMMAND_MAP_BUFFER;
  if (!event->handle || needed || event->watch_count > 0) return;
  note_status(clReleaseEvent(event->handle), CL_SUCCESS, "%u release e%u", world->step, event->number);
  event->handle = NULL;
}

void step_set_user_event(struct world *world) { open_gates(world, 1u << draw_below(&world->draw, USER_EVENTS_MAX)); }

struct event *put_marker(struct world *world, struct queue *queue) {
  cl_event handle = NULL;
  cl_int status = clEnqueueMarkerWithWaitList(queue->handle, 0, NULL, &handle);
  struct event *event = event_new(world, status == CL_SUCCESS ? handle : NULL, CL_COMMAND_MARKER);
  event->queue = queue;
  event->place = queue->next++;
  event->covers = true;
  event->gates = queue->gates;
  if (queue->in_order) queue->held |= event->gates;
  note_status(status, CL_SUCCESS, "%u q%u e%u marker of all", world->step, queue->number, event->number);
  return event;
}

void step_marker(struct world *world) {
  struct queue *queue = pick_queue(world);
  if (draw_chance(&world->draw, 40)) {
    put_marker(world, queue);
    return;
  }
  if (draw_chance(&world->draw, 20)) {
    /* As in OpenCL 1.1. */
    cl_event handle = NULL;
    cl_int status = clEnqueueMarker(queue->handle, &handle);
    struct event *event = event_new(world, status == CL_SUCCESS ? handle : NULL, CL_COMMAND_MARKER);
    event->queue = queue;
    event->place = queue->next++;
    event->covers = true;
    event->gates = queue->gates;
    if (queue->in_order) queue->held |= event->gates;
    note_status(status, CL_SUCCESS, "%u q%u e%u old marker", world->step, queue->number, event->number);
    return;
  }
  struct command command = command_begin(world, queue, false);
  for (unsigned i = draw_from(&world->draw, 1, 3); i > 0 && world->event_count > 0; i--) {
    struct event *event = &world->event[draw_below(&world->draw, world->event_count)];
    if (event->handle) command_waits(&command, event);
  }
  if (command.wait_count == 0) return;
  command_seal(&command);
  cl_int status = clEnqueueMarkerWithWaitList(queue->handle, command.wait_count, command.list, command.event);
  command_end(&command, CL_COMMAND_MARKER, status, "marker");
}

void step_barrier(struct world *world) {
  struct queue *queue = pick_queue(world);
  struct command command = command_begin(world, queue, false);
  bool old = draw_chance(&world->draw, 20), lists = !old && draw_chance(&world->draw, 40);
  for (unsigned i = 0; i < 2 && lists && world->event_count > 0; i++) {
    struct event *event = &world->event[draw_below(&world->draw, world->event_count)];
    if (event->handle) command_waits(&command, event);
  }
  command.needs_event = draw_chance(&world->draw, 50);
  if (command.wait_count > 0) command_seal(&command);
  bool all = command.wait_count == 0;
  if (all) command.gates = queue->gates;
  if (all) command.event = command.needs_event && !old ? &command.handle : NULL;
  cl_int status = old ? clEnqueueBarrier(queue->handle)
                      : clEnqueueBarrierWithWaitList(queue->handle, command.wait_count, command.list, command.event);
  struct event *event = command_end(&command, CL_COMMAND_BARRIER, status, old ? "old barrier" : "barrier");
  event->covers |= all;
  queue->held |= event->gates;
  /* With a list it waits for that alone; without one for all before it, and those after it wait for it in both
   * cases. */
  if (all) queue->barrier = event->place + 1;
}

void step_finish(struct world *world) {
  struct queue *queue = pick_queue(world);
  if (draw_chance(&world->draw, 50)) {
    note_status(clFlush(queue->handle), CL_SUCCESS, "%u flush q%u", world->step, queue->number);
    return;
  }
  open_gates(world, queue->gates);
  note_status(clFinish(queue->handle), CL_SUCCESS, "%u finish q%u", world->step, queue->number);
}

cl_int event_status(const struct event *event) {
  cl_int status = 1234;
  cl_int got = clGetEventInfo(event->handle, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
  if (got != CL_SUCCESS) wrong("clGetEventInfo of e%u: %s", event->number, status_name(got));
  return status;
}

void step_wait(struct world *world) {
  cl_event list[4];
  struct event *events[4];
  unsigned count = 0;
  for (unsigned i = draw_from(&world->draw, 1, 4); i > 0 && world->event_count > 0; i--) {
    struct event *event = &world->event[draw_below(&world->draw, world->event_count)];
    if (!event->handle) continue;
    open_gates(world, event->gates);
    events[count] = event;
    list[count++] = event->handle;
  }
  if (count == 0) return;
  note_status(clWaitForEvents(count, list), CL_SUCCESS, "%u wait for %u events", world->step, count);
  for (unsigned i = 0; i < count; i++) {
    if (event_status(events[i]) != CL_COMPLETE) wrong("e%u was waited for and is not complete", events[i]->number);
  }
}

/* A command that waits for a user event does not run, and has no times. */
void step_look_at_waiting(struct world *world) {
  for (unsigned i = 0; i < world->event_count; i++) {
    struct event *event = &world->event[i];
    if (!event->handle || event->gates == 0) continue;
    cl_int status = event_status(event);
    /* Which of the two is up to the implementation. */
    bool waits = status == CL_QUEUED || status == CL_SUBMITTED;
    note("%u e%u %s", world->step, event->number, waits ? "waits" : "does not wait");
    if (!waits) wrong("e%u has status %d before what it waits for", event->number, status);
    if (event->queue && event->queue->profiling) {
      cl_ulong time;
      cl_int got = clGetEventProfilingInfo(event->handle, CL_PROFILING_COMMAND_END, sizeof time, &time, NULL);
      note_status(got, CL_PROFILING_INFO_NOT_AVAILABLE, "%u times of e%u", world->step, event->number);
    }
  }
}

void step_settle(struct world *world) { settle(world); }

static bool time_of(const struct event *event, cl_profiling_info what, cl_ulong *time) {
  return clGetEventProfilingInfo(event->handle, what, sizeof *time, time, NULL) == CL_SUCCESS;
}

/* The times of a command are in order, and it began after what it waited for ended. */
static void tell_times(const struct event *event) {
  if (!event->queue->profiling) {
    cl_ulong time;
    cl_int got = clGetEventProfilingInfo(event->handle, CL_PROFILING_COMMAND_START, sizeof time, &time, NULL);
    if (got != CL_PROFILING_INFO_NOT_AVAILABLE) {
      wrong("e%u of a queue without times: %s", event->number, status_name(got));
    }
    return;
  }
  cl_ulong queued, submitted, started, ended;
  if (!time_of(event, CL_PROFILING_COMMAND_QUEUED, &queued) ||
      !time_of(event, CL_PROFILING_COMMAND_SUBMIT, &submitted) ||
      !time_of(event, CL_PROFILING_COMMAND_START, &started) || !time_of(event, CL_PROFILING_COMMAND_END, &ended)) {
    wrong("e%u has no times", event->number);
    return;
  }
  if (queued > submitted || submitted > started || started > ended) {
    wrong("the times of e%u are out of order", event->number);
  }
  for (unsigned i = 0; i < event->wait_count; i++) {
    const struct event *before = event->waits[i];
    cl_ulong end;
    if (!before->handle || !before->queue || !before->queue->profiling) continue;
    if (time_of(before, CL_PROFILING_COMMAND_END, &end) && end > started) {
      wrong("e%u began before e%u ended", event->number, before->number);
    }
  }
}

/* Waits for the event's callbacks: each comes once, told the status that it is for, or a later one. */
static void tell_watches(struct event *event) {
  for (unsigned i = 0; i < event->watch_count; i++) {
    struct watch *watch = event->watch[i];
    soon(&watch->calls, 1);
    unsigned calls = atomic_load(&watch->calls);
    cl_int status = atomic_load(&watch->status);
    if (calls != 1) wrong("e%u called its callback for %d %u times", event->number, watch->at, calls);
    if (calls > 0 && (status > watch->at || status < CL_COMPLETE)) {
      wrong("e%u told its callback for %d status %d", event->number, watch->at, status);
    }
    /* One that was never called may be called yet: its memory stays. */
    if (calls > 0) free(watch);
  }
}

static void tell(struct event *event) {
  uint64_t data = 0;
  if (event->expected) {
    data = digest(event->host, event->bytes);
    if (memcmp(event->host, event->expected, event->bytes) != 0) {
      size_t at = 0;
      while (((uint8_t *)event->host)[at] == ((uint8_t *)event->expected)[at]) at++;
      wrong("e%u read something else than the model from byte %zu on", event->number, at);
    }
  }
  if (event->handle) {
    cl_int status = event_status(event);
    cl_command_type type = 0;
    cl_command_queue queue = NULL;
    cl_context context = NULL;
    clGetEventInfo(event->handle, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL);
    clGetEventInfo(event->handle, CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue, NULL);
    clGetEventInfo(event->handle, CL_EVENT_CONTEXT, sizeof context, &context, NULL);
    if (status != CL_COMPLETE) wrong("e%u ended with %d", event->number, status);
    bool range = event->type == CL_COMMAND_TASK && type == CL_COMMAND_NDRANGE_KERNEL && deviates(TASKS_ARE_RANGES);
    if (type != event->type && !range) wrong("e%u is of type %#x", event->number, type);
    bool released = event->queue && !event->queue->handle;
    cl_command_queue own = event->queue ? event->queue->handle : NULL;
    if (!released && queue != own) wrong("e%u has another queue", event->number);
    if (!context) wrong("e%u has no context", event->number);
    if (event->queue) tell_times(event);
    tell_watches(event);
  }
  note("  e%u done%s %016llx", event->number, event->handle ? "" : ", no event", (unsigned long long)data);
}

void settle(struct world *world) {
  open_gates(world, UINT32_MAX);
  for (unsigned i = 0; i < QUEUES_MAX; i++) {
    struct queue *queue = &world->queue[i];
    if (!queue->handle) continue;
    note_status(clFinish(queue->handle), CL_SUCCESS, "%u settle q%u", world->step, queue->number);
  }
  /* The commands of released queues, which a marker was put behind, and user events that callbacks set. */
  for (unsigned i = 0; i < world->event_count; i++) {
    struct event *event = &world->event[i];
    if ((event->queue && event->queue->handle) || !event->handle) continue;
    cl_int status = clWaitForEvents(1, &event->handle);
    if (status != CL_SUCCESS) wrong("waiting for e%u: %s", event->number, status_name(status));
  }
  for (unsigned i = 0; i < world->event_count; i++) tell(&world->event[i]);
  for (unsigned i = 0; i < world->event_count; i++) {
    struct event *event = &world->event[i];
    if (event->handle) note_status(clReleaseEvent(event->handle), CL_SUCCESS, "  release e%u", event->number);
    free(event->host);
    free(event->expected);
  }
  world->event_count = 0;
  for (unsigned i = 0; i < QUEUES_MAX; i++) {
    struct queue *queue = &world->queue[i];
    queue->next = queue->barrier = 0;
  }
  for (unsigned i = 0; i < BUFFERS_MAX; i++) {
    struct buffer *buffer = &world->buffer[i];
    if (!buffer->handle) continue;
    buffer->mapping.event = NULL;
    buffer->memory->writer = NULL;
    buffer->memory->reader_count = 0;
  }
  bury(world);
}
