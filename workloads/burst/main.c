/* Bursts of work on an OpenCL device: each iteration writes values, runs a kernel on them several times and reads them,
 * and waits but once, at its end. So a burst is one task, whatever its length; with a depth, several are under way at
 * any time. The values are compared with plain C. */
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

#include "args.h"
#include "device.h"
#include "draw.h"
#include "run.h"
#include "status.h"

static const char SOURCE[] =
#include "burst.cl.inc"
    ;

enum { VALUES = 1024, LAUNCHES_MAX = 1000, DEPTH_MAX = 64 };

static bool read_launches(const char *text, void *to) { return args_number(text, 1, LAUNCHES_MAX, to); }

static bool read_depth(const char *text, void *to) { return args_number(text, 1, DEPTH_MAX, to); }

/* What a burst needs of its own, since the next may begin before it ends. */
struct burst {
  cl_mem buffer;
  cl_kernel kernel;
  cl_event done; /* NULL before the first. */
  uint32_t before[VALUES], after[VALUES];
};

static void burst_open(struct burst *burst, const struct device *device, cl_program program) {
  burst->buffer = device_buffer(device, CL_MEM_READ_WRITE, sizeof burst->before);
  burst->kernel = device_kernel(program, "advance");
  burst->done = NULL;
  check(clSetKernelArg(burst->kernel, 0, sizeof burst->buffer, &burst->buffer), "clSetKernelArg");
}

static void burst_close(struct burst *burst) {
  check(clReleaseMemObject(burst->buffer), "clReleaseMemObject");
  check(clReleaseKernel(burst->kernel), "clReleaseKernel");
}

static void burst_begin(struct burst *burst, cl_command_queue queue, uint64_t launches, struct draw *draw) {
  const size_t global = VALUES;
  draw_bytes(draw, burst->before, sizeof burst->before);
  check(clEnqueueWriteBuffer(queue, burst->buffer, CL_FALSE, 0, sizeof burst->before, burst->before, 0, NULL, NULL),
        "clEnqueueWriteBuffer");
  for (uint64_t i = 0; i < launches; i++) {
    check(clEnqueueNDRangeKernel(queue, burst->kernel, 1, NULL, &global, NULL, 0, NULL, NULL),
          "clEnqueueNDRangeKernel");
  }
  check(clEnqueueReadBuffer(queue, burst->buffer, CL_FALSE, 0, sizeof burst->after, burst->after, 0, NULL,
                            &burst->done),
        "clEnqueueReadBuffer");
  check(clFlush(queue), "clFlush");
}

static void burst_end(struct burst *burst) {
  check(clWaitForEvents(1, &burst->done), "clWaitForEvents");
  check(clReleaseEvent(burst->done), "clReleaseEvent");
  burst->done = NULL;
}

static bool matches(const struct burst *burst, uint64_t launches) {
  for (int i = 0; i < VALUES; i++) {
    uint32_t value = burst->before[i];
    for (uint64_t l = 0; l < launches; l++) value = value * 1664525u + 1013904223u;
    if (burst->after[i] != value) {
      fprintf(stderr, "burst: value %d is %#x and should be %#x\n", i, burst->after[i], value);
      return false;
    }
  }
  return true;
}

int main(int argc, char **argv) {
  uint64_t launches = 1, depth = 1;
  const struct own_option own[] = {
      {"launches", "N       of the kernel in each iteration, 1 to 1000 [default: 1]", read_launches, &launches},
      {"depth", "N          iterations under way at a time, 1 to 64 [default: 1]", read_depth, &depth},
      {0}};
  const struct args args = args_read(argc, argv, "Bursts of work on an OpenCL device, each of them one task.", own);
  if (args.serve) depth = 1; /* An answer belongs to the line before it. */

  struct device device = device_open(args.device);
  cl_command_queue queue = device_queue(&device, 0);
  cl_program program = device_build(&device, SOURCE, "");
  struct burst *bursts = allocate(depth * sizeof *bursts);
  for (uint64_t i = 0; i < depth; i++) burst_open(&bursts[i], &device, program);
  struct draw draw = {args.seed};
  /* All but one: each iteration begins another and ends the oldest. */
  for (uint64_t i = 0; i + 1 < depth; i++) burst_begin(&bursts[i], queue, launches, &draw);

  char shape[64];
  snprintf(shape, sizeof shape, "\"launches\":%u,\"depth\":%u", (unsigned)launches, (unsigned)depth);
  struct run run = run_begin("burst", shape, &args);
  while (run_next(&run)) {
    struct burst *oldest = &bursts[run.iteration % depth];
    burst_begin(&bursts[(run.iteration + depth - 1) % depth], queue, launches, &draw);
    burst_end(oldest);
    run_lap(&run, "burst");
    run_done(&run, !run_checks(&run) || matches(oldest, launches));
  }

  check(clFinish(queue), "clFinish");
  for (uint64_t i = 0; i < depth; i++) {
    if (bursts[i].done) check(clReleaseEvent(bursts[i].done), "clReleaseEvent");
    burst_close(&bursts[i]);
  }
  free(bursts);
  check(clReleaseProgram(program), "clReleaseProgram");
  check(clReleaseCommandQueue(queue), "clReleaseCommandQueue");
  device_close(&device);
  return run_end(&run);
}
