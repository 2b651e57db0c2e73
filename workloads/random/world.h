/* The objects of a random program, and a model of what is in the buffers and of what has to happen before what.
 *
 * Every program is free of races: a command that touches a buffer waits for those that touched it before, through the
 * order of its queue, a barrier, a marker or its wait list. So the content of each buffer is known when a command is
 * enqueued, though it may run much later, and every correct implementation gives the same. */
#ifndef RANDOM_WORLD_H
#define RANDOM_WORLD_H

#include <CL/cl.h>
#include <stdbool.h>
#include <stdint.h>

#include "draw.h"

enum {
  QUEUES_MAX = 6,
  BUFFERS_MAX = 14,
  EVENTS_MAX = 160,   /* Between two settlements. */
  SETTLE_AT = 100,    /* So many events, and all commands are waited for: a step makes less than 60. */
  USER_EVENTS_MAX = 8, /* Not yet set, at a time. */
  READERS_MAX = EVENTS_MAX,
  WAITS_MAX = EVENTS_MAX,
  WATCHES_MAX = 3,
  DESTRUCTORS_MAX = 2,
};

struct queue {
  cl_command_queue handle; /* NULL: none here. */
  unsigned number;
  bool in_order, profiling;
  unsigned next;     /* Number of its next command. */
  unsigned barrier;  /* Commands below this end before any later one begins. */
  uint32_t gates;    /* User events that keep any of its commands from running, as bits. */
  uint32_t held;     /* Those that keep its next command from running. */
};

/* A callback that was registered. It outlives the event. */
struct watch {
  cl_int at;             /* The status it is registered for. */
  _Atomic unsigned calls;
  _Atomic cl_int status; /* The status that the last call got. */
};

struct event {
  cl_event handle; /* NULL if the program did not ask for one. */
  unsigned number;
  struct queue *queue; /* NULL for a user event. */
  unsigned place;      /* Among the queue's commands. */
  cl_command_type type;
  bool covers;         /* Everything before it in its queue ends before it does. */
  uint32_t gates;
  struct event *waits[WAITS_MAX];
  unsigned wait_count;
  void *host;          /* Memory to be freed when the command has ended; NULL if none. */
  void *expected;      /* What a read is to bring into `host`; NULL if it is no read. */
  size_t bytes;
  struct watch *watch[WATCHES_MAX];
  unsigned watch_count;
};

struct mapping {
  void *pointer; /* NULL: not mapped. */
  size_t offset, bytes; /* In the buffer that was mapped. */
  cl_map_flags flags;
  struct event *event; /* Of a map that did not block and has not been waited for. */
};

/* The memory of a buffer and its sub-buffers. */
struct memory {
  uint8_t *model;  /* What it holds when all commands enqueued so far have ended. */
  size_t bytes;
  void *host;      /* Of CL_MEM_USE_HOST_PTR; freed at the end of the program. */
  unsigned users;  /* Buffers that have a handle of it. */
  bool mapped;     /* By any of them. */
  struct event *writer;
  struct event *reader[READERS_MAX];
  unsigned reader_count;
};

struct buffer {
  cl_mem handle; /* NULL: none here. */
  unsigned number;
  struct memory *memory;
  struct buffer *parent; /* NULL if it is no sub-buffer. Only to be compared: the program may have released it. */
  size_t origin, bytes;
  cl_mem_flags flags;
  struct mapping mapping;
};

/* Destructor callbacks of a buffer that was released: their numbers in the order of their calls. */
struct grave {
  struct grave *next;
  unsigned number, registered;
  bool told; /* The transcript has said how it ended. */
  _Atomic unsigned calls;
  unsigned order[DESTRUCTORS_MAX];
  struct memory *memory; /* That keeps a root alive while it has sub-buffers. */
};

struct kernels; /* launch.c */

struct world {
  struct draw draw;
  cl_device_id device;
  cl_context context;
  struct queue queue[QUEUES_MAX];
  struct buffer buffer[BUFFERS_MAX];
  struct event event[EVENTS_MAX];
  unsigned event_count;
  struct event *user[USER_EVENTS_MAX]; /* Those not yet set; the place is the bit of `gates`. */
  unsigned queues_made, buffers_made, events_made;
  struct grave *graves;
  struct kernels *kernels;
  unsigned step;
};

/* --- queues.c --- */

/* Makes or releases a queue. There is always one at least. */
void step_queue(struct world *world);
struct queue *pick_queue(struct world *world);
void queue_open(struct world *world, cl_command_queue_properties properties);
void queues_release(struct world *world);

/* --- events.c --- */

/* A new event; the caller fills in what it is. */
struct event *event_new(struct world *world, cl_event handle, cl_command_type type);
/* How far it is: CL_QUEUED to CL_COMPLETE, or an error. */
cl_int event_status(const struct event *event);
/* Registers up to WATCHES_MAX callbacks, by chance. */
void event_watch(struct world *world, struct event *event);
/* Sets these user events complete. */
void open_gates(struct world *world, uint32_t gates);
/* Waits for everything, and tells how each command ended. */
void settle(struct world *world);
void step_user_event(struct world *world);
void step_set_user_event(struct world *world);
void step_wait(struct world *world);
/* A user event that a callback of another event sets. */
void step_chain(struct world *world);
/* The program lets go of an event before its command has ended. */
void step_release_event(struct world *world);
void step_look_at_waiting(struct world *world);
void step_finish(struct world *world);
void step_marker(struct world *world);
void step_barrier(struct world *world);
void step_settle(struct world *world);
/* A marker in the queue that waits for all before it. */
struct event *put_marker(struct world *world, struct queue *queue);

/* --- buffers.c --- */

void step_buffer(struct world *world);
void step_sub_buffer(struct world *world);
void step_release_buffer(struct world *world);
void step_buffer_info(struct world *world);
/* A buffer of `bytes` at least that is not mapped, and has none of the flags; NULL if there is none. */
struct buffer *pick_buffer(struct world *world, size_t bytes, cl_mem_flags without);
uint8_t *model_of(const struct buffer *buffer);
/* Says which destructors were called, of all buffers released and not yet told. */
void bury(struct world *world);
void buffers_release(struct world *world);

/* --- transfers.c, rects.c, maps.c --- */

void step_write(struct world *world);
void step_read(struct world *world);
void step_copy(struct world *world);
void step_fill(struct world *world);
void step_migrate(struct world *world);
void step_write_rect(struct world *world);
void step_read_rect(struct world *world);
void step_copy_rect(struct world *world);
void step_map(struct world *world);
void step_unmap(struct world *world);
/* Unmaps all that is mapped. */
void unmap_all(struct world *world);

/* --- launch.c --- */

void step_launch(struct world *world);
void step_program(struct world *world);
void kernels_release(struct world *world);

/* --- facts.c --- */

void step_facts(struct world *world);

/* --- failures.c --- */

/* Commands that wait for a user event which fails. */
void step_failure(struct world *world);

#endif
