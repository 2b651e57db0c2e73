/* Kernels, launched over ranges of all kinds, from programs built in three ways: from source, compiled and linked, and
 * from their own binary. */
#include "launch.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "command.h"
#include "deviations.h"
#include "soon.h"
#include "status.h"
#include "transcript.h"
#include "world.h"

enum kernel_name { ADD, AXPY, REVERSE, GRID, GROUPS, SUM, LOOKUP, EITHER, BYTES, KERNELS };

static const char *const NAMES[KERNELS] = {[ADD] = "add",       [AXPY] = "axpy",     [REVERSE] = "reverse",
                                           [GRID] = "grid",     [GROUPS] = "groups", [SUM] = "sum",
                                           [LOOKUP] = "lookup", [EITHER] = "either", [BYTES] = "bytes"};

struct kernels {
  uint32_t twist;
  bool of_source; /* Built from it at once. */
  cl_program program;
  cl_kernel kernel[KERNELS];
};

enum {
  /* A device compiles a kernel for each range that it has not seen, so there are few. */
  ITEMS_MIN = 64,
  ITEMS_MAX = 1024,
  TWISTS = 2,
  BUILD_MS_MAX = 30000,
  CONSTANT_MAX = 65536, /* Every device of the full profile takes so much. */
};

static void CL_CALLBACK built(cl_program program, void *calls) {
  (void)program;
  atomic_fetch_add((_Atomic unsigned *)calls, 1);
}

/* The build may go on when the call has returned; the callback tells its end. */
static void build_with_callback(struct world *world, cl_program program, const char *options) {
  _Atomic unsigned *calls = allocate(sizeof *calls);
  atomic_init(calls, 0);
  cl_int status = clBuildProgram(program, 1, &world->device, options, built, (void *)calls);
  note_status(status, CL_SUCCESS, "%u build with a callback", world->step);
  cl_build_status state = CL_BUILD_IN_PROGRESS;
  for (unsigned i = 0; i < BUILD_MS_MAX && state == CL_BUILD_IN_PROGRESS; i++) {
    clGetProgramBuildInfo(program, world->device, CL_PROGRAM_BUILD_STATUS, sizeof state, &state, NULL);
    if (state == CL_BUILD_IN_PROGRESS) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
  if (state != CL_BUILD_SUCCESS) wrong("the build ended with %d", state);
  if (!soon(calls, 1) || atomic_load(calls) != 1) {
    wrong("the build called its callback %u times", atomic_load(calls));
    return; /* It may be called yet: its memory stays. */
  }
  free((void *)calls);
}

static cl_program from_source(struct world *world, const char *options) {
  const char *source = RANDOM_SOURCE;
  cl_int status = 1;
  cl_program program = clCreateProgramWithSource(world->context, 1, &source, NULL, &status);
  note_status(status, CL_SUCCESS, "%u program of source", world->step);
  if (draw_chance(&world->draw, 50)) {
    build_with_callback(world, program, options);
  } else {
    note_status(clBuildProgram(program, 1, &world->device, options, NULL, NULL), CL_SUCCESS, "%u build", world->step);
  }
  return program;
}

/* The source comes in as a header, and in two pieces with a length and without. */
static cl_program from_compiled(struct world *world, const char *options) {
  const char *header_source = RANDOM_SOURCE, *header_name = "random.h";
  const char *pieces[2] = {"#include \"random.h\"\nrubbish", "\n"};
  const size_t lengths[2] = {strlen("#include \"random.h\"\n"), 0};
  cl_int status = 1;
  cl_program header = clCreateProgramWithSource(world->context, 1, &header_source, NULL, &status);
  note_status(status, CL_SUCCESS, "%u header", world->step);
  cl_program source = clCreateProgramWithSource(world->context, 2, pieces, lengths, &status);
  note_status(status, CL_SUCCESS, "%u program with a header", world->step);
  status = clCompileProgram(source, 1, &world->device, options, 1, &header, &header_name, NULL, NULL);
  note_status(status, CL_SUCCESS, "%u compile", world->step);
  cl_program program = clLinkProgram(world->context, 1, &world->device, "", 1, &source, NULL, NULL, &status);
  note_status(status, CL_SUCCESS, "%u link", world->step);
  clReleaseProgram(source);
  clReleaseProgram(header);
  return program;
}

static cl_program from_binary(struct world *world, const char *options) {
  cl_program source = from_source(world, options);
  size_t bytes = 0;
  note_status(clGetProgramInfo(source, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL), CL_SUCCESS, "%u size",
              world->step);
  unsigned char *binary = allocate(bytes);
  note_status(clGetProgramInfo(source, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL), CL_SUCCESS, "%u binary",
              world->step);
  clReleaseProgram(source);
  const unsigned char *given = binary;
  cl_int loaded = 1, status = 1;
  cl_program program = clCreateProgramWithBinary(world->context, 1, &world->device, &bytes, &given, &loaded, &status);
  note_status(status, CL_SUCCESS, "%u program of a binary", world->step);
  if (loaded != CL_SUCCESS) wrong("the binary's status is %s", status_name(loaded));
  note_status(clBuildProgram(program, 1, &world->device, options, NULL, NULL), CL_SUCCESS, "%u build", world->step);
  free(binary);
  return program;
}

/* Commands that use the old kernels may still be on their way. */
void step_program(struct world *world) {
  cl_program (*const ways[])(struct world *, const char *) = {from_source, from_compiled, from_binary};
  unsigned way = draw_below(&world->draw, 3);
  kernels_release(world);
  struct kernels *kernels = allocate(sizeof *kernels);
  *kernels = (struct kernels){.twist = draw_from(&world->draw, 1, TWISTS), .of_source = way == 0};
  char options[64];
  snprintf(options, sizeof options, "-cl-kernel-arg-info -D TWIST=%uu", kernels->twist);
  kernels->program = ways[way](world, options);
  for (unsigned i = 0; i < KERNELS; i++) {
    cl_int status = 1;
    kernels->kernel[i] = clCreateKernel(kernels->program, NAMES[i], &status);
    note_status(status, CL_SUCCESS, "%u kernel %s", world->step, NAMES[i]);
  }
  world->kernels = kernels;
}

void kernels_release(struct world *world) {
  struct kernels *kernels = world->kernels;
  if (!kernels) return;
  for (unsigned i = 0; i < KERNELS; i++) clReleaseKernel(kernels->kernel[i]);
  note_status(clReleaseProgram(kernels->program), CL_SUCCESS, "%u release program", world->step);
  free(kernels);
  world->kernels = NULL;
}

cl_program kernels_program(const struct kernels *kernels) { return kernels->program; }

bool kernels_of_source(const struct kernels *kernels) { return kernels->of_source; }

cl_kernel kernels_any(const struct kernels *kernels, struct draw *draw) {
  return kernels->kernel[draw_below(draw, KERNELS)];
}

static void set(cl_kernel kernel, cl_uint index, size_t bytes, const void *value) {
  cl_int status = clSetKernelArg(kernel, index, bytes, value);
  if (status != CL_SUCCESS) wrong("argument %u: %s", index, status_name(status));
}

static void set_buffer(cl_kernel kernel, cl_uint index, const struct buffer *buffer) {
  set(kernel, index, sizeof buffer->handle, &buffer->handle);
}

/* One dimension of items, at an offset by chance: so many that they fit into `elements`. */
static struct range3 draw_line(struct draw *draw, size_t elements) {
  struct range3 range = {1, {0, 0, 0}, {ITEMS_MAX, 1, 1}};
  if (draw_chance(draw, 50)) range.global[0] = 256;
  while (range.global[0] > elements) range.global[0] /= 4;
  if (draw_chance(draw, 40)) range.offset[0] = draw_below(draw, (uint32_t)(elements - range.global[0]) + 1);
  return range;
}

/* Two or three dimensions of 64 items in all. */
static struct range3 draw_block(struct draw *draw) {
  struct range3 range = {2, {0, 0, 0}, {16, 4, 1}};
  if (draw_chance(draw, 50)) range = (struct range3){3, {0, 0, 0}, {8, 4, 2}};
  for (unsigned d = 0; d < range.dimensions && draw_chance(draw, 60); d++) range.offset[d] = draw_below(draw, 1000);
  return range;
}

/* One work-item. */
static void launch_task(struct world *world) {
  struct buffer *a = pick_buffer(world, sizeof(uint32_t), 0);
  if (!a) return;
  cl_kernel kernel = world->kernels->kernel[ADD];
  const uint32_t k = (uint32_t)draw_bits(&world->draw);
  const struct range3 range = {1, {0, 0, 0}, {1, 1, 1}};
  struct command command = command_begin(world, pick_queue(world), false);
  command_writes(&command, a);
  set_buffer(kernel, 0, a);
  set(kernel, 1, sizeof k, &k);
  model_add((uint32_t *)(void *)model_of(a), &range, world->kernels->twist, k);
  command_seal(&command);
  cl_int status = clEnqueueTask(command.queue->handle, kernel, command.wait_count, command.list, command.event);
  command_end(&command, CL_COMMAND_TASK, status, "task b%u", a->number);
}

void step_launch(struct world *world) {
  struct draw *draw = &world->draw;
  if (!world->kernels) step_program(world);
  if (draw_chance(draw, 5)) {
    launch_task(world);
    return;
  }
  enum kernel_name name = draw_below(draw, KERNELS);
  const size_t least = name == BYTES ? ITEMS_MIN : ITEMS_MIN * sizeof(uint32_t);
  struct buffer *a = pick_buffer(world, least, 0), *b = pick_buffer(world, least, 0);
  if (!a) return;
  /* Two arguments in one memory would be a race, unless both are read. */
  if (a->memory == b->memory) b = NULL;
  if (name == LOOKUP && b && b->bytes > CONSTANT_MAX) b = NULL;
  if (!b && (name == AXPY || name == SUM || name == LOOKUP)) return;

  cl_kernel kernel = world->kernels->kernel[name];
  uint32_t twist = world->kernels->twist;
  uint32_t *words = (uint32_t *)(void *)model_of(a), *others = b ? (uint32_t *)(void *)model_of(b) : NULL;
  size_t elements = a->bytes / sizeof(uint32_t);
  if (b && b->bytes < a->bytes) elements = b->bytes / sizeof(uint32_t);
  struct range3 range = draw_line(draw, name == BYTES ? a->bytes : elements);
  const size_t sixteen[3] = {16, 1, 1}, four_two[3] = {4, 2, 1}, *local = draw_chance(draw, 50) ? sixteen : NULL;

  struct command command = command_begin(world, pick_queue(world), false);
  command_writes(&command, a);
  set_buffer(kernel, 0, a);
  switch (name) {
    case ADD: {
      uint32_t k = (uint32_t)draw_bits(draw);
      set(kernel, 1, sizeof k, &k);
      model_add(words, &range, twist, k);
      break;
    }
    case AXPY: {
      uint32_t k[2] = {(uint32_t)draw_bits(draw), (uint32_t)draw_bits(draw)};
      command_reads(&command, b);
      set_buffer(kernel, 0, b);
      set_buffer(kernel, 1, a);
      set(kernel, 2, sizeof k, k);
      model_axpy(others, words, &range, twist, k);
      break;
    }
    case REVERSE:
      local = sixteen;
      set(kernel, 1, 16 * sizeof(uint32_t), NULL);
      model_reverse(words, &range, twist);
      break;
    case GRID:
      range = draw_block(draw);
      local = NULL;
      model_grid(words, &range, twist);
      break;
    case GROUPS:
      range = (struct range3){2, {0, 0, 0}, {16, 4, 1}};
      local = four_two;
      model_groups(words, &range, twist);
      break;
    case SUM:
      command_reads(&command, b);
      set_buffer(kernel, 0, b);
      set_buffer(kernel, 1, a);
      model_sum(others, words, &range, twist);
      break;
    case LOOKUP: {
      uint32_t entries = (uint32_t)draw_from(draw, 1, ITEMS_MIN);
      command_reads(&command, b);
      set_buffer(kernel, 1, b);
      set(kernel, 2, sizeof entries, &entries);
      model_lookup(words, others, entries, &range, twist);
      break;
    }
    case EITHER:
      if (b && draw_chance(draw, 50)) {
        command_reads(&command, b);
        set_buffer(kernel, 1, b);
      } else {
        others = NULL;
        set(kernel, 1, sizeof(cl_mem), NULL);
      }
      model_either(words, others, &range, twist);
      break;
    case BYTES: {
      uint8_t k[4];
      uint64_t l = draw_bits(draw);
      draw_bytes(draw, k, sizeof k);
      set(kernel, 1, sizeof k, k);
      set(kernel, 2, sizeof l, &l);
      model_bytes((uint8_t *)words, &range, twist, k, l);
      break;
    }
    case KERNELS: break;
  }
  /* A copy of the kernel has its arguments, and keeps them whatever is set in the kernel later. */
  cl_kernel copy = NULL;
  if (draw_chance(draw, 15) && !(name == EITHER && !others && deviates(CLONES_WITHOUT_BUFFER))) {
    cl_int cloned = 1;
    copy = clCloneKernel(kernel, &cloned);
    note_status(cloned, CL_SUCCESS, "%u clone kernel %s", world->step, NAMES[name]);
  }
  bool shifted = range.offset[0] || range.offset[1] || range.offset[2];
  command_seal(&command);
  cl_int status = clEnqueueNDRangeKernel(command.queue->handle, copy ? copy : kernel, range.dimensions,
                                         shifted ? range.offset : NULL, range.global, local, command.wait_count,
                                         command.list, command.event);
  if (copy) clReleaseKernel(copy);
  command_end(&command, CL_COMMAND_NDRANGE_KERNEL, status, "%s b%u and b%u items %zux%zux%zu at %zu %zu %zu",
              NAMES[name], a->number, b ? b->number : a->number, range.global[0], range.global[1], range.global[2],
              range.offset[0], range.offset[1], range.offset[2]);
}
