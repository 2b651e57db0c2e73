/* Boxes of up to three dimensions, read, written and copied. */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "deviations.h"
#include "status.h"
#include "transcript.h"
#include "world.h"

/* A box of `region` bytes, rows and slices at `origin` in memory whose rows and slices are so far apart. */
struct box {
  size_t origin[3], row, slice;
  size_t bytes; /* Up to its last byte. */
  bool implied; /* The call gets 0 for row and slice. */
};

static size_t place(const struct box *box, size_t y, size_t z) {
  return box->origin[0] + (box->origin[1] + y) * box->row + (box->origin[2] + z) * box->slice;
}

static struct box draw_box(struct draw *draw, const size_t region[3]) {
  struct box box = {.implied = draw_chance(draw, 25)};
  size_t rows = region[1] + (box.implied ? 0 : draw_below(draw, 3));
  box.row = region[0] + (box.implied ? 0 : draw_below(draw, 9));
  /* A slice is a whole number of rows. */
  box.slice = box.row * rows;
  box.origin[0] = box.row > region[0] ? draw_below(draw, (uint32_t)(box.row - region[0]) + 1) : 0;
  box.origin[1] = draw_below(draw, 2);
  box.origin[2] = draw_below(draw, 2);
  box.bytes = place(&box, region[1] - 1, region[2] - 1) + region[0];
  return box;
}

static void draw_region(struct draw *draw, size_t region[3]) {
  region[0] = draw_from(draw, 1, 40);
  region[1] = draw_from(draw, 1, 6);
  region[2] = draw_chance(draw, 50) ? 1 : draw_from(draw, 1, 3);
}

static void copy_box(uint8_t *to, const struct box *to_box, const uint8_t *from, const struct box *from_box,
                     const size_t region[3]) {
  for (size_t z = 0; z < region[2]; z++) {
    for (size_t y = 0; y < region[1]; y++) {
      memcpy(to + place(to_box, y, z), from + place(from_box, y, z), region[0]);
    }
  }
}

void step_write_rect(struct world *world) {
  size_t region[3];
  draw_region(&world->draw, region);
  struct box there = draw_box(&world->draw, region), here = draw_box(&world->draw, region);
  struct buffer *buffer = pick_buffer(world, there.bytes, CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS);
  if (!buffer) return;
  uint8_t *host = allocate(here.bytes);
  draw_bytes(&world->draw, host, here.bytes);
  copy_box(model_of(buffer), &there, host, &here, region);

  struct command command = command_begin(world, pick_queue(world), draw_chance(&world->draw, 30));
  command_writes(&command, buffer);
  command_seal(&command);
  cl_int status = clEnqueueWriteBufferRect(
      command.queue->handle, buffer->handle, command.blocking, there.origin, here.origin, region,
      there.implied ? 0 : there.row, there.implied ? 0 : there.slice, here.implied ? 0 : here.row,
      here.implied ? 0 : here.slice, host, command.wait_count, command.list, command.event);
  struct event *event = command_end(&command, CL_COMMAND_WRITE_BUFFER_RECT, status, "write b%u box %zux%zux%zu",
                                    buffer->number, region[0], region[1], region[2]);
  event->host = host;
  if (command.blocking) memset(host, 0xdd, here.bytes);
}

void step_read_rect(struct world *world) {
  size_t region[3];
  draw_region(&world->draw, region);
  struct box there = draw_box(&world->draw, region), here = draw_box(&world->draw, region);
  struct buffer *buffer = pick_buffer(world, there.bytes, CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS);
  if (!buffer) return;
  /* What lies between the rows stays as it was. */
  uint8_t *host = allocate(here.bytes), *expected = allocate(here.bytes);
  draw_bytes(&world->draw, host, here.bytes);
  memcpy(expected, host, here.bytes);
  copy_box(expected, &here, model_of(buffer), &there, region);

  struct command command = command_begin(world, pick_queue(world), draw_chance(&world->draw, 30));
  command_reads(&command, buffer);
  command_seal(&command);
  cl_int status = clEnqueueReadBufferRect(
      command.queue->handle, buffer->handle, command.blocking, there.origin, here.origin, region,
      there.implied ? 0 : there.row, there.implied ? 0 : there.slice, here.implied ? 0 : here.row,
      here.implied ? 0 : here.slice, host, command.wait_count, command.list, command.event);
  struct event *event = command_end(&command, CL_COMMAND_READ_BUFFER_RECT, status, "read b%u box %zux%zux%zu",
                                    buffer->number, region[0], region[1], region[2]);
  event->host = host;
  event->expected = expected;
  event->bytes = here.bytes;
}

void step_copy_rect(struct world *world) {
  size_t region[3];
  draw_region(&world->draw, region);
  struct box from_box = draw_box(&world->draw, region), to_box = draw_box(&world->draw, region);
  struct buffer *from = pick_buffer(world, from_box.bytes, 0), *to = pick_buffer(world, to_box.bytes, 0);
  if (!from || !to || from->memory == to->memory) return;
  if ((from->parent || to->parent) && deviates(COPY_RECT_OF_SUB_BUFFERS)) return;
  copy_box(model_of(to), &to_box, model_of(from), &from_box, region);

  struct command command = command_begin(world, pick_queue(world), false);
  command_reads(&command, from);
  command_writes(&command, to);
  command_seal(&command);
  cl_int status = clEnqueueCopyBufferRect(
      command.queue->handle, from->handle, to->handle, from_box.origin, to_box.origin, region,
      from_box.implied ? 0 : from_box.row, from_box.implied ? 0 : from_box.slice, to_box.implied ? 0 : to_box.row,
      to_box.implied ? 0 : to_box.slice, command.wait_count, command.list, command.event);
  command_end(&command, CL_COMMAND_COPY_BUFFER_RECT, status, "copy b%u to b%u box %zux%zux%zu", from->number,
              to->number, region[0], region[1], region[2]);
}
