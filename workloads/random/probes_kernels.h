/* Calls with wrong arguments: programs, kernels, and launches. */

#define SOURCE(count, list) \
  MADE(clReleaseProgram, clCreateProgramWithSource(s->context, count, list, NULL, &status))
PROBE(source_of_no_context, INVALID_CONTEXT,
      MADE(clReleaseProgram, clCreateProgramWithSource(NULL, 1, (const char *[]){"\n"}, NULL, &status)))
PROBE(source_of_no_strings, INVALID_VALUE, SOURCE(0, (const char *[]){"\n"}))
DEVIANT(source_without_strings, INVALID_VALUE,
        "crashes",
        SOURCE(1, NULL))
PROBE(source_with_no_string_in_list, INVALID_VALUE, SOURCE(2, ((const char *[]){"\n", NULL})))
PROBE(binary_of_rubbish, INVALID_BINARY, binary_of_rubbish(s))
PROBE(binary_without_bytes, INVALID_VALUE, binary_without_bytes(s))
PROBE(binary_of_no_devices, INVALID_VALUE,
      MADE(clReleaseProgram, clCreateProgramWithBinary(s->context, 0, &s->device, (size_t[]){64},
                                                       (const unsigned char *[]){s->memory}, NULL, &status)))
PROBE(binary_for_no_device, INVALID_DEVICE,
      MADE(clReleaseProgram, clCreateProgramWithBinary(s->context, 1, (cl_device_id[]){NULL}, (size_t[]){64},
                                                       (const unsigned char *[]){s->memory}, NULL, &status)))
DEVIANT(binary_without_binaries, INVALID_VALUE,
        "crashes",
        MADE(clReleaseProgram,
           clCreateProgramWithBinary(s->context, 1, &s->device, (size_t[]){64}, NULL, NULL, &status)))
PROBE(built_in_without_names, INVALID_VALUE,
      MADE(clReleaseProgram, clCreateProgramWithBuiltInKernels(s->context, 1, &s->device, NULL, &status)))
PROBE(built_in_unknown, INVALID_VALUE,
      MADE(clReleaseProgram, clCreateProgramWithBuiltInKernels(s->context, 1, &s->device, "no.such.kernel", &status)))

PROBE(build_no_program, INVALID_PROGRAM, clBuildProgram(NULL, 1, &s->device, "", NULL, NULL))
PROBE(build_for_devices_without_list, INVALID_VALUE, clBuildProgram(s->unbuilt, 1, NULL, "", NULL, NULL))
PROBE(build_for_list_without_devices, INVALID_VALUE, clBuildProgram(s->unbuilt, 0, &s->device, "", NULL, NULL))
DEVIANT(build_for_no_device, INVALID_DEVICE,
        "crashes",
        clBuildProgram(s->unbuilt, 1, (cl_device_id[]){NULL}, "", NULL, NULL))
PROBE(build_data_without_function, INVALID_VALUE, clBuildProgram(s->unbuilt, 1, &s->device, "", NULL, s->memory))
PROBE(build_with_unknown_options, INVALID_BUILD_OPTIONS,
      clBuildProgram(s->unbuilt, 1, &s->device, "-no-such-option", NULL, NULL))
PROBE(build_with_kernels, INVALID_OPERATION, build_with_kernels(s))
PROBE(build_rubbish, BUILD_PROGRAM_FAILURE, build_rubbish(s))
PROBE(compile_rubbish, COMPILE_PROGRAM_FAILURE, compile_rubbish(s))
PROBE(compile_without_header, COMPILE_PROGRAM_FAILURE, compile_without_header(s))
DEVIANT(compile_headers_without_names, INVALID_VALUE,
        "crashes",
        clCompileProgram(s->unbuilt, 1, &s->device, "", 1, &s->unbuilt, NULL, NULL, NULL))
DEVIANT(compile_names_without_headers, INVALID_VALUE,
        "does not look at the names",
        clCompileProgram(s->unbuilt, 1, &s->device, "", 0, NULL, (const char *[]){"a.h"}, NULL, NULL))
PROBE(compile_with_unknown_options, INVALID_COMPILER_OPTIONS,
      clCompileProgram(s->unbuilt, 1, &s->device, "-no-such-option", 0, NULL, NULL, NULL, NULL))
PROBE(compile_with_kernels, INVALID_OPERATION,
      clCompileProgram(s->program, 1, &s->device, "", 0, NULL, NULL, NULL, NULL))
PROBE(compile_no_program, INVALID_PROGRAM, clCompileProgram(NULL, 1, &s->device, "", 0, NULL, NULL, NULL, NULL))
PROBE(compile_for_devices_without_list, INVALID_VALUE,
      clCompileProgram(s->unbuilt, 1, NULL, "", 0, NULL, NULL, NULL, NULL))
PROBE(compile_data_without_function, INVALID_VALUE,
      clCompileProgram(s->unbuilt, 1, &s->device, "", 0, NULL, NULL, NULL, s->memory))
PROBE(link_in_no_context, INVALID_CONTEXT,
      MADE(clReleaseProgram, clLinkProgram(NULL, 1, &s->device, "", 1, &s->program, NULL, NULL, &status)))
PROBE(link_no_programs, INVALID_VALUE,
      MADE(clReleaseProgram, clLinkProgram(s->context, 1, &s->device, "", 0, NULL, NULL, NULL, &status)))
DEVIANT(link_no_program_in_list, INVALID_PROGRAM,
        "crashes",
        MADE(clReleaseProgram,
           clLinkProgram(s->context, 1, &s->device, "", 1, (cl_program[]){NULL}, NULL, NULL, &status)))
PROBE(link_uncompiled, INVALID_OPERATION, link_uncompiled(s))
PROBE(link_with_unknown_options, INVALID_LINKER_OPTIONS, link_rubbish(s))
PROBE(link_unresolved, LINK_PROGRAM_FAILURE, link_unresolved(s))

PROBE(program_info_unknown, INVALID_VALUE, clGetProgramInfo(s->program, UNKNOWN, 0, NULL, NULL))
PROBE(program_info_short, INVALID_VALUE, clGetProgramInfo(s->program, CL_PROGRAM_SOURCE, ONE_BYTE))
PROBE(program_info_of_none, INVALID_PROGRAM, clGetProgramInfo(NULL, CL_PROGRAM_SOURCE, 0, NULL, NULL))
PROBE(program_kernels_before_build, INVALID_PROGRAM_EXECUTABLE, info_of_kernels_before_build(s))
PROBE(build_info_unknown, INVALID_VALUE, clGetProgramBuildInfo(s->program, s->device, UNKNOWN, 0, NULL, NULL))
PROBE(build_info_short, INVALID_VALUE, clGetProgramBuildInfo(s->program, s->device, CL_PROGRAM_BUILD_STATUS, ONE_BYTE))
PROBE(build_info_of_no_program, INVALID_PROGRAM,
      clGetProgramBuildInfo(NULL, s->device, CL_PROGRAM_BUILD_STATUS, 0, NULL, NULL))
PROBE(build_info_of_no_device, INVALID_DEVICE,
      clGetProgramBuildInfo(s->program, NULL, CL_PROGRAM_BUILD_STATUS, 0, NULL, NULL))
PROBE(retain_no_program, INVALID_PROGRAM, clRetainProgram(NULL))
PROBE(release_no_program, INVALID_PROGRAM, clReleaseProgram(NULL))

#define KERNEL(program, name) MADE(clReleaseKernel, clCreateKernel(program, name, &status))
PROBE(kernel_of_no_program, INVALID_PROGRAM, KERNEL(NULL, "add"))
PROBE(kernel_of_unbuilt, INVALID_PROGRAM_EXECUTABLE, KERNEL(s->unbuilt, "add"))
PROBE(kernel_of_failed_build, INVALID_PROGRAM_EXECUTABLE, kernel_of_failed_build(s))
DEVIANT(kernel_of_compiled_only, INVALID_PROGRAM_EXECUTABLE,
        "answers INVALID_KERNEL_NAME",
        kernel_of_library(s))
PROBE(kernel_of_unknown_name, INVALID_KERNEL_NAME, KERNEL(s->program, "subtract"))
PROBE(kernel_of_a_function, INVALID_KERNEL_NAME, KERNEL(s->program, "stir"))
PROBE(kernel_without_name, INVALID_VALUE, KERNEL(s->program, NULL))
PROBE(kernels_of_unbuilt, INVALID_PROGRAM_EXECUTABLE, clCreateKernelsInProgram(s->unbuilt, 0, NULL, NULL))
PROBE(kernels_of_no_program, INVALID_PROGRAM, clCreateKernelsInProgram(NULL, 0, NULL, NULL))
PROBE(kernels_without_room, INVALID_VALUE, clCreateKernelsInProgram(s->program, 1, (cl_kernel[1]){0}, NULL))
PROBE(clone_of_no_kernel, INVALID_KERNEL, MADE(clReleaseKernel, clCloneKernel(NULL, &status)))
PROBE(kernel_info_unknown, INVALID_VALUE, clGetKernelInfo(s->add, UNKNOWN, 0, NULL, NULL))
PROBE(kernel_info_short, INVALID_VALUE, clGetKernelInfo(s->add, CL_KERNEL_FUNCTION_NAME, ONE_BYTE))
PROBE(kernel_info_of_none, INVALID_KERNEL, clGetKernelInfo(NULL, CL_KERNEL_FUNCTION_NAME, 0, NULL, NULL))
PROBE(argument_info_of_none, INVALID_KERNEL, clGetKernelArgInfo(NULL, 0, CL_KERNEL_ARG_NAME, 0, NULL, NULL))
PROBE(argument_info_beyond, INVALID_ARG_INDEX, clGetKernelArgInfo(s->add, 2, CL_KERNEL_ARG_NAME, 0, NULL, NULL))
PROBE(argument_info_unknown, INVALID_VALUE, clGetKernelArgInfo(s->add, 0, UNKNOWN, 0, NULL, NULL))
PROBE(argument_info_short, INVALID_VALUE,
      clGetKernelArgInfo(s->add, 0, CL_KERNEL_ARG_ADDRESS_QUALIFIER, ONE_BYTE))
PROBE(group_info_unknown, INVALID_VALUE, clGetKernelWorkGroupInfo(s->add, s->device, UNKNOWN, 0, NULL, NULL))
PROBE(group_info_short, INVALID_VALUE,
      clGetKernelWorkGroupInfo(s->add, s->device, CL_KERNEL_WORK_GROUP_SIZE, ONE_BYTE))
PROBE(group_info_global_of_no_custom_device, INVALID_VALUE,
      clGetKernelWorkGroupInfo(s->add, s->device, CL_KERNEL_GLOBAL_WORK_SIZE, 24, (size_t[3]){0}, NULL))
PROBE(group_info_of_none, INVALID_KERNEL,
      clGetKernelWorkGroupInfo(NULL, s->device, CL_KERNEL_WORK_GROUP_SIZE, 0, NULL, NULL))
PROBE(retain_no_kernel, INVALID_KERNEL, clRetainKernel(NULL))
PROBE(release_no_kernel, INVALID_KERNEL, clReleaseKernel(NULL))

PROBE(argument_of_no_kernel, INVALID_KERNEL, clSetKernelArg(NULL, 0, 4, s->memory))
PROBE(argument_beyond, INVALID_ARG_INDEX, clSetKernelArg(s->unset, 2, 4, s->memory))
DEVIANT(argument_too_short, INVALID_ARG_SIZE,
        "takes it, and reads beyond it at the launch",
        clSetKernelArg(s->unset, 1, 3, s->memory))
PROBE(argument_too_long, INVALID_ARG_SIZE, clSetKernelArg(s->unset, 1, 8, s->memory))
PROBE(argument_without_value, INVALID_ARG_VALUE, clSetKernelArg(s->unset, 1, 4, NULL))
PROBE(argument_buffer_of_wrong_size, INVALID_ARG_SIZE, clSetKernelArg(s->unset, 0, 4, &s->buffer))
PROBE(argument_local_with_value, INVALID_ARG_VALUE, clSetKernelArg(s->reverse, 1, 64, s->memory))
PROBE(argument_local_of_no_bytes, INVALID_ARG_SIZE, clSetKernelArg(s->reverse, 1, 0, NULL))

#define SIXTEEN ((size_t[3]){16, 1, 1})
#define LAUNCH(queue, kernel, dimensions, global, local) \
  clEnqueueNDRangeKernel(queue, kernel, dimensions, NULL, global, local, 0, NULL, NULL)
#define LAUNCH_AFTER(count, list) clEnqueueNDRangeKernel(s->queue, s->add, 1, NULL, SIXTEEN, NULL, count, list, NULL)
#define NOT_LOOKED_AT "does not look at the wait list of a launch"
#define TASK_AFTER(count, list) clEnqueueTask(s->queue, s->add, count, list, NULL)
DEVIANT(launch_list_without_count, INVALID_EVENT_WAIT_LIST, NOT_LOOKED_AT, LAUNCH_AFTER(0, &s->done))
DEVIANT(launch_count_without_list, INVALID_EVENT_WAIT_LIST, "crashes", LAUNCH_AFTER(1, NULL))
DEVIANT(launch_no_event_in_list, INVALID_EVENT_WAIT_LIST, NOT_LOOKED_AT, LAUNCH_AFTER(2, ((cl_event[]){s->done, NULL})))
DEVIANT(launch_event_of_another_context, INVALID_CONTEXT, NOT_LOOKED_AT, LAUNCH_AFTER(1, &s->other_event))
DEVIANT(task_list_without_count, INVALID_EVENT_WAIT_LIST, NOT_LOOKED_AT, TASK_AFTER(0, &s->done))
DEVIANT(task_count_without_list, INVALID_EVENT_WAIT_LIST, "crashes", TASK_AFTER(1, NULL))
DEVIANT(task_no_event_in_list, INVALID_EVENT_WAIT_LIST, NOT_LOOKED_AT, TASK_AFTER(2, ((cl_event[]){s->done, NULL})))
DEVIANT(task_event_of_another_context, INVALID_CONTEXT, NOT_LOOKED_AT, TASK_AFTER(1, &s->other_event))
PROBE(launch_in_no_queue, INVALID_COMMAND_QUEUE, LAUNCH(NULL, s->add, 1, SIXTEEN, NULL))
DEVIANT(launch_no_kernel, INVALID_KERNEL,
        "crashes",
        LAUNCH(s->queue, NULL, 1, SIXTEEN, NULL))
PROBE(launch_without_arguments, INVALID_KERNEL_ARGS, LAUNCH(s->queue, s->unset, 1, SIXTEEN, NULL))
PROBE(launch_another_context, INVALID_CONTEXT, LAUNCH(s->queue, s->other_add, 1, SIXTEEN, NULL))
PROBE(launch_in_no_dimensions, INVALID_WORK_DIMENSION, LAUNCH(s->queue, s->add, 0, SIXTEEN, NULL))
PROBE(launch_in_four_dimensions, INVALID_WORK_DIMENSION, LAUNCH(s->queue, s->add, 4, ((size_t[4]){1, 1, 1, 1}), NULL))
PROBE(launch_group_that_does_not_divide, INVALID_WORK_GROUP_SIZE,
      LAUNCH(s->queue, s->add, 1, SIXTEEN, ((size_t[1]){5})))
DEVIANT(launch_group_of_none, INVALID_WORK_GROUP_SIZE,
        "chooses a size itself",
        LAUNCH(s->queue, s->add, 1, SIXTEEN, ((size_t[1]){0})))
PROBE(launch_group_not_required, INVALID_WORK_GROUP_SIZE, LAUNCH(s->queue, s->reverse, 1, SIXTEEN, ((size_t[1]){8})))
PROBE(launch_group_required_and_not_given, INVALID_WORK_GROUP_SIZE, LAUNCH(s->queue, s->reverse, 1, SIXTEEN, NULL))
PROBE(launch_group_too_large, INVALID_WORK_GROUP_SIZE, too_large_group(s))
DEVIANT(launch_offset_overflow, INVALID_GLOBAL_OFFSET,
        "runs, and crashes",
        overflowing_offset(s))
PROBE(task_in_no_queue, INVALID_COMMAND_QUEUE, clEnqueueTask(NULL, s->add, 0, NULL, NULL))
PROBE(task_of_another_context, INVALID_CONTEXT, clEnqueueTask(s->queue, s->other_add, 0, NULL, NULL))
PROBE(task_of_a_required_group, INVALID_WORK_GROUP_SIZE, clEnqueueTask(s->queue, s->reverse, 0, NULL, NULL))
PROBE(task_without_arguments, INVALID_KERNEL_ARGS, clEnqueueTask(s->queue, s->unset, 0, NULL, NULL))

/* What comes after 1.2 and a device need not have: it is there, and says that it is not. */
PROBE(intermediate_language_of_no_bytes, INVALID_VALUE,
      MADE(clReleaseProgram, clCreateProgramWithIL(s->context, s->memory, 0, &status)))
PROBE(sampler_of_unknown_property, INVALID_VALUE,
      MADE(clReleaseSampler,
           clCreateSamplerWithProperties(s->context, (const cl_sampler_properties[]){UNKNOWN, 1, 0}, &status)))
PROBE(release_callback_without_function, INVALID_VALUE, clSetContextDestructorCallback(s->context, NULL, NULL))
