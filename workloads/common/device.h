/* Finding a device and building a program for it. */
#ifndef WORKLOADS_DEVICE_H
#define WORKLOADS_DEVICE_H

#include <CL/cl.h>

struct device {
  cl_device_id id;
  cl_context context; /* Of this device alone. */
  char name[256];
};

/* Device number `index`, from 0, of all platforms' devices in the order in which the loader names them. Ends the
 * program if there are not so many. */
struct device device_open(unsigned index);

/* Releases the context. */
void device_close(struct device *device);

/* Builds OpenCL C for the device; ends the program with the compiler's messages if that fails. */
cl_program device_build(const struct device *device, const char *source, const char *options);

/* A queue of the device; `properties` as for clCreateCommandQueue. */
cl_command_queue device_queue(const struct device *device, cl_command_queue_properties properties);

/* A buffer of `bytes`; `flags` as for clCreateBuffer, without host memory. */
cl_mem device_buffer(const struct device *device, cl_mem_flags flags, size_t bytes);

/* A kernel of the program. */
cl_kernel device_kernel(cl_program program, const char *name);

#endif
