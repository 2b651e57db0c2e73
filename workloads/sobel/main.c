/* Sobel's edge detector on an OpenCL device, after Spector: each iteration writes an image, runs the kernel and reads
 * the edges, and waits for each of the three. The result is compared with plain C. */
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
#include "sobel.cl.inc"
    ;

/* The kernel's. */
enum { GROUP_X = 32, GROUP_Y = 8, WINDOW = 4 };

struct size {
  uint64_t width, height;
};

static bool read_size(const char *text, void *to) {
  struct size *size = to;
  char width[8] = "";
  const char *x = strchr(text, 'x');
  if (!x || x == text || (size_t)(x - text) >= sizeof width) return false;
  memcpy(width, text, (size_t)(x - text));
  return args_number(width, 10, 1920, &size->width) && args_number(x + 1, 10, 1080, &size->height);
}

static size_t round_up(size_t number, size_t multiple) { return (number + multiple - 1) / multiple * multiple; }

static int luma(uint32_t pixel) {
  return (int)(((pixel >> 16 & 0xff) * 66 + (pixel >> 8 & 0xff) * 129 + (pixel & 0xff) * 25 + 128) >> 8) + 16;
}

/* True if `edges` are those of `image`, computed pixel by pixel. */
static bool matches(const uint32_t *image, const uint32_t *edges, int width, int height) {
  /* The image with a border of black pixels. */
  size_t row = (size_t)width + 2;
  int *grey = allocate(row * ((size_t)height + 2) * sizeof *grey);
  for (size_t i = 0; i < row * ((size_t)height + 2); i++) grey[i] = luma(0);
  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width; x++) grey[(size_t)(y + 1) * row + (size_t)x + 1] = luma(image[y * width + x]);
  }
  bool same = true;
  for (int y = 0; y < height && same; y++) {
    for (int x = 0; x < width && same; x++) {
      const int *up = grey + (size_t)y * row + x, *mid = up + row, *low = mid + row;
      int gx = up[2] + 2 * mid[2] + low[2] - up[0] - 2 * mid[0] - low[0];
      int gy = low[0] + 2 * low[1] + low[2] - up[0] - 2 * up[1] - up[2];
      int sum = abs(gx) + abs(gy);
      uint32_t edge = (uint32_t)(sum < 255 ? sum : 255) * 0x010101u;
      if (edges[y * width + x] != edge) {
        fprintf(stderr, "sobel: pixel %d,%d is %#x and should be %#x\n", x, y, edges[y * width + x], edge);
        same = false;
      }
    }
  }
  free(grey);
  return same;
}

int main(int argc, char **argv) {
  struct size size = {1920, 1080};
  const struct own_option own[] = {
      {"size", "WxH         of the image, 10x10 to 1920x1080 [default: 1920x1080]", read_size, &size}, {0}};
  const struct args args = args_read(argc, argv, "Sobel's edge detector on an OpenCL device.", own);
  const cl_int width = (cl_int)size.width, height = (cl_int)size.height;
  const size_t pixels = size.width * size.height, bytes = pixels * sizeof(uint32_t);

  struct device device = device_open(args.device);
  cl_command_queue queue = device_queue(&device, 0);
  cl_program program = device_build(&device, SOURCE, "");
  cl_kernel kernel = device_kernel(program, "sobel");
  cl_mem image_buffer = device_buffer(&device, CL_MEM_READ_ONLY, bytes);
  cl_mem edges_buffer = device_buffer(&device, CL_MEM_WRITE_ONLY, bytes);
  check(clSetKernelArg(kernel, 0, sizeof image_buffer, &image_buffer), "clSetKernelArg");
  check(clSetKernelArg(kernel, 1, sizeof edges_buffer, &edges_buffer), "clSetKernelArg");
  check(clSetKernelArg(kernel, 2, sizeof width, &width), "clSetKernelArg");
  check(clSetKernelArg(kernel, 3, sizeof height, &height), "clSetKernelArg");
  const size_t local[2] = {GROUP_X, GROUP_Y};
  const size_t global[2] = {round_up(size.width, GROUP_X * WINDOW) / WINDOW, round_up(size.height, GROUP_Y)};

  uint32_t *image = allocate(bytes), *edges = allocate(bytes);
  struct draw draw = {args.seed};
  draw_bytes(&draw, image, bytes);
  memset(edges, 0xa5, bytes);

  char shape[64];
  snprintf(shape, sizeof shape, "\"width\":%d,\"height\":%d", width, height);
  struct run run = run_begin("sobel", shape, &args);
  while (run_next(&run)) {
    /* Another row each time, so that a result of an earlier iteration is a wrong one. */
    draw_bytes(&draw, image + run.iteration % size.height * size.width, size.width * sizeof *image);
    run_start(&run);
    check(clEnqueueWriteBuffer(queue, image_buffer, CL_TRUE, 0, bytes, image, 0, NULL, NULL), "clEnqueueWriteBuffer");
    run_lap(&run, "write");
    check(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, local, 0, NULL, NULL), "clEnqueueNDRangeKernel");
    check(clFinish(queue), "clFinish");
    run_lap(&run, "kernel");
    check(clEnqueueReadBuffer(queue, edges_buffer, CL_TRUE, 0, bytes, edges, 0, NULL, NULL), "clEnqueueReadBuffer");
    run_lap(&run, "read");
    run_done(&run, !run_checks(&run) || matches(image, edges, width, height));
  }

  free(image);
  free(edges);
  check(clReleaseMemObject(image_buffer), "clReleaseMemObject");
  check(clReleaseMemObject(edges_buffer), "clReleaseMemObject");
  check(clReleaseKernel(kernel), "clReleaseKernel");
  check(clReleaseProgram(program), "clReleaseProgram");
  check(clReleaseCommandQueue(queue), "clReleaseCommandQueue");
  device_close(&device);
  return run_end(&run);
}
