#include "command.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "deviations.h"
#include "transcript.h"

struct command command_begin(struct world *world, struct queue *queue, bool blocking) {
  return (struct command){.world = world, .queue = queue, .blocking = blocking};
}

static void touch(struct command *command, struct memory *memory, bool writes) {
  for (unsigned i = 0; i < command->touch_count; i++) {
    if (command->touch[i].memory == memory) {
      command->touch[i].writes |= writes;
      return;
    }
  }
  assert(command->touch_count < TOUCHES_MAX);
  command->touch[command->touch_count++] = (struct touch){memory, writes};
}

void command_reads(struct command *command, const struct buffer *buffer) { touch(command, buffer->memory, false); }

void command_writes(struct command *command, const struct buffer *buffer) { touch(command, buffer->memory, true); }

/* True if the queue alone sees to it that `event` ends before its next command begins. */
static bool is_before(const struct queue *queue, const struct event *event) {
  return event->queue == queue && (queue->in_order || event->place < queue->barrier);
}

/* An event with a handle that ends no earlier than `event`. */
static struct event *carrier(struct world *world, struct event *event) {
  if (!event->queue) return event;
  bool other = !event->handle || draw_chance(&world->draw, 20);
  if (!other) return event;
  for (unsigned i = 0; i < world->event_count; i++) {
    struct event *later = &world->event[i];
    if (later->covers && later->handle && later->queue == event->queue && later->place > event->place) return later;
  }
  return event->handle ? event : put_marker(world, event->queue);
}

void command_waits(struct command *command, struct event *event) {
  event = carrier(command->world, event);
  /* A marker that could not be enqueued: its line has said so. */
  if (!event || !event->handle) return;
  for (unsigned i = 0; i < command->wait_count; i++) {
    if (command->waits[i] == event) return;
  }
  assert(command->wait_count < WAITS_MAX);
  command->waits[command->wait_count] = event;
  command->waits_handles[command->wait_count] = event->handle;
  command->wait_count++;
}

static void waits_if_needed(struct command *command, struct event *event) {
  if (event && !is_before(command->queue, event)) command_waits(command, event);
}

/* Events that the command need not wait for, by chance. */
static void more_waits(struct command *command) {
  struct world *world = command->world;
  unsigned more = draw_chance(&world->draw, 25) ? draw_from(&world->draw, 1, 4) : 0;
  for (; more > 0 && world->event_count > 0; more--) {
    struct event *event = &world->event[draw_below(&world->draw, world->event_count)];
    if (event->handle) command_waits(command, event);
  }
}

void command_seal(struct command *command) {
  struct world *world = command->world;
  for (unsigned i = 0; i < command->touch_count; i++) {
    struct memory *memory = command->touch[i].memory;
    waits_if_needed(command, memory->writer);
    for (unsigned r = 0; command->touch[i].writes && r < memory->reader_count; r++) {
      waits_if_needed(command, memory->reader[r]);
    }
  }
  more_waits(command);

  command->gates = command->queue->held;
  for (unsigned i = 0; i < command->wait_count; i++) {
    struct event *event = command->waits[i];
    command->gates |= event->gates;
    /* The standard wants the other queue flushed, or the wait may be for ever. */
    if (event->queue && event->queue != command->queue && event->queue->handle) {
      cl_int status = clFlush(event->queue->handle);
      if (status != CL_SUCCESS) note_status(status, CL_SUCCESS, "flush q%u", event->queue->number);
    }
  }
  if (command->blocking && deviates(BLOCKING_WAITS_FOR_ALL)) open_gates(world, command->queue->gates);
  if (command->blocking) open_gates(world, command->gates);
  if (command->blocking) command->gates = 0;

  command->list = command->wait_count > 0 ? command->waits_handles : NULL;
  command->event = command->needs_event || draw_chance(&world->draw, 75) ? &command->handle : NULL;
}

struct event *command_end(struct command *command, cl_command_type type, cl_int status, const char *format, ...) {
  struct world *world = command->world;
  struct queue *queue = command->queue;
  char text[256], waits[1024] = "";
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  size_t length = 0;
  for (unsigned i = 0; i < command->wait_count && length < sizeof waits - 16; i++) {
    length += (size_t)snprintf(waits + length, sizeof waits - length, " e%u", command->waits[i]->number);
  }
  if (status != CL_SUCCESS) command->handle = NULL;

  struct event *event = event_new(world, command->handle, type);
  event->queue = queue;
  event->place = queue->next++;
  event->gates = command->gates;
  event->wait_count = command->wait_count;
  memcpy(event->waits, command->waits, command->wait_count * sizeof *event->waits);
  queue->gates |= command->gates;
  if (queue->in_order) {
    queue->held |= command->gates;
    event->covers = true;
  }
  for (unsigned i = 0; i < command->touch_count; i++) {
    struct memory *memory = command->touch[i].memory;
    if (command->touch[i].writes) {
      memory->writer = event;
      memory->reader_count = 0;
    } else {
      assert(memory->reader_count < READERS_MAX);
      memory->reader[memory->reader_count++] = event;
    }
  }
  note_status(status, CL_SUCCESS, "%u q%u e%u %s%s after%s", world->step, queue->number, event->number, text,
              command->blocking ? " blocking" : "", *waits ? waits : " nothing");
  if (event->handle && command->blocking && event_status(event) != CL_COMPLETE) {
    wrong("e%u blocked and is not complete", event->number);
  }
  if (event->handle && !command->blocking && draw_chance(&world->draw, 20)) event_watch(world, event);
  return event;
}
