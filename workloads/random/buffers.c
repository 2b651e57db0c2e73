/* Buffers and sub-buffers: made, asked, and released while commands still use them. */
#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "soon.h"
#include "status.h"
#include "transcript.h"
#include "world.h"

enum {
  /* No device of today asks for more of a sub-buffer's origin (CL_DEVICE_MEM_BASE_ADDR_ALIGN, in bytes). */
  SUB_BUFFER_ALIGN = 512,
};

/* What a destructor callback gets. */
struct funeral {
  struct grave *grave;
  unsigned number;
};

static struct buffer *free_place(struct world *world) {
  for (unsigned i = 0; i < BUFFERS_MAX; i++) {
    if (!world->buffer[i].handle) return &world->buffer[i];
  }
  return NULL;
}

static bool fits(const struct buffer *buffer, size_t bytes, cl_mem_flags without) {
  return buffer->handle && !buffer->memory->mapped && buffer->bytes >= bytes && !(buffer->flags & without);
}

struct buffer *pick_buffer(struct world *world, size_t bytes, cl_mem_flags without) {
  unsigned count = 0;
  for (unsigned i = 0; i < BUFFERS_MAX; i++) count += fits(&world->buffer[i], bytes, without);
  if (count == 0) return NULL;
  unsigned nth = draw_below(&world->draw, count);
  struct buffer *buffer = world->buffer;
  while (!fits(buffer, bytes, without) || nth-- > 0) buffer++;
  return buffer;
}

uint8_t *model_of(const struct buffer *buffer) { return buffer->memory->model + buffer->origin; }

/* The reference count says nothing once commands use the buffer; of a new one it does. */
static void note_references(const struct buffer *buffer, cl_uint expected) {
  cl_uint count = 0;
  clGetMemObjectInfo(buffer->handle, CL_MEM_REFERENCE_COUNT, sizeof count, &count, NULL);
  if (count != expected) wrong("b%u has %u references, not %u", buffer->number, count, expected);
}

static size_t draw_size(struct draw *draw) {
  switch (draw_below(draw, 4)) {
    case 0: return 64 * draw_from(draw, 1, 16);
    case 1: return draw_from(draw, 1, 5000);
    case 2: return 4096 * draw_from(draw, 1, 16);
    default: return draw_from(draw, 100000, 300000);
  }
}

void step_buffer(struct world *world) {
  static const cl_mem_flags HOST[] = {0, 0, 0, 0, CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY,
                                      CL_MEM_HOST_NO_ACCESS};
  static const cl_mem_flags SOURCE[] = {0, CL_MEM_COPY_HOST_PTR, CL_MEM_USE_HOST_PTR, CL_MEM_ALLOC_HOST_PTR,
                                        CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR};
  struct buffer *buffer = free_place(world);
  if (!buffer) {
    step_release_buffer(world);
    return;
  }
  cl_mem_flags source = SOURCE[draw_below(&world->draw, 5)];
  cl_mem_flags flags = source | HOST[draw_below(&world->draw, 7)];
  if (draw_chance(&world->draw, 30)) flags |= CL_MEM_READ_WRITE;
  struct memory *memory = allocate(sizeof *memory);
  *memory = (struct memory){.bytes = draw_size(&world->draw), .users = 1};
  memory->model = allocate(memory->bytes);
  draw_bytes(&world->draw, memory->model, memory->bytes);
  *buffer = (struct buffer){.number = world->buffers_made++, .memory = memory, .bytes = memory->bytes, .flags = flags};

  bool given = flags & (CL_MEM_COPY_HOST_PTR | CL_MEM_USE_HOST_PTR);
  uint8_t *host = given ? allocate(memory->bytes) : NULL;
  if (given) memcpy(host, memory->model, memory->bytes);
  cl_int status = 1;
  if (draw_chance(&world->draw, 70)) {
    buffer->handle = clCreateBuffer(world->context, flags, memory->bytes, host, &status);
  } else {
    buffer->handle = clCreateBufferWithProperties(world->context, NULL, flags, memory->bytes, host, &status);
  }
  note_status(status, CL_SUCCESS, "%u create b%u of %zu flags %#llx", world->step, buffer->number, memory->bytes,
              (unsigned long long)flags);
  if (flags & CL_MEM_USE_HOST_PTR) {
    memory->host = host;
  } else if (given) {
    /* The content was copied when the call returned. */
    memset(host, 0xdd, memory->bytes);
    free(host);
  }
  if (!buffer->handle) {
    free(memory->host);
    free(memory->model);
    free(memory);
    return;
  }
  note_references(buffer, 1);
  if (given) return;
  /* What is in a new buffer is not said: give it content. A kernel could, too, but a fill works for all flags. */
  struct command command = command_begin(world, pick_queue(world), false);
  uint8_t pattern = (uint8_t)draw_bits(&world->draw);
  memset(memory->model, pattern, memory->bytes);
  command_writes(&command, buffer);
  command_seal(&command);
  status = clEnqueueFillBuffer(command.queue->handle, buffer->handle, &pattern, 1, 0, memory->bytes, command.wait_count,
                               command.list, command.event);
  command_end(&command, CL_COMMAND_FILL_BUFFER, status, "fill b%u first", buffer->number);
}

void step_sub_buffer(struct world *world) {
  struct buffer *buffer = free_place(world), *parent = pick_buffer(world, SUB_BUFFER_ALIGN + 64, 0);
  if (!buffer || !parent || parent->parent) return;
  size_t places = (parent->bytes - 1) / SUB_BUFFER_ALIGN;
  size_t origin = SUB_BUFFER_ALIGN * draw_below(&world->draw, (uint32_t)places + 1);
  size_t bytes = draw_from(&world->draw, 1, (uint32_t)(parent->bytes - origin));
  cl_buffer_region region = {origin, bytes};
  cl_int status = 1;
  cl_mem handle = clCreateSubBuffer(parent->handle, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &status);
  *buffer = (struct buffer){.handle = handle, .number = world->buffers_made++, .memory = parent->memory,
                            .parent = parent, .origin = origin, .bytes = bytes,
                            .flags = parent->flags & ~(cl_mem_flags)CL_MEM_COPY_HOST_PTR};
  note_status(status, CL_SUCCESS, "%u create b%u in b%u from %zu of %zu", world->step, buffer->number, parent->number,
              origin, bytes);
  if (handle) parent->memory->users++;
}

void step_buffer_info(struct world *world) {
  struct buffer *buffer = pick_buffer(world, 1, 0);
  if (!buffer) return;
  size_t size = 0, offset = 1;
  cl_mem_object_type type = 0;
  cl_mem_flags flags = 0;
  void *host = NULL;
  cl_mem parent = NULL;
  clGetMemObjectInfo(buffer->handle, CL_MEM_SIZE, sizeof size, &size, NULL);
  clGetMemObjectInfo(buffer->handle, CL_MEM_OFFSET, sizeof offset, &offset, NULL);
  clGetMemObjectInfo(buffer->handle, CL_MEM_TYPE, sizeof type, &type, NULL);
  clGetMemObjectInfo(buffer->handle, CL_MEM_FLAGS, sizeof flags, &flags, NULL);
  clGetMemObjectInfo(buffer->handle, CL_MEM_HOST_PTR, sizeof host, &host, NULL);
  clGetMemObjectInfo(buffer->handle, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent, NULL);
  /* CL_MEM_READ_WRITE is the default, and may be told when it was not given. What a sub-buffer inherits of how its
   * memory was made is not said clearly enough to hold anyone to it. */
  cl_mem_flags all = CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS;
  if (!buffer->parent) all |= CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;
  uint8_t *begin = buffer->memory->host;
  if (begin) begin += buffer->origin;
  bool right = size == buffer->bytes && offset == buffer->origin && type == CL_MEM_OBJECT_BUFFER &&
               (flags & all) == (buffer->flags & all) && host == begin && !parent == !buffer->parent;
  note("%u b%u size %zu offset %zu flags %#llx parent %s", world->step, buffer->number, size, offset,
       (unsigned long long)(flags & all), parent ? "yes" : "no");
  if (!right) wrong("b%u does not know what it was made of", buffer->number);

  /* Retained and released: it stays. */
  cl_int kept = clRetainMemObject(buffer->handle), released = clReleaseMemObject(buffer->handle);
  if (kept != CL_SUCCESS || released != CL_SUCCESS) wrong("b%u cannot be retained and released", buffer->number);
}

static void CL_CALLBACK buried(cl_mem handle, void *data) {
  (void)handle;
  struct funeral *funeral = data;
  struct grave *grave = funeral->grave;
  unsigned place = atomic_fetch_add(&grave->calls, 1);
  if (place < DESTRUCTORS_MAX) grave->order[place] = funeral->number;
  free(funeral);
}

static void release(struct world *world, struct buffer *buffer) {
  struct grave *grave = allocate(sizeof *grave);
  *grave = (struct grave){.next = world->graves, .number = buffer->number, .memory = buffer->memory};
  world->graves = grave;
  unsigned callbacks = draw_below(&world->draw, DESTRUCTORS_MAX + 1);
  for (unsigned i = 0; i < callbacks; i++) {
    struct funeral *funeral = allocate(sizeof *funeral);
    *funeral = (struct funeral){grave, i};
    cl_int status = clSetMemObjectDestructorCallback(buffer->handle, buried, funeral);
    note_status(status, CL_SUCCESS, "%u destructor %u of b%u", world->step, i, buffer->number);
    if (status == CL_SUCCESS) grave->registered++;
  }
  note_status(clReleaseMemObject(buffer->handle), CL_SUCCESS, "%u release b%u", world->step, buffer->number);
  buffer->handle = NULL;
  buffer->memory->users--;
}

void step_release_buffer(struct world *world) {
  struct buffer *buffer = pick_buffer(world, 1, 0);
  if (buffer) release(world, buffer);
}

/* A buffer goes when the program has released it and its sub-buffers and no command uses it. Its destructors are then
 * called, the last registered first. */
void bury(struct world *world) {
  for (struct grave *grave = world->graves; grave; grave = grave->next) {
    if (grave->told || grave->memory->users > 0) continue;
    soon(&grave->calls, grave->registered);
    unsigned calls = atomic_load(&grave->calls);
    if (calls != grave->registered) wrong("b%u: %u destructors of %u", grave->number, calls, grave->registered);
    for (unsigned i = 0; i + 1 < calls && i + 1 < DESTRUCTORS_MAX; i++) {
      if (grave->order[i] < grave->order[i + 1]) wrong("b%u: destructors in a wrong order", grave->number);
    }
    note("  b%u gone, %u destructors", grave->number, calls);
    grave->told = true;
  }
}

void buffers_release(struct world *world) {
  for (unsigned i = 0; i < BUFFERS_MAX; i++) {
    if (world->buffer[i].handle) release(world, &world->buffer[i]);
  }
  bury(world);
  /* A memory is in the graves of all buffers that had it: free it with the last. */
  for (struct grave *grave = world->graves, *next; grave; grave = next) {
    next = grave->next;
    bool last = true;
    for (struct grave *other = next; other; other = other->next) last &= other->memory != grave->memory;
    if (last) {
      free(grave->memory->host);
      free(grave->memory->model);
      free(grave->memory);
    }
    free(grave);
  }
  world->graves = NULL;
}
