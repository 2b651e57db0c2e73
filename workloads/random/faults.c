/* Planted bugs: an OpenCL layer that spoils one thing of the implementation below it, so that it can be seen that the
 * random programs find such a bug.
 *
 *     OPENCL_LAYERS=$PWD/libfaults.so FAULT=lost_callback random --seed 1
 *
 * FAULT names the bug; without it, or with "none", the layer passes everything on. See BUGS for the names. */
#include <CL/cl_layer.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const cl_icd_dispatch *below;
static cl_icd_dispatch table;

/* True for every n-th call: most bugs do not show each time. */
static bool nth(unsigned n) {
  static unsigned calls;
  return ++calls % n == 0;
}

static cl_int CL_API_CALL wrong_code(cl_kernel kernel, cl_uint index, size_t bytes, const void *value) {
  cl_int status = below->clSetKernelArg(kernel, index, bytes, value);
  return status == CL_INVALID_ARG_SIZE ? CL_INVALID_ARG_VALUE : status;
}

static cl_int CL_API_CALL spoiled_argument(cl_kernel kernel, cl_uint index, size_t bytes, const void *value) {
  const uint32_t other = 1;
  return below->clSetKernelArg(kernel, index, bytes, bytes == 4 && value && nth(3) ? &other : value);
}

static cl_int CL_API_CALL short_write(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                      size_t bytes, const void *from, cl_uint waits, const cl_event *list,
                                      cl_event *event) {
  if (bytes > 1 && nth(4)) bytes--;
  return below->clEnqueueWriteBuffer(queue, buffer, blocking, offset, bytes, from, waits, list, event);
}

/* Two milliseconds later. */
static void *open_late(void *event) {
  nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
  below->clSetUserEventStatus(event, CL_COMPLETE);
  below->clReleaseEvent(event);
  return NULL;
}

/* A blocking write that waits for nothing returns before its data are taken. */
static cl_int CL_API_CALL early_write(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                      size_t bytes, const void *from, cl_uint waits, const cl_event *list,
                                      cl_event *event) {
  cl_context context = NULL;
  below->clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
  if (!blocking || waits > 0 || list || !context) {
    return below->clEnqueueWriteBuffer(queue, buffer, blocking, offset, bytes, from, waits, list, event);
  }
  cl_event gate = below->clCreateUserEvent(context, NULL);
  cl_int status = below->clEnqueueWriteBuffer(queue, buffer, CL_FALSE, offset, bytes, from, 1, &gate, event);
  pthread_t thread;
  if (pthread_create(&thread, NULL, open_late, gate)) abort();
  pthread_detach(thread);
  return status;
}

static cl_int CL_API_CALL lost_wait(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                    size_t bytes, const void *from, cl_uint waits, const cl_event *list,
                                    cl_event *event) {
  (void)waits;
  (void)list;
  return below->clEnqueueWriteBuffer(queue, buffer, blocking, offset, bytes, from, 0, NULL, event);
}

static cl_int CL_API_CALL stale_read(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                     size_t bytes, void *to, cl_uint waits, const cl_event *list, cl_event *event) {
  if (nth(4)) bytes -= bytes / 2;
  return below->clEnqueueReadBuffer(queue, buffer, blocking, offset, bytes, to, waits, list, event);
}

static cl_int CL_API_CALL unchecked_access(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                           size_t bytes, void *to, cl_uint waits, const cl_event *list,
                                           cl_event *event) {
  cl_int status = below->clEnqueueReadBuffer(queue, buffer, blocking, offset, bytes, to, waits, list, event);
  return status == CL_INVALID_OPERATION ? CL_SUCCESS : status;
}

static cl_int CL_API_CALL flat_rect(cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t *there,
                                    const size_t *here, const size_t *region, size_t row, size_t slice,
                                    size_t host_row, size_t host_slice, void *to, cl_uint waits, const cl_event *list,
                                    cl_event *event) {
  size_t first[3] = {region[0], region[1], region[2] ? 1 : 0};
  return below->clEnqueueReadBufferRect(queue, buffer, blocking, there, here, first, row, slice, host_row, host_slice,
                                        to, waits, list, event);
}

static cl_int CL_API_CALL short_pattern(cl_command_queue queue, cl_mem buffer, const void *pattern, size_t size,
                                        size_t offset, size_t bytes, cl_uint waits, const cl_event *list,
                                        cl_event *event) {
  if (size == 128) size = 64;
  return below->clEnqueueFillBuffer(queue, buffer, pattern, size, offset, bytes, waits, list, event);
}

static void *CL_API_CALL map_from_start(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags,
                                        size_t offset, size_t bytes, cl_uint waits, const cl_event *list,
                                        cl_event *event, cl_int *status) {
  if (flags & CL_MAP_READ && offset + bytes < 4096) offset = 0;
  return below->clEnqueueMapBuffer(queue, buffer, blocking, flags, offset, bytes, waits, list, event, status);
}

static cl_mem CL_API_CALL sub_buffer_from_start(cl_mem parent, cl_mem_flags flags, cl_buffer_create_type type,
                                                const void *region, cl_int *status) {
  if (!region) return below->clCreateSubBuffer(parent, flags, type, region, status);
  cl_buffer_region moved = {0, ((const cl_buffer_region *)region)->size};
  return below->clCreateSubBuffer(parent, flags, type, &moved, status);
}

static cl_int CL_API_CALL lost_offset(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                      const size_t *offset, const size_t *global, const size_t *local, cl_uint waits,
                                      const cl_event *list, cl_event *event) {
  (void)offset;
  return below->clEnqueueNDRangeKernel(queue, kernel, dimensions, NULL, global, local, waits, list, event);
}

static cl_int CL_API_CALL lost_barrier(cl_command_queue queue, cl_uint waits, const cl_event *list, cl_event *event) {
  cl_event own = NULL;
  cl_int status = below->clEnqueueMarkerWithWaitList(queue, waits, list, event ? event : &own);
  if (own) below->clReleaseEvent(own);
  return status;
}

static cl_int CL_API_CALL early_finish(cl_command_queue queue) { return below->clFlush(queue); }

typedef void(CL_CALLBACK *event_callback)(cl_event, cl_int, void *);

static cl_int CL_API_CALL lost_callback(cl_event event, cl_int at, event_callback call, void *data) {
  return call && nth(3) ? CL_SUCCESS : below->clSetEventCallback(event, at, call, data);
}

static cl_int CL_API_CALL second_callback(cl_event event, cl_int at, event_callback call, void *data) {
  if (call && at == CL_COMPLETE) below->clSetEventCallback(event, at, call, data);
  return below->clSetEventCallback(event, at, call, data);
}

static cl_int CL_API_CALL lost_failure(cl_event event, cl_int status) {
  return below->clSetUserEventStatus(event, status < 0 ? CL_COMPLETE : status);
}

static cl_int CL_API_CALL wrong_type(cl_event event, cl_event_info what, size_t bytes, void *value, size_t *told) {
  cl_int status = below->clGetEventInfo(event, what, bytes, value, told);
  if (what == CL_EVENT_COMMAND_TYPE && status == CL_SUCCESS && value) {
    cl_command_type *type = value;
    if (*type == CL_COMMAND_COPY_BUFFER_RECT) *type = CL_COMMAND_COPY_BUFFER;
  }
  return status;
}

static cl_int CL_API_CALL crossed_times(cl_event event, cl_profiling_info what, size_t bytes, void *value,
                                        size_t *told) {
  if (what == CL_PROFILING_COMMAND_SUBMIT) {
    what = CL_PROFILING_COMMAND_START;
  } else if (what == CL_PROFILING_COMMAND_START) {
    what = CL_PROFILING_COMMAND_SUBMIT;
  }
  return below->clGetEventProfilingInfo(event, what, bytes, value, told);
}

static cl_int CL_API_CALL lost_destructor(cl_mem buffer, void(CL_CALLBACK *call)(cl_mem, void *), void *data) {
  return call && nth(3) ? CL_SUCCESS : below->clSetMemObjectDestructorCallback(buffer, call, data);
}

static cl_int CL_API_CALL wrong_flags(cl_mem buffer, cl_mem_info what, size_t bytes, void *value, size_t *told) {
  cl_int status = below->clGetMemObjectInfo(buffer, what, bytes, value, told);
  if (what == CL_MEM_FLAGS && status == CL_SUCCESS && value) {
    *(cl_mem_flags *)value &= ~(cl_mem_flags)CL_MEM_ALLOC_HOST_PTR;
  }
  return status;
}

/* All options of a build are taken for "". */
static cl_int CL_API_CALL lost_options(cl_program program, cl_uint devices, const cl_device_id *list,
                                       const char *options, void(CL_CALLBACK *call)(cl_program, void *), void *data) {
  return below->clBuildProgram(program, devices, list, options && strstr(options, "TWIST") ? "" : options, call, data);
}

#define BUG(name, entry) \
  { #name, offsetof(cl_icd_dispatch, entry), (void (*)(void))name }

static const struct {
  const char *name;
  size_t entry; /* In the table, in bytes. */
  void (*function)(void);
} BUGS[] = {
    BUG(wrong_code, clSetKernelArg),
    BUG(spoiled_argument, clSetKernelArg),
    BUG(short_write, clEnqueueWriteBuffer),
    BUG(early_write, clEnqueueWriteBuffer),
    BUG(lost_wait, clEnqueueWriteBuffer),
    BUG(stale_read, clEnqueueReadBuffer),
    BUG(unchecked_access, clEnqueueReadBuffer),
    BUG(flat_rect, clEnqueueReadBufferRect),
    BUG(short_pattern, clEnqueueFillBuffer),
    BUG(map_from_start, clEnqueueMapBuffer),
    BUG(sub_buffer_from_start, clCreateSubBuffer),
    BUG(lost_offset, clEnqueueNDRangeKernel),
    BUG(lost_barrier, clEnqueueBarrierWithWaitList),
    BUG(early_finish, clFinish),
    BUG(lost_callback, clSetEventCallback),
    BUG(second_callback, clSetEventCallback),
    BUG(lost_failure, clSetUserEventStatus),
    BUG(wrong_type, clGetEventInfo),
    BUG(crossed_times, clGetEventProfilingInfo),
    BUG(lost_destructor, clSetMemObjectDestructorCallback),
    BUG(wrong_flags, clGetMemObjectInfo),
    BUG(lost_options, clBuildProgram),
};

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t bytes, void *value, size_t *told) {
  static const cl_layer_api_version VERSION = CL_LAYER_API_VERSION_100;
  static const char NAME[] = "faults";
  const void *from = what == CL_LAYER_API_VERSION ? (const void *)&VERSION : NAME;
  size_t size = what == CL_LAYER_API_VERSION ? sizeof VERSION : sizeof NAME;
  if (what != CL_LAYER_API_VERSION && what != CL_LAYER_NAME) return CL_INVALID_VALUE;
  if (value && bytes < size) return CL_INVALID_VALUE;
  if (value) memcpy(value, from, size);
  if (told) *told = size;
  return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint entries, const cl_icd_dispatch *target, cl_uint *entries_told,
                                            const cl_icd_dispatch **layer) {
  if (!target || !entries_told || !layer) return CL_INVALID_VALUE;
  if (entries < sizeof table / sizeof(void *)) return CL_INVALID_VALUE;
  below = target;
  table = *target;
  const char *fault = getenv("FAULT");
  bool known = !fault || strcmp(fault, "none") == 0;
  for (size_t i = 0; i < sizeof BUGS / sizeof *BUGS && !known; i++) {
    if (strcmp(fault, BUGS[i].name) != 0) continue;
    memcpy((char *)&table + BUGS[i].entry, &BUGS[i].function, sizeof BUGS[i].function);
    known = true;
  }
  if (!known) {
    fprintf(stderr, "error: FAULT=%s is none of:", fault);
    for (size_t i = 0; i < sizeof BUGS / sizeof *BUGS; i++) fprintf(stderr, " %s", BUGS[i].name);
    fputc('\n', stderr);
    exit(2);
  }
  *layer = &table;
  *entries_told = sizeof table / sizeof(void *);
  return CL_SUCCESS;
}
