/* Queues: in-order and out-of-order, with times and without. */
#include <stddef.h>

#include "transcript.h"
#include "world.h"

static unsigned queue_count(const struct world *world) {
  unsigned count = 0;
  for (unsigned i = 0; i < QUEUES_MAX; i++) count += world->queue[i].handle != NULL;
  return count;
}

void queue_open(struct world *world, cl_command_queue_properties properties) {
  for (unsigned i = 0; i < QUEUES_MAX; i++) {
    struct queue *queue = &world->queue[i];
    /* A released queue keeps its place until its commands are settled, for they name it. */
    if (queue->handle || queue->next > 0) continue;
    cl_int status = 1;
    *queue = (struct queue){.number = world->queues_made++,
                            .in_order = !(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE),
                            .profiling = properties & CL_QUEUE_PROFILING_ENABLE};
    if (draw_chance(&world->draw, 50)) {
      queue->handle = clCreateCommandQueue(world->context, world->device, properties, &status);
    } else {
      const cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, properties, 0};
      queue->handle = clCreateCommandQueueWithProperties(world->context, world->device, list, &status);
    }
    note_status(status, CL_SUCCESS, "%u create q%u %s%s", world->step, queue->number,
                queue->in_order ? "in-order" : "out-of-order", queue->profiling ? " with times" : "");
    cl_command_queue_properties told = 0;
    cl_context context = NULL;
    cl_device_id device = NULL;
    clGetCommandQueueInfo(queue->handle, CL_QUEUE_PROPERTIES, sizeof told, &told, NULL);
    clGetCommandQueueInfo(queue->handle, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    clGetCommandQueueInfo(queue->handle, CL_QUEUE_DEVICE, sizeof device, &device, NULL);
    if (told != properties || context != world->context || device != world->device) {
      wrong("q%u does not know what it was made of", queue->number);
    }
    return;
  }
}

/* The program lets go of the queue; its commands run on. */
static void release(struct world *world, struct queue *queue) {
  /* Commands without an event could not be waited for any more. */
  put_marker(world, queue);
  note_status(clReleaseCommandQueue(queue->handle), CL_SUCCESS, "%u release q%u", world->step, queue->number);
  queue->handle = NULL;
}

void step_queue(struct world *world) {
  unsigned count = queue_count(world);
  if (count > 1 && draw_chance(&world->draw, 40)) {
    release(world, pick_queue(world));
  } else {
    cl_command_queue_properties properties = 0;
    if (draw_chance(&world->draw, 50)) properties |= CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    if (draw_chance(&world->draw, 60)) properties |= CL_QUEUE_PROFILING_ENABLE;
    queue_open(world, properties);
  }
}

struct queue *pick_queue(struct world *world) {
  unsigned nth = draw_below(&world->draw, queue_count(world));
  struct queue *queue = world->queue;
  while (!queue->handle || nth-- > 0) queue++;
  return queue;
}

void queues_release(struct world *world) {
  for (unsigned i = 0; i < QUEUES_MAX; i++) {
    struct queue *queue = &world->queue[i];
    if (!queue->handle) continue;
    note_status(clReleaseCommandQueue(queue->handle), CL_SUCCESS, "release q%u", queue->number);
    queue->handle = NULL;
  }
}
