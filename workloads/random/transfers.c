/* Reading, writing, copying, filling and migrating buffers. */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "status.h"
#include "transcript.h"
#include "world.h"

/* What the host may not do with some buffers. */
enum {
  NO_WRITES = CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS,
  NO_READS = CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS,
};

struct range {
  size_t offset, bytes;
};

/* Often all of it, or its ends. */
static struct range draw_range(struct draw *draw, size_t bytes) {
  struct range range = {0, bytes};
  if (draw_chance(draw, 25)) return range;
  range.offset = draw_chance(draw, 25) ? 0 : draw_below(draw, (uint32_t)bytes);
  range.bytes = draw_chance(draw, 25) ? bytes - range.offset : draw_from(draw, 1, (uint32_t)(bytes - range.offset));
  return range;
}

void step_write(struct world *world) {
  struct buffer *buffer = pick_buffer(world, 1, NO_WRITES);
  if (!buffer) return;
  struct range range = draw_range(&world->draw, buffer->bytes);
  uint8_t *host = allocate(range.bytes);
  draw_bytes(&world->draw, host, range.bytes);
  memcpy(model_of(buffer) + range.offset, host, range.bytes);

  struct command command = command_begin(world, pick_queue(world), draw_chance(&world->draw, 40));
  command_writes(&command, buffer);
  command_seal(&command);
  cl_int status = clEnqueueWriteBuffer(command.queue->handle, buffer->handle, command.blocking, range.offset,
                                       range.bytes, host, command.wait_count, command.list, command.event);
  struct event *event = command_end(&command, CL_COMMAND_WRITE_BUFFER, status, "write b%u from %zu bytes %zu",
                                    buffer->number, range.offset, range.bytes);
  event->host = host;
  /* After a blocking write the memory is the program's again. */
  if (command.blocking) memset(host, 0xdd, range.bytes);
}

void step_read(struct world *world) {
  struct buffer *buffer = pick_buffer(world, 1, NO_READS);
  if (!buffer) return;
  struct range range = draw_range(&world->draw, buffer->bytes);
  uint8_t *host = allocate(range.bytes), *expected = allocate(range.bytes);
  memcpy(expected, model_of(buffer) + range.offset, range.bytes);
  for (size_t i = 0; i < range.bytes; i++) host[i] = (uint8_t)~expected[i];

  struct command command = command_begin(world, pick_queue(world), draw_chance(&world->draw, 40));
  command_reads(&command, buffer);
  command_seal(&command);
  cl_int status = clEnqueueReadBuffer(command.queue->handle, buffer->handle, command.blocking, range.offset,
                                      range.bytes, host, command.wait_count, command.list, command.event);
  struct event *event = command_end(&command, CL_COMMAND_READ_BUFFER, status, "read b%u from %zu bytes %zu",
                                    buffer->number, range.offset, range.bytes);
  event->host = host;
  event->expected = expected;
  event->bytes = range.bytes;
  if (command.blocking && memcmp(host, expected, range.bytes) != 0) {
    wrong("e%u came back without what it was to read", event->number);
  }
}

void step_copy(struct world *world) {
  struct buffer *from = pick_buffer(world, 1, 0), *to = pick_buffer(world, 1, 0);
  if (!from || !to) return;
  /* Within one memory parts may not overlap: only buffers that lie apart are taken. */
  if (from->memory == to->memory && from->origin < to->origin + to->bytes && to->origin < from->origin + from->bytes) {
    return;
  }
  struct range range = draw_range(&world->draw, from->bytes < to->bytes ? from->bytes : to->bytes);
  size_t target = draw_below(&world->draw, (uint32_t)(to->bytes - range.bytes) + 1);
  memcpy(model_of(to) + target, model_of(from) + range.offset, range.bytes);

  struct command command = command_begin(world, pick_queue(world), false);
  command_reads(&command, from);
  command_writes(&command, to);
  command_seal(&command);
  cl_int status = clEnqueueCopyBuffer(command.queue->handle, from->handle, to->handle, range.offset, target,
                                      range.bytes, command.wait_count, command.list, command.event);
  command_end(&command, CL_COMMAND_COPY_BUFFER, status, "copy b%u from %zu to b%u at %zu bytes %zu", from->number,
              range.offset, to->number, target, range.bytes);
}

void step_fill(struct world *world) {
  size_t size = (size_t)1 << draw_below(&world->draw, 8);
  struct buffer *buffer = pick_buffer(world, size, 0);
  if (!buffer) return;
  uint8_t pattern[128];
  draw_bytes(&world->draw, pattern, size);
  struct range range = draw_range(&world->draw, buffer->bytes / size);
  range.offset *= size;
  range.bytes *= size;
  for (size_t i = 0; i < range.bytes; i++) model_of(buffer)[range.offset + i] = pattern[i % size];

  struct command command = command_begin(world, pick_queue(world), false);
  command_writes(&command, buffer);
  command_seal(&command);
  cl_int status = clEnqueueFillBuffer(command.queue->handle, buffer->handle, pattern, size, range.offset, range.bytes,
                                      command.wait_count, command.list, command.event);
  /* The pattern was copied when the call returned. */
  memset(pattern, 0xdd, sizeof pattern);
  command_end(&command, CL_COMMAND_FILL_BUFFER, status, "fill b%u by %zu from %zu bytes %zu", buffer->number, size,
              range.offset, range.bytes);
}

void step_migrate(struct world *world) {
  cl_mem handles[2];
  struct command command = command_begin(world, pick_queue(world), false);
  unsigned count = draw_from(&world->draw, 1, 2);
  for (unsigned i = 0; i < count; i++) {
    struct buffer *buffer = pick_buffer(world, 1, 0);
    if (!buffer) return;
    handles[i] = buffer->handle;
    command_writes(&command, buffer);
  }
  cl_mem_migration_flags flags = draw_chance(&world->draw, 50) ? CL_MIGRATE_MEM_OBJECT_HOST : 0;
  command_seal(&command);
  cl_int status = clEnqueueMigrateMemObjects(command.queue->handle, count, handles, flags, command.wait_count,
                                             command.list, command.event);
  command_end(&command, CL_COMMAND_MIGRATE_MEM_OBJECTS, status, "migrate %u%s", count, flags ? " to the host" : "");
}
