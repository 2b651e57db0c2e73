/* A command on its way into a queue: what it touches, and so what it waits for.
 *
 *     struct command command = command_begin(world, queue, blocking);
 *     command_reads(&command, buffer);
 *     command_seal(&command);
 *     cl_int status = clEnqueue...(..., command.wait_count, command.list, command.event);
 *     struct event *event = command_end(&command, type, status, "read ...");
 */
#ifndef RANDOM_COMMAND_H
#define RANDOM_COMMAND_H

#include "world.h"

enum { TOUCHES_MAX = 4 };

struct command {
  struct world *world;
  struct queue *queue;
  bool blocking, needs_event;
  struct touch {
    struct memory *memory;
    bool writes;
  } touch[TOUCHES_MAX];
  unsigned touch_count;
  struct event *waits[WAITS_MAX];
  cl_event waits_handles[WAITS_MAX];
  unsigned wait_count;
  const cl_event *list; /* NULL if it waits for nothing. */
  cl_event handle;
  cl_event *event;      /* Where the event goes; NULL if none is asked for. */
  uint32_t gates;
};

/* A command for `queue`. A blocking one first opens all gates that it would wait for. */
struct command command_begin(struct world *world, struct queue *queue, bool blocking);

/* The command reads or writes the buffer's memory. */
void command_reads(struct command *command, const struct buffer *buffer);
void command_writes(struct command *command, const struct buffer *buffer);

/* The command waits for the event, whatever else it does. */
void command_waits(struct command *command, struct event *event);

/* All is said: makes the wait list, with a few events more than needed by chance. */
void command_seal(struct command *command);

/* The command was enqueued, or not: prints the line, and remembers what it touched. */
struct event *command_end(struct command *command, cl_command_type type, cl_int status, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
