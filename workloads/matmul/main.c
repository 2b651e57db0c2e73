/* Matrix multiplication on an OpenCL device, after Spector: each iteration writes two matrices, runs the kernel and
 * reads the product, and waits for each of the three. The result is compared with plain C: all of it if the matrices
 * are small, else rows drawn at random.
 *
 * The elements are small multiples of 1/8: all sums are exact in float, in whatever order a device forms them, so a
 * result is right or wrong to the last bit. */
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "device.h"
#include "draw.h"
#include "run.h"
#include "status.h"

static const char SOURCE[] =
#include "matmul.cl.inc"
    ;

enum {
  BLOCK = 16, LANES = 8, /* The kernel's. */
  CHECKED_N_MAX = 256, /* Up to here all rows are checked: 17 million products. */
  CHECKED_ROWS = 16,   /* Of larger matrices. */
};

static bool read_n(const char *text, void *to) {
  return args_number(text, BLOCK, 4096, to) && *(uint64_t *)to % BLOCK == 0;
}

/* Multiples of 1/8 from -1 to 1: 4096 products of them need 19 bits of the 24. */
static void fill(struct draw *draw, float *to, size_t count) {
  for (size_t i = 0; i < count; i++) to[i] = (float)((int)draw_below(draw, 17) - 8) / 8;
}

/* True if the row of c is that of a * b. */
static bool row_matches(const float *a, const float *b, const float *c, size_t n, size_t row, float *sum) {
  memset(sum, 0, n * sizeof *sum);
  for (size_t k = 0; k < n; k++) {
    for (size_t j = 0; j < n; j++) sum[j] += a[row * n + k] * b[k * n + j];
  }
  for (size_t j = 0; j < n; j++) {
    if (c[row * n + j] != sum[j]) {
      fprintf(stderr, "matmul: element %zu,%zu is %g and should be %g\n", row, j, c[row * n + j], sum[j]);
      return false;
    }
  }
  return true;
}

static bool matches(struct draw *draw, const float *a, const float *b, const float *c, size_t n) {
  float *sum = allocate(n * sizeof *sum);
  size_t rows = n <= CHECKED_N_MAX ? n : CHECKED_ROWS;
  bool same = true;
  for (size_t i = 0; i < rows && same; i++) {
    same = row_matches(a, b, c, n, rows == n ? i : draw_below(draw, (uint32_t)n), sum);
  }
  free(sum);
  return same;
}

int main(int argc, char **argv) {
  uint64_t n = 512;
  const struct own_option own[] = {
      {"size", "N           rows of the matrices, a multiple of 16 from 16 to 4096 [default: 512]", read_n, &n}, {0}};
  const struct args args = args_read(argc, argv, "Matrix multiplication on an OpenCL device.", own);
  const cl_int width = (cl_int)n;
  const size_t bytes = n * n * sizeof(float);

  struct device device = device_open(args.device);
  cl_command_queue queue = device_queue(&device, 0);
  cl_program program = device_build(&device, SOURCE, "");
  cl_kernel kernel = device_kernel(program, "matmul");
  cl_mem a_buffer = device_buffer(&device, CL_MEM_READ_ONLY, bytes);
  cl_mem b_buffer = device_buffer(&device, CL_MEM_READ_ONLY, bytes);
  cl_mem c_buffer = device_buffer(&device, CL_MEM_WRITE_ONLY, bytes);
  check(clSetKernelArg(kernel, 0, sizeof a_buffer, &a_buffer), "clSetKernelArg");
  check(clSetKernelArg(kernel, 1, sizeof b_buffer, &b_buffer), "clSetKernelArg");
  check(clSetKernelArg(kernel, 2, sizeof c_buffer, &c_buffer), "clSetKernelArg");
  check(clSetKernelArg(kernel, 3, sizeof width, &width), "clSetKernelArg");
  const size_t global[2] = {n / LANES, n}, local[2] = {BLOCK / LANES, BLOCK};

  float *a = allocate(bytes), *b = allocate(bytes), *c = allocate(bytes);
  struct draw draw = {args.seed};
  fill(&draw, a, n * n);
  fill(&draw, b, n * n);
  memset(c, 0xff, bytes);

  char shape[32];
  snprintf(shape, sizeof shape, "\"n\":%d", width);
  struct run run = run_begin("matmul", shape, &args);
  while (run_next(&run)) {
    /* Another row of b each time changes all of c, so that a result of an earlier iteration is a wrong one. */
    fill(&draw, b + run.iteration % n * n, n);
    run_start(&run);
    check(clEnqueueWriteBuffer(queue, a_buffer, CL_TRUE, 0, bytes, a, 0, NULL, NULL), "clEnqueueWriteBuffer");
    check(clEnqueueWriteBuffer(queue, b_buffer, CL_TRUE, 0, bytes, b, 0, NULL, NULL), "clEnqueueWriteBuffer");
    run_lap(&run, "write");
    check(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, local, 0, NULL, NULL), "clEnqueueNDRangeKernel");
    check(clFinish(queue), "clFinish");
    run_lap(&run, "kernel");
    check(clEnqueueReadBuffer(queue, c_buffer, CL_TRUE, 0, bytes, c, 0, NULL, NULL), "clEnqueueReadBuffer");
    run_lap(&run, "read");
    run_done(&run, !run_checks(&run) || matches(&draw, a, b, c, n));
  }

  free(a);
  free(b);
  free(c);
  check(clReleaseMemObject(a_buffer), "clReleaseMemObject");
  check(clReleaseMemObject(b_buffer), "clReleaseMemObject");
  check(clReleaseMemObject(c_buffer), "clReleaseMemObject");
  check(clReleaseKernel(kernel), "clReleaseKernel");
  check(clReleaseProgram(program), "clReleaseProgram");
  check(clReleaseCommandQueue(queue), "clReleaseCommandQueue");
  device_close(&device);
  return run_end(&run);
}
