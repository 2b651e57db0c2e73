/* What programs, kernels and queues say of themselves when they are asked. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch.h"
#include "status.h"
#include "transcript.h"
#include "world.h"

enum { TEXT_MAX = 256 };

static void build_facts(struct world *world, cl_program program) {
  cl_build_status build = 1;
  cl_program_binary_type type = 1;
  cl_uint devices = 0;
  size_t kernels = 0;
  cl_context context = NULL;
  clGetProgramBuildInfo(program, world->device, CL_PROGRAM_BUILD_STATUS, sizeof build, &build, NULL);
  clGetProgramBuildInfo(program, world->device, CL_PROGRAM_BINARY_TYPE, sizeof type, &type, NULL);
  clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof devices, &devices, NULL);
  clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof kernels, &kernels, NULL);
  clGetProgramInfo(program, CL_PROGRAM_CONTEXT, sizeof context, &context, NULL);
  note("%u program: build %d binary %#x devices %u kernels %zu", world->step, build, type, devices, kernels);
  if (context != world->context) wrong("the program is of another context");
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* The names come in any order. */
static void kernel_names(struct world *world, cl_program program) {
  char text[TEXT_MAX] = "", *names[32], *rest = text;
  size_t bytes = 0, count = 0;
  cl_int status = clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, sizeof text, text, &bytes);
  if (status == CL_SUCCESS && bytes != strlen(text) + 1) wrong("the kernels' names have %zu bytes", bytes);
  for (char *name; count < 32 && (name = strtok_r(rest, ";", &rest)) != NULL;) names[count++] = name;
  qsort(names, count, sizeof *names, by_name);
  for (size_t i = 0; i < count; i++) note("%u kernel %s", world->step, names[i]);

  /* As many kernels as names, and each is of this program. */
  cl_kernel kernels[32];
  cl_uint made = 0;
  note_status(clCreateKernelsInProgram(program, 32, kernels, &made), CL_SUCCESS, "%u all kernels", world->step);
  if (made != count) wrong("%u kernels for %zu names", made, count);
  for (cl_uint i = 0; i < made; i++) {
    cl_program of = NULL;
    clGetKernelInfo(kernels[i], CL_KERNEL_PROGRAM, sizeof of, &of, NULL);
    if (of != program) wrong("a kernel is of another program");
    clReleaseKernel(kernels[i]);
  }
}

static void argument_facts(struct world *world, cl_kernel kernel, cl_uint index) {
  char name[TEXT_MAX] = "", type[TEXT_MAX] = "";
  cl_kernel_arg_address_qualifier address = 0;
  cl_kernel_arg_access_qualifier access = 0;
  cl_kernel_arg_type_qualifier qualifier = 0;
  clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_NAME, sizeof name, name, NULL);
  clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_TYPE_NAME, sizeof type, type, NULL);
  clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof address, &address, NULL);
  clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof access, &access, NULL);
  clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof qualifier, &qualifier, NULL);
  note("%u   %u %s %s address %#x access %#x type %#llx", world->step, index, type, name, address, access,
       (unsigned long long)qualifier);
}

static void kernel_facts(struct world *world, cl_kernel kernel) {
  char name[TEXT_MAX] = "";
  cl_uint arguments = 0;
  size_t group[3] = {9, 9, 9}, most = 0;
  cl_context context = NULL;
  clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL);
  clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof arguments, &arguments, NULL);
  clGetKernelInfo(kernel, CL_KERNEL_CONTEXT, sizeof context, &context, NULL);
  clGetKernelWorkGroupInfo(kernel, world->device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof group, group, NULL);
  clGetKernelWorkGroupInfo(kernel, world->device, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL);
  note("%u kernel %s arguments %u group %zux%zux%zu at most %zu", world->step, name, arguments, group[0], group[1],
       group[2], most);
  if (context != world->context) wrong("kernel %s is of another context", name);
  /* Of programs that are not built from source at once it may be there or not. */
  for (cl_uint i = 0; i < arguments && kernels_of_source(world->kernels); i++) argument_facts(world, kernel, i);
}

/* Retained and released an object is what it was. */
static void retain_all(struct world *world, cl_program program, cl_kernel kernel) {
  cl_int kept[] = {clRetainContext(world->context), clRetainProgram(program), clRetainKernel(kernel),
                   clRetainDevice(world->device)};
  cl_int released[] = {clReleaseContext(world->context), clReleaseProgram(program), clReleaseKernel(kernel),
                       clReleaseDevice(world->device)};
  for (unsigned i = 0; i < 4; i++) {
    if (kept[i] != CL_SUCCESS || released[i] != CL_SUCCESS) wrong("object %u cannot be retained and released", i);
  }
}

void step_facts(struct world *world) {
  if (!world->kernels) step_program(world);
  cl_program program = kernels_program(world->kernels);
  cl_kernel kernel = kernels_any(world->kernels, &world->draw);
  build_facts(world, program);
  if (draw_chance(&world->draw, 30)) kernel_names(world, program);
  kernel_facts(world, kernel);
  retain_all(world, program, kernel);
}
