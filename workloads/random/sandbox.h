/* The objects that calls with wrong arguments are made on, and what those calls are written with. */
#ifndef RANDOM_SANDBOX_H
#define RANDOM_SANDBOX_H

#include <CL/cl.h>
#include <stdbool.h>
#include <stdint.h>

enum { SANDBOX_BYTES = 8192, SUB_ORIGIN = 1024, SUB_BYTES = 1024 };

struct probes {
  bool all_of_standard;
  cl_platform_id platform;
  cl_device_id device;
  cl_context context, other_context;
  cl_command_queue queue;       /* In-order, with times. */
  cl_command_queue plain;       /* In-order, without. */
  cl_command_queue loose;       /* Out-of-order, with times. */
  cl_command_queue other_queue; /* Of the other context. */
  cl_mem buffer, other_buffer;
  cl_mem write_only, read_only, no_access; /* For the host. */
  cl_mem sub;                   /* Of `buffer`. */
  cl_program program;           /* Built, and with kernels. */
  cl_program unbuilt, other_program;
  cl_kernel add, axpy, reverse; /* With arguments. */
  cl_kernel unset;              /* Without. */
  cl_kernel other_add;
  cl_event done;                /* Of a write that is complete. */
  cl_event untimed;             /* The same, of the queue without times. */
  cl_event gate;                /* A user event that is not set. */
  cl_event waiting;             /* A write that waits for it. */
  cl_event set, failed;         /* User events that are. */
  cl_event after_failure;       /* A marker that waits for the failed one. */
  cl_event other_event;         /* A user event of the other context, complete. */
  uint8_t *memory;              /* SANDBOX_BYTES of the host. */
};

/* The status that a call leaves, which makes an object and should not: if it does, the object is released. */
#define MADE(release, call) \
  __extension__({ \
    cl_int status = 1234; \
    __auto_type made = (call); \
    if (made) release(made); \
    (status == CL_SUCCESS) == (made != NULL) ? status : 4321; \
  })

/* The same, of calls that are asked for no status: the fault shows in there being no object. */
#define NOTHING(release, call) \
  __extension__({ \
    __auto_type made = (call); \
    if (made) release(made); \
    made ? CL_SUCCESS : CL_INVALID_VALUE; \
  })

/* Results that nobody looks at. */
static inline char *text_of_one_byte(void) {
  static _Thread_local char text[1];
  return text;
}

/* Several calls that end in one with a fault; see sandbox.c. */
cl_int build_rubbish(const struct probes *s);
cl_int build_with_kernels(const struct probes *s);
cl_int compile_rubbish(const struct probes *s);
cl_int compile_without_header(const struct probes *s);
cl_int link_rubbish(const struct probes *s);
cl_int link_uncompiled(const struct probes *s);
cl_int link_unresolved(const struct probes *s);
cl_int kernel_of_failed_build(const struct probes *s);
cl_int kernel_of_library(const struct probes *s);
cl_int info_of_kernels_before_build(const struct probes *s);
cl_int binary_of_rubbish(const struct probes *s);
cl_int binary_without_bytes(const struct probes *s);
cl_int user_event_set_twice(const struct probes *s);
cl_int user_event_set_to(const struct probes *s, cl_int status);
cl_int unmap_after(const struct probes *s, cl_uint waits, const cl_event *list);
cl_int unmap_twice(const struct probes *s);
cl_int unmap_through_another_buffer(const struct probes *s);
cl_int misaligned_origin(const struct probes *s);
cl_int too_large_buffer(const struct probes *s);
cl_int too_large_group(const struct probes *s);
cl_int overflowing_offset(const struct probes *s);

#endif
