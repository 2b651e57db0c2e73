#include "status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define NAME(code) \
  case CL_##code: return #code

const char *status_name(cl_int status) {
  static _Thread_local char unknown[32];
  switch (status) {
    NAME(SUCCESS);
    NAME(DEVICE_NOT_FOUND);
    NAME(DEVICE_NOT_AVAILABLE);
    NAME(COMPILER_NOT_AVAILABLE);
    NAME(MEM_OBJECT_ALLOCATION_FAILURE);
    NAME(OUT_OF_RESOURCES);
    NAME(OUT_OF_HOST_MEMORY);
    NAME(PROFILING_INFO_NOT_AVAILABLE);
    NAME(MEM_COPY_OVERLAP);
    NAME(IMAGE_FORMAT_MISMATCH);
    NAME(IMAGE_FORMAT_NOT_SUPPORTED);
    NAME(BUILD_PROGRAM_FAILURE);
    NAME(MAP_FAILURE);
    NAME(MISALIGNED_SUB_BUFFER_OFFSET);
    NAME(EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    NAME(COMPILE_PROGRAM_FAILURE);
    NAME(LINKER_NOT_AVAILABLE);
    NAME(LINK_PROGRAM_FAILURE);
    NAME(DEVICE_PARTITION_FAILED);
    NAME(KERNEL_ARG_INFO_NOT_AVAILABLE);
    NAME(INVALID_VALUE);
    NAME(INVALID_DEVICE_TYPE);
    NAME(INVALID_PLATFORM);
    NAME(INVALID_DEVICE);
    NAME(INVALID_CONTEXT);
    NAME(INVALID_QUEUE_PROPERTIES);
    NAME(INVALID_COMMAND_QUEUE);
    NAME(INVALID_HOST_PTR);
    NAME(INVALID_MEM_OBJECT);
    NAME(INVALID_IMAGE_FORMAT_DESCRIPTOR);
    NAME(INVALID_IMAGE_SIZE);
    NAME(INVALID_SAMPLER);
    NAME(INVALID_BINARY);
    NAME(INVALID_BUILD_OPTIONS);
    NAME(INVALID_PROGRAM);
    NAME(INVALID_PROGRAM_EXECUTABLE);
    NAME(INVALID_KERNEL_NAME);
    NAME(INVALID_KERNEL_DEFINITION);
    NAME(INVALID_KERNEL);
    NAME(INVALID_ARG_INDEX);
    NAME(INVALID_ARG_VALUE);
    NAME(INVALID_ARG_SIZE);
    NAME(INVALID_KERNEL_ARGS);
    NAME(INVALID_WORK_DIMENSION);
    NAME(INVALID_WORK_GROUP_SIZE);
    NAME(INVALID_WORK_ITEM_SIZE);
    NAME(INVALID_GLOBAL_OFFSET);
    NAME(INVALID_EVENT_WAIT_LIST);
    NAME(INVALID_EVENT);
    NAME(INVALID_OPERATION);
    NAME(INVALID_GL_OBJECT);
    NAME(INVALID_BUFFER_SIZE);
    NAME(INVALID_MIP_LEVEL);
    NAME(INVALID_GLOBAL_WORK_SIZE);
    NAME(INVALID_PROPERTY);
    NAME(INVALID_IMAGE_DESCRIPTOR);
    NAME(INVALID_COMPILER_OPTIONS);
    NAME(INVALID_LINKER_OPTIONS);
    NAME(INVALID_DEVICE_PARTITION_COUNT);
    case -1001: return "PLATFORM_NOT_FOUND_KHR";
    default: snprintf(unknown, sizeof unknown, "status %d", status); return unknown;
  }
}

void check(cl_int status, const char *call) {
  if (status != CL_SUCCESS) die("%s: %s", call, status_name(status));
}

void die(const char *format, ...) {
  va_list args;
  fflush(stdout);
  fputs("error: ", stderr);
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fputc('\n', stderr);
  exit(1);
}

void *allocate(size_t bytes) {
  void *memory = NULL;
  if (posix_memalign(&memory, 4096, bytes ? bytes : 1)) die("no memory for %zu bytes", bytes);
  return memory;
}
