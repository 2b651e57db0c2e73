/* Buffers mapped into the program's memory, read and written there, and unmapped by a queue that need not be the one
 * that mapped them. */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "status.h"
#include "transcript.h"
#include "world.h"

void step_map(struct world *world) {
  cl_map_flags flags = (cl_map_flags[]){CL_MAP_READ, CL_MAP_WRITE, CL_MAP_READ | CL_MAP_WRITE,
                                        CL_MAP_WRITE_INVALIDATE_REGION}[draw_below(&world->draw, 4)];
  cl_mem_flags without = CL_MEM_HOST_NO_ACCESS;
  if (flags & CL_MAP_READ) without |= CL_MEM_HOST_WRITE_ONLY;
  if (flags & ~(cl_map_flags)CL_MAP_READ) without |= CL_MEM_HOST_READ_ONLY;
  struct buffer *buffer = pick_buffer(world, 1, without);
  if (!buffer) return;
  size_t offset = draw_below(&world->draw, (uint32_t)buffer->bytes);
  size_t bytes = draw_from(&world->draw, 1, (uint32_t)(buffer->bytes - offset));

  struct command command = command_begin(world, pick_queue(world), draw_chance(&world->draw, 50));
  command.needs_event = true;
  if (flags == CL_MAP_READ) {
    command_reads(&command, buffer);
  } else {
    command_writes(&command, buffer);
  }
  command_seal(&command);
  cl_int status = 1;
  uint8_t *pointer =
      clEnqueueMapBuffer(command.queue->handle, buffer->handle, command.blocking, flags, offset, bytes,
                         command.wait_count, command.list, command.event, &status);
  struct event *event = command_end(&command, CL_COMMAND_MAP_BUFFER, status, "map b%u from %zu bytes %zu flags %#llx",
                                    buffer->number, offset, bytes, (unsigned long long)flags);
  if (!pointer) return;
  const struct memory *memory = buffer->memory;
  if (memory->host && pointer != (uint8_t *)memory->host + buffer->origin + offset) {
    wrong("b%u is not mapped where the program's memory of it is", buffer->number);
  }
  buffer->mapping = (struct mapping){pointer, offset, bytes, flags, command.blocking ? NULL : event};
  buffer->memory->mapped = true;
}

/* Does with the mapped memory what it was mapped for, and unmaps it. */
static void unmap(struct world *world, struct buffer *buffer) {
  struct mapping mapping = buffer->mapping;
  uint8_t *model = model_of(buffer) + mapping.offset;
  if (mapping.event) {
    open_gates(world, mapping.event->gates);
    note_status(clWaitForEvents(1, &mapping.event->handle), CL_SUCCESS, "%u wait for the map of b%u", world->step,
                buffer->number);
  }
  if (mapping.flags & CL_MAP_READ) {
    note("%u b%u holds %016llx", world->step, buffer->number,
         (unsigned long long)digest(mapping.pointer, mapping.bytes));
    if (memcmp(mapping.pointer, model, mapping.bytes) != 0) wrong("b%u is mapped with another content", buffer->number);
  }
  if (mapping.flags & CL_MAP_WRITE_INVALIDATE_REGION) {
    /* What is not written then is lost. */
    draw_bytes(&world->draw, model, mapping.bytes);
    memcpy(mapping.pointer, model, mapping.bytes);
  } else if (mapping.flags & CL_MAP_WRITE) {
    size_t offset = draw_below(&world->draw, (uint32_t)mapping.bytes);
    size_t bytes = draw_from(&world->draw, 1, (uint32_t)(mapping.bytes - offset));
    draw_bytes(&world->draw, model + offset, bytes);
    memcpy((uint8_t *)mapping.pointer + offset, model + offset, bytes);
  }

  struct command command = command_begin(world, pick_queue(world), false);
  if (mapping.flags == CL_MAP_READ) {
    command_reads(&command, buffer);
  } else {
    command_writes(&command, buffer);
  }
  command_seal(&command);
  cl_int status = clEnqueueUnmapMemObject(command.queue->handle, buffer->handle, mapping.pointer, command.wait_count,
                                          command.list, command.event);
  command_end(&command, CL_COMMAND_UNMAP_MEM_OBJECT, status, "unmap b%u", buffer->number);
  buffer->mapping = (struct mapping){0};
  buffer->memory->mapped = false;
}

void step_unmap(struct world *world) {
  unsigned first = draw_below(&world->draw, BUFFERS_MAX);
  for (unsigned i = 0; i < BUFFERS_MAX; i++) {
    struct buffer *buffer = &world->buffer[(first + i) % BUFFERS_MAX];
    if (!buffer->handle || !buffer->mapping.pointer) continue;
    unmap(world, buffer);
    return;
  }
}

void unmap_all(struct world *world) {
  for (unsigned i = 0; i < BUFFERS_MAX; i++) {
    struct buffer *buffer = &world->buffer[i];
    if (buffer->handle && buffer->mapping.pointer) unmap(world, buffer);
  }
}
