/* Starts as a serverless function does: looks for a device, builds a program, runs a kernel on a few numbers and ends.
 * Prints after how many milliseconds of its life it had the device, how long the build took, and when the kernel was
 * done. For burst.sh. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { VALUES = 1024 };

static const char *SOURCE =
    "kernel void scale(global uint *v) { size_t i = get_global_id(0); v[i] = v[i] * 3 + (uint)i; }";

static double now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void check(cl_int code, const char *call) {
  if (code == CL_SUCCESS) return;
  fprintf(stderr, "start: %s: %d\n", call, code);
  exit(1);
}

int main(void) {
  const double born = now_ms();
  cl_platform_id platform;
  cl_device_id device;
  cl_int code;
  check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
  const double opened = now_ms();
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  check(code, "clCreateContext");
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
  check(code, "clCreateCommandQueue");
  const double building = now_ms();
  cl_program program = clCreateProgramWithSource(context, 1, &SOURCE, NULL, &code);
  check(code, "clCreateProgramWithSource");
  check(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
  cl_kernel kernel = clCreateKernel(program, "scale", &code);
  check(code, "clCreateKernel");
  const double built = now_ms();
  cl_uint values[VALUES];
  for (cl_uint i = 0; i < VALUES; i++) values[i] = i;
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof values, values, &code);
  check(code, "clCreateBuffer");
  check(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), "clSetKernelArg");
  const size_t global = VALUES;
  check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL), "clEnqueueNDRangeKernel");
  check(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof values, values, 0, NULL, NULL), "clEnqueueReadBuffer");
  const double done = now_ms();
  for (cl_uint i = 0; i < VALUES; i++) {
    if (values[i] == i * 3 + i) continue;
    fprintf(stderr, "start: value %u is %u\n", i, values[i]);
    return 1;
  }
  printf("%.1f %.1f %.1f\n", opened - born, built - building, done - born);
  return 0;
}
