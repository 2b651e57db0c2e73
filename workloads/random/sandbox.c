#include "sandbox.h"

#include <stdlib.h>
#include <string.h>

#include "launch.h"
#include "probes.h"
#include "status.h"

static cl_mem buffer_of(cl_context context, cl_mem_flags flags) {
  cl_int status;
  cl_mem buffer = clCreateBuffer(context, flags, SANDBOX_BYTES, NULL, &status);
  check(status, "clCreateBuffer");
  return buffer;
}

static cl_program program_of(cl_context context, const char *source) {
  cl_int status;
  cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &status);
  check(status, "clCreateProgramWithSource");
  return program;
}

static cl_command_queue queue_of(cl_context context, cl_device_id device, cl_command_queue_properties properties) {
  cl_int status;
  cl_command_queue queue = clCreateCommandQueue(context, device, properties, &status);
  check(status, "clCreateCommandQueue");
  return queue;
}

static cl_event user_event_of(cl_context context, cl_int end) {
  cl_int status;
  cl_event event = clCreateUserEvent(context, &status);
  check(status, "clCreateUserEvent");
  if (end <= 0) check(clSetUserEventStatus(event, end), "clSetUserEventStatus");
  return event;
}

static cl_event write_of(const struct probes *s, cl_command_queue queue, cl_uint waits, const cl_event *list) {
  cl_event event;
  check(clEnqueueWriteBuffer(queue, s->buffer, CL_FALSE, 0, 64, s->memory, waits, list, &event),
        "clEnqueueWriteBuffer");
  return event;
}

struct probes *probes_open(const struct device *device, bool all_of_standard) {
  struct probes *s = allocate(sizeof *s);
  memset(s, 0, sizeof *s);
  s->all_of_standard = all_of_standard;
  s->device = device->id;
  s->memory = allocate(SANDBOX_BYTES);
  memset(s->memory, 1, SANDBOX_BYTES);
  check(clGetDeviceInfo(s->device, CL_DEVICE_PLATFORM, sizeof s->platform, &s->platform, NULL), "clGetDeviceInfo");
  s->context = device->context;
  cl_int status;
  s->other_context = clCreateContext(NULL, 1, &s->device, NULL, NULL, &status);
  check(status, "clCreateContext");

  s->queue = queue_of(s->context, s->device, CL_QUEUE_PROFILING_ENABLE);
  s->plain = queue_of(s->context, s->device, 0);
  s->loose = queue_of(s->context, s->device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE);
  s->other_queue = queue_of(s->other_context, s->device, 0);
  s->buffer = buffer_of(s->context, 0);
  s->other_buffer = buffer_of(s->other_context, 0);
  s->write_only = buffer_of(s->context, CL_MEM_HOST_WRITE_ONLY);
  s->read_only = buffer_of(s->context, CL_MEM_HOST_READ_ONLY);
  s->no_access = buffer_of(s->context, CL_MEM_HOST_NO_ACCESS);
  cl_buffer_region region = {SUB_ORIGIN, SUB_BYTES};
  s->sub = clCreateSubBuffer(s->buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &status);
  check(status, "clCreateSubBuffer");

  s->program = program_of(s->context, RANDOM_SOURCE);
  s->unbuilt = program_of(s->context, RANDOM_SOURCE);
  s->other_program = program_of(s->other_context, RANDOM_SOURCE);
  check(clBuildProgram(s->program, 1, &s->device, "-cl-kernel-arg-info", NULL, NULL), "clBuildProgram");
  check(clBuildProgram(s->other_program, 1, &s->device, "", NULL, NULL), "clBuildProgram");
  s->add = device_kernel(s->program, "add");
  s->axpy = device_kernel(s->program, "axpy");
  s->reverse = device_kernel(s->program, "reverse");
  s->unset = device_kernel(s->program, "add");
  s->other_add = device_kernel(s->other_program, "add");
  const cl_uint k = 3;
  check(clSetKernelArg(s->add, 0, sizeof s->buffer, &s->buffer), "clSetKernelArg");
  check(clSetKernelArg(s->add, 1, sizeof k, &k), "clSetKernelArg");
  check(clSetKernelArg(s->other_add, 0, sizeof s->other_buffer, &s->other_buffer), "clSetKernelArg");
  check(clSetKernelArg(s->other_add, 1, sizeof k, &k), "clSetKernelArg");
  check(clSetKernelArg(s->reverse, 0, sizeof s->buffer, &s->buffer), "clSetKernelArg");
  check(clSetKernelArg(s->reverse, 1, 64, NULL), "clSetKernelArg");

  s->done = write_of(s, s->queue, 0, NULL);
  s->untimed = write_of(s, s->plain, 0, NULL);
  check(clFinish(s->queue), "clFinish");
  check(clFinish(s->plain), "clFinish");
  s->gate = user_event_of(s->context, CL_SUBMITTED);
  s->waiting = write_of(s, s->loose, 1, &s->gate);
  s->set = user_event_of(s->context, CL_COMPLETE);
  s->failed = user_event_of(s->context, -7);
  check(clEnqueueMarkerWithWaitList(s->loose, 1, &s->failed, &s->after_failure), "clEnqueueMarkerWithWaitList");
  s->other_event = user_event_of(s->other_context, CL_COMPLETE);
  return s;
}

void probes_close(struct probes *s) {
  check(clSetUserEventStatus(s->gate, CL_COMPLETE), "clSetUserEventStatus");
  check(clFinish(s->queue), "clFinish");
  check(clFinish(s->plain), "clFinish");
  check(clWaitForEvents(1, &s->waiting), "clWaitForEvents");
  cl_event events[] = {s->done, s->untimed, s->gate, s->waiting, s->set, s->failed, s->after_failure, s->other_event};
  for (unsigned i = 0; i < sizeof events / sizeof *events; i++) check(clReleaseEvent(events[i]), "clReleaseEvent");
  cl_kernel kernels[] = {s->add, s->axpy, s->reverse, s->unset, s->other_add};
  for (unsigned i = 0; i < sizeof kernels / sizeof *kernels; i++) check(clReleaseKernel(kernels[i]), "clReleaseKernel");
  cl_program programs[] = {s->program, s->unbuilt, s->other_program};
  for (unsigned i = 0; i < sizeof programs / sizeof *programs; i++) {
    check(clReleaseProgram(programs[i]), "clReleaseProgram");
  }
  cl_mem buffers[] = {s->sub, s->buffer, s->other_buffer, s->write_only, s->read_only, s->no_access};
  for (unsigned i = 0; i < sizeof buffers / sizeof *buffers; i++) {
    check(clReleaseMemObject(buffers[i]), "clReleaseMemObject");
  }
  cl_command_queue queues[] = {s->queue, s->plain, s->loose, s->other_queue};
  for (unsigned i = 0; i < sizeof queues / sizeof *queues; i++) {
    check(clReleaseCommandQueue(queues[i]), "clReleaseCommandQueue");
  }
  check(clReleaseContext(s->other_context), "clReleaseContext");
  free(s->memory);
  free(s);
}

static const char RUBBISH[] = "__kernel void rubbish(__global uint *a) { this is none }\n";

cl_int build_rubbish(const struct probes *s) {
  cl_program program = program_of(s->context, RUBBISH);
  cl_int status = clBuildProgram(program, 1, &s->device, "", NULL, NULL);
  cl_build_status build = 1234;
  size_t bytes = 0;
  clGetProgramBuildInfo(program, s->device, CL_PROGRAM_BUILD_STATUS, sizeof build, &build, NULL);
  clGetProgramBuildInfo(program, s->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes);
  clReleaseProgram(program);
  /* The log says something, and the status knows of the failure. */
  return build == CL_BUILD_ERROR && bytes > 1 ? status : 4321;
}

cl_int build_with_kernels(const struct probes *s) {
  return clBuildProgram(s->program, 1, &s->device, "", NULL, NULL);
}

cl_int compile_rubbish(const struct probes *s) {
  cl_program program = program_of(s->context, RUBBISH);
  cl_int status = clCompileProgram(program, 1, &s->device, "", 0, NULL, NULL, NULL, NULL);
  clReleaseProgram(program);
  return status;
}

cl_int compile_without_header(const struct probes *s) {
  cl_program program =
      program_of(s->context, "#include \"nowhere.h\"\n__kernel void k(__global uint *a) { *a = 1; }\n");
  cl_int status = clCompileProgram(program, 1, &s->device, "", 0, NULL, NULL, NULL, NULL);
  clReleaseProgram(program);
  return status;
}

static cl_int link_one(const struct probes *s, cl_program program, const char *options) {
  cl_int status = 1234;
  cl_program linked = clLinkProgram(s->context, 1, &s->device, options, 1, &program, NULL, NULL, &status);
  if (linked) clReleaseProgram(linked);
  return status;
}

cl_int link_rubbish(const struct probes *s) {
  cl_program program = program_of(s->context, RANDOM_SOURCE);
  check(clCompileProgram(program, 1, &s->device, "", 0, NULL, NULL, NULL, NULL), "clCompileProgram");
  cl_int status = link_one(s, program, "-rubbish");
  clReleaseProgram(program);
  return status;
}

cl_int link_uncompiled(const struct probes *s) { return link_one(s, s->unbuilt, ""); }

cl_int link_unresolved(const struct probes *s) {
  cl_program program =
      program_of(s->context, "uint far(uint a);\n__kernel void k(__global uint *a) { *a = far(*a); }\n");
  check(clCompileProgram(program, 1, &s->device, "", 0, NULL, NULL, NULL, NULL), "clCompileProgram");
  cl_int status = link_one(s, program, "");
  clReleaseProgram(program);
  return status;
}

cl_int kernel_of_failed_build(const struct probes *s) {
  cl_program program = program_of(s->context, RUBBISH);
  clBuildProgram(program, 1, &s->device, "", NULL, NULL);
  cl_int result = MADE(clReleaseKernel, clCreateKernel(program, "rubbish", &status));
  clReleaseProgram(program);
  return result;
}

cl_int kernel_of_library(const struct probes *s) {
  cl_program program = program_of(s->context, RANDOM_SOURCE);
  check(clCompileProgram(program, 1, &s->device, "", 0, NULL, NULL, NULL, NULL), "clCompileProgram");
  cl_int result = MADE(clReleaseKernel, clCreateKernel(program, "add", &status));
  clReleaseProgram(program);
  return result;
}

cl_int info_of_kernels_before_build(const struct probes *s) {
  size_t count;
  return clGetProgramInfo(s->unbuilt, CL_PROGRAM_NUM_KERNELS, sizeof count, &count, NULL);
}

cl_int binary_of_rubbish(const struct probes *s) {
  const unsigned char *binary = (const unsigned char *)RUBBISH;
  const size_t bytes = sizeof RUBBISH;
  cl_int loaded = CL_SUCCESS, status = 1234;
  cl_program program = clCreateProgramWithBinary(s->context, 1, &s->device, &bytes, &binary, &loaded, &status);
  if (program) clReleaseProgram(program);
  /* The status of each device says the same. */
  return loaded == CL_INVALID_BINARY ? status : 4321;
}

cl_int binary_without_bytes(const struct probes *s) {
  const unsigned char *binary = (const unsigned char *)RUBBISH;
  const size_t bytes = 0;
  cl_int loaded;
  return MADE(clReleaseProgram,
              clCreateProgramWithBinary(s->context, 1, &s->device, &bytes, &binary, &loaded, &status));
}

cl_int user_event_set_twice(const struct probes *s) { return clSetUserEventStatus(s->set, CL_COMPLETE); }

cl_int user_event_set_to(const struct probes *s, cl_int end) { return clSetUserEventStatus(s->gate, end); }

static void *map(const struct probes *s) {
  cl_int status;
  void *pointer =
      clEnqueueMapBuffer(s->queue, s->buffer, CL_TRUE, CL_MAP_READ, 0, 64, 0, NULL, NULL, &status);
  check(status, "clEnqueueMapBuffer");
  return pointer;
}

cl_int unmap_after(const struct probes *s, cl_uint waits, const cl_event *list) {
  void *pointer = map(s);
  cl_int status = clEnqueueUnmapMemObject(s->queue, s->buffer, pointer, waits, list, NULL);
  if (status != CL_SUCCESS) {
    check(clEnqueueUnmapMemObject(s->queue, s->buffer, pointer, 0, NULL, NULL), "clEnqueueUnmapMemObject");
  }
  check(clFinish(s->queue), "clFinish");
  return status;
}

cl_int unmap_twice(const struct probes *s) {
  void *pointer = map(s);
  check(clEnqueueUnmapMemObject(s->queue, s->buffer, pointer, 0, NULL, NULL), "clEnqueueUnmapMemObject");
  check(clFinish(s->queue), "clFinish");
  return clEnqueueUnmapMemObject(s->queue, s->buffer, pointer, 0, NULL, NULL);
}

cl_int unmap_through_another_buffer(const struct probes *s) {
  void *pointer = map(s);
  cl_int status = clEnqueueUnmapMemObject(s->queue, s->read_only, pointer, 0, NULL, NULL);
  check(clEnqueueUnmapMemObject(s->queue, s->buffer, pointer, 0, NULL, NULL), "clEnqueueUnmapMemObject");
  check(clFinish(s->queue), "clFinish");
  return status;
}

static size_t alignment(const struct probes *s) {
  cl_uint bits = 0;
  clGetDeviceInfo(s->device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, NULL);
  return bits / 8;
}

cl_int misaligned_origin(const struct probes *s) {
  cl_buffer_region region = {alignment(s) / 2, 64};
  return MADE(clReleaseMemObject,
              clCreateSubBuffer(s->buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &status));
}

cl_int too_large_buffer(const struct probes *s) {
  cl_ulong most = 0;
  clGetDeviceInfo(s->device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL);
  return MADE(clReleaseMemObject, clCreateBuffer(s->context, 0, (size_t)most + 1, NULL, &status));
}

cl_int too_large_group(const struct probes *s) {
  size_t most = 0;
  clGetDeviceInfo(s->device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof most, &most, NULL);
  /* In two dimensions, none of which is too large for itself. */
  size_t local[2] = {most, 2};
  return clEnqueueNDRangeKernel(s->queue, s->add, 2, NULL, local, local, 0, NULL, NULL);
}

cl_int overflowing_offset(const struct probes *s) {
  size_t offset = SIZE_MAX, global = 16;
  return clEnqueueNDRangeKernel(s->queue, s->add, 1, &offset, &global, NULL, 0, NULL, NULL);
}
