#include "device.h"

#include <stdlib.h>

#include "status.h"

/* More platforms and devices than a machine has; what is beyond them is not looked at. */
enum { PLATFORMS_MAX = 16, DEVICES_MAX = 64 };

struct device device_open(unsigned index) {
  cl_platform_id platforms[PLATFORMS_MAX];
  cl_uint platform_count = 0;
  check(clGetPlatformIDs(PLATFORMS_MAX, platforms, &platform_count), "clGetPlatformIDs");
  if (platform_count > PLATFORMS_MAX) platform_count = PLATFORMS_MAX;

  unsigned before = 0;
  for (cl_uint p = 0; p < platform_count; p++) {
    cl_device_id devices[DEVICES_MAX];
    cl_uint count = 0;
    cl_int status = clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, DEVICES_MAX, devices, &count);
    if (status == CL_DEVICE_NOT_FOUND) continue; /* A driver without its hardware. */
    check(status, "clGetDeviceIDs");
    if (count > DEVICES_MAX) count = DEVICES_MAX;
    if (index - before >= count) {
      before += count;
      continue;
    }
    struct device device = {.id = devices[index - before]};
    check(clGetDeviceInfo(device.id, CL_DEVICE_NAME, sizeof device.name, device.name, NULL), "clGetDeviceInfo");
    cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platforms[p], 0};
    device.context = clCreateContext(properties, 1, &device.id, NULL, NULL, &status);
    check(status, "clCreateContext");
    return device;
  }
  die("there is no OpenCL device %u, there are %u", index, before);
}

void device_close(struct device *device) { check(clReleaseContext(device->context), "clReleaseContext"); }

cl_program device_build(const struct device *device, const char *source, const char *options) {
  cl_int status;
  cl_program program = clCreateProgramWithSource(device->context, 1, &source, NULL, &status);
  check(status, "clCreateProgramWithSource");
  status = clBuildProgram(program, 1, &device->id, options, NULL, NULL);
  if (status == CL_SUCCESS) return program;

  size_t length = 0;
  clGetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &length);
  char *log = allocate(length + 1);
  clGetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, length, log, NULL);
  log[length] = 0;
  die("clBuildProgram: %s\n%s", status_name(status), log);
}

cl_command_queue device_queue(const struct device *device, cl_command_queue_properties properties) {
  cl_int status;
  cl_command_queue queue = clCreateCommandQueue(device->context, device->id, properties, &status);
  check(status, "clCreateCommandQueue");
  return queue;
}

cl_mem device_buffer(const struct device *device, cl_mem_flags flags, size_t bytes) {
  cl_int status;
  cl_mem buffer = clCreateBuffer(device->context, flags, bytes, NULL, &status);
  check(status, "clCreateBuffer");
  return buffer;
}

cl_kernel device_kernel(cl_program program, const char *name) {
  cl_int status;
  cl_kernel kernel = clCreateKernel(program, name, &status);
  check(status, name);
  return kernel;
}
