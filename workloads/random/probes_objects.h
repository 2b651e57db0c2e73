/* Calls with wrong arguments: platforms, devices, contexts, queues, buffers and events. */

#define ONE_BYTE 1, text_of_one_byte(), NULL
#define UNKNOWN 0x7777
#define PLATFORM(s) ((cl_context_properties[]){CL_CONTEXT_PLATFORM, (cl_context_properties)(s)->platform, 0})

PROBE(platforms_nothing_asked, INVALID_VALUE, clGetPlatformIDs(0, NULL, NULL))
PROBE(platform_info_unknown, INVALID_VALUE, clGetPlatformInfo(s->platform, UNKNOWN, 0, NULL, NULL))
PROBE(platform_info_short, INVALID_VALUE, clGetPlatformInfo(s->platform, CL_PLATFORM_NAME, ONE_BYTE))
DEVIANT(devices_of_no_type, INVALID_DEVICE_TYPE,
        "answers DEVICE_NOT_FOUND",
        clGetDeviceIDs(s->platform, 0, 1, (cl_device_id[1]){0}, NULL))
DEVIANT(devices_of_unknown_type, INVALID_DEVICE_TYPE,
        "answers DEVICE_NOT_FOUND",
        clGetDeviceIDs(s->platform, (cl_device_type)1 << 20, 1, (cl_device_id[1]){0}, NULL))
PROBE(devices_without_room, INVALID_VALUE,
      clGetDeviceIDs(s->platform, CL_DEVICE_TYPE_ALL, 0, (cl_device_id[1]){0}, NULL))
PROBE(devices_nothing_asked, INVALID_VALUE, clGetDeviceIDs(s->platform, CL_DEVICE_TYPE_ALL, 0, NULL, NULL))
PROBE(devices_that_are_not_there, DEVICE_NOT_FOUND,
      clGetDeviceIDs(s->platform, CL_DEVICE_TYPE_CUSTOM, 1, (cl_device_id[1]){0}, NULL))
PROBE(device_info_unknown, INVALID_VALUE, clGetDeviceInfo(s->device, UNKNOWN, 0, NULL, NULL))
PROBE(device_info_short, INVALID_VALUE, clGetDeviceInfo(s->device, CL_DEVICE_NAME, ONE_BYTE))
PROBE(device_info_of_none, INVALID_DEVICE, clGetDeviceInfo(NULL, CL_DEVICE_NAME, ONE_BYTE))
PROBE(sub_devices_without_properties, INVALID_VALUE, clCreateSubDevices(s->device, NULL, 1, (cl_device_id[1]){0}, NULL))
PROBE(sub_devices_of_unknown_kind, INVALID_VALUE,
      clCreateSubDevices(s->device, (cl_device_partition_property[]){UNKNOWN, 0}, 1, (cl_device_id[1]){0}, NULL))

PROBE(context_of_no_devices, INVALID_VALUE,
      MADE(clReleaseContext, clCreateContext(NULL, 0, &s->device, NULL, NULL, &status)))
PROBE(context_without_devices, INVALID_VALUE,
      MADE(clReleaseContext, clCreateContext(NULL, 1, NULL, NULL, NULL, &status)))
PROBE(context_with_no_device_in_list, INVALID_DEVICE,
      MADE(clReleaseContext, clCreateContext(NULL, 2, (cl_device_id[]){s->device, NULL}, NULL, NULL, &status)))
PROBE(context_data_without_function, INVALID_VALUE,
      MADE(clReleaseContext, clCreateContext(NULL, 1, &s->device, NULL, s->memory, &status)))
PROBE(context_of_unknown_property, INVALID_PROPERTY,
      MADE(clReleaseContext, clCreateContext((cl_context_properties[]){UNKNOWN, 1, 0}, 1, &s->device, NULL, NULL,
                                             &status)))
PROBE(context_of_property_twice, INVALID_PROPERTY,
      MADE(clReleaseContext,
           clCreateContext((cl_context_properties[]){CL_CONTEXT_PLATFORM, (cl_context_properties)s->platform,
                                                     CL_CONTEXT_PLATFORM, (cl_context_properties)s->platform, 0},
                           1, &s->device, NULL, NULL, &status)))
DEVIANT(context_from_unknown_type, INVALID_DEVICE_TYPE,
        "makes a context without devices, and fails in it later",
        MADE(clReleaseContext,
             clCreateContextFromType(PLATFORM(s), (cl_device_type)1 << 20, NULL, NULL, &status)))
DEVIANT(context_from_type_not_there, DEVICE_NOT_FOUND,
        "makes a context without devices, and fails in it later",
        MADE(clReleaseContext,
             clCreateContextFromType(PLATFORM(s), CL_DEVICE_TYPE_CUSTOM, NULL, NULL, &status)))
PROBE(context_from_type_data_without_function, INVALID_VALUE,
      MADE(clReleaseContext,
           clCreateContextFromType(PLATFORM(s), CL_DEVICE_TYPE_ALL, NULL, s->memory, &status)))
PROBE(context_info_unknown, INVALID_VALUE, clGetContextInfo(s->context, UNKNOWN, 0, NULL, NULL))
PROBE(context_info_short, INVALID_VALUE, clGetContextInfo(s->context, CL_CONTEXT_DEVICES, ONE_BYTE))
PROBE(context_info_of_none, INVALID_CONTEXT, clGetContextInfo(NULL, CL_CONTEXT_DEVICES, 0, NULL, NULL))
PROBE(retain_no_context, INVALID_CONTEXT, clRetainContext(NULL))
PROBE(release_no_context, INVALID_CONTEXT, clReleaseContext(NULL))

PROBE(queue_of_no_context, INVALID_CONTEXT,
      MADE(clReleaseCommandQueue, clCreateCommandQueue(NULL, s->device, 0, &status)))
PROBE(queue_of_no_device, INVALID_DEVICE,
      MADE(clReleaseCommandQueue, clCreateCommandQueue(s->context, NULL, 0, &status)))
PROBE(queue_of_unknown_properties, INVALID_VALUE,
      MADE(clReleaseCommandQueue, clCreateCommandQueue(s->context, s->device, 1 << 20, &status)))
#define QUEUE(...) \
  MADE(clReleaseCommandQueue, \
       clCreateCommandQueueWithProperties(s->context, s->device, (const cl_queue_properties[]){__VA_ARGS__}, &status))
PROBE(queue_of_unknown_property, INVALID_VALUE, QUEUE(UNKNOWN, 1, 0))
PROBE(queue_of_unknown_bits, INVALID_VALUE, QUEUE(CL_QUEUE_PROPERTIES, 1 << 20, 0))
PROBE(queue_of_size_for_the_host, INVALID_VALUE, QUEUE(CL_QUEUE_PROPERTIES, 0, CL_QUEUE_SIZE, 64, 0))
PROBE(queue_info_unknown, INVALID_VALUE, clGetCommandQueueInfo(s->queue, UNKNOWN, 0, NULL, NULL))
PROBE(queue_info_short, INVALID_VALUE, clGetCommandQueueInfo(s->queue, CL_QUEUE_CONTEXT, ONE_BYTE))
PROBE(queue_info_of_none, INVALID_COMMAND_QUEUE, clGetCommandQueueInfo(NULL, CL_QUEUE_CONTEXT, 0, NULL, NULL))
PROBE(retain_no_queue, INVALID_COMMAND_QUEUE, clRetainCommandQueue(NULL))
PROBE(release_no_queue, INVALID_COMMAND_QUEUE, clReleaseCommandQueue(NULL))
PROBE(flush_no_queue, INVALID_COMMAND_QUEUE, clFlush(NULL))
PROBE(finish_no_queue, INVALID_COMMAND_QUEUE, clFinish(NULL))

#define BUFFER(flags, bytes, host) MADE(clReleaseMemObject, clCreateBuffer(s->context, flags, bytes, host, &status))
PROBE(buffer_of_no_context, INVALID_CONTEXT, MADE(clReleaseMemObject, clCreateBuffer(NULL, 0, 64, NULL, &status)))
PROBE(buffer_of_no_bytes, INVALID_BUFFER_SIZE, BUFFER(0, 0, NULL))
PROBE(buffer_too_large, INVALID_BUFFER_SIZE, too_large_buffer(s))
PROBE(buffer_of_unknown_flags, INVALID_VALUE, BUFFER((cl_mem_flags)1 << 40, 64, NULL))
PROBE(buffer_read_write_and_read_only, INVALID_VALUE, BUFFER(CL_MEM_READ_WRITE | CL_MEM_READ_ONLY, 64, NULL))
PROBE(buffer_read_write_and_write_only, INVALID_VALUE, BUFFER(CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY, 64, NULL))
PROBE(buffer_read_only_and_write_only, INVALID_VALUE, BUFFER(CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 64, NULL))
PROBE(buffer_used_and_allocated, INVALID_VALUE,
      BUFFER(CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR, 64, s->memory))
PROBE(buffer_used_and_copied, INVALID_VALUE, BUFFER(CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR, 64, s->memory))
PROBE(buffer_host_reads_and_writes_only, INVALID_VALUE,
      BUFFER(CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY, 64, NULL))
PROBE(buffer_host_reads_only_and_nothing, INVALID_VALUE,
      BUFFER(CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS, 64, NULL))
PROBE(buffer_host_writes_only_and_nothing, INVALID_VALUE,
      BUFFER(CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS, 64, NULL))
PROBE(buffer_used_without_memory, INVALID_HOST_PTR, BUFFER(CL_MEM_USE_HOST_PTR, 64, NULL))
PROBE(buffer_copied_without_memory, INVALID_HOST_PTR, BUFFER(CL_MEM_COPY_HOST_PTR, 64, NULL))
PROBE(buffer_with_memory_for_nothing, INVALID_HOST_PTR, BUFFER(0, 64, s->memory))
PROBE(buffer_of_unknown_property, INVALID_PROPERTY,
      MADE(clReleaseMemObject,
           clCreateBufferWithProperties(s->context, (const cl_mem_properties[]){UNKNOWN, 1, 0}, 0, 64, NULL, &status)))
PROBE(buffer_without_status, INVALID_VALUE, NOTHING(clReleaseMemObject, clCreateBuffer(s->context, 0, 0, NULL, NULL)))

#define SUB(parent, flags, kind, region) \
  MADE(clReleaseMemObject, clCreateSubBuffer(parent, flags, kind, region, &status))
#define REGION(origin, bytes) &(cl_buffer_region){origin, bytes}
PROBE(sub_buffer_of_none, INVALID_MEM_OBJECT, SUB(NULL, 0, CL_BUFFER_CREATE_TYPE_REGION, REGION(0, 64)))
PROBE(sub_buffer_of_sub_buffer, INVALID_MEM_OBJECT, SUB(s->sub, 0, CL_BUFFER_CREATE_TYPE_REGION, REGION(0, 64)))
PROBE(sub_buffer_of_unknown_kind, INVALID_VALUE, SUB(s->buffer, 0, UNKNOWN, REGION(0, 64)))
PROBE(sub_buffer_without_region, INVALID_VALUE, SUB(s->buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, NULL))
PROBE(sub_buffer_of_no_bytes, INVALID_BUFFER_SIZE, SUB(s->buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, REGION(0, 0)))
PROBE(sub_buffer_beyond, INVALID_VALUE,
      SUB(s->buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, REGION(SUB_ORIGIN, SANDBOX_BYTES)))
DEVIANT(sub_buffer_overflow, INVALID_VALUE,
        "adds origin and size without looking at the carry",
        SUB(s->buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, REGION(SUB_ORIGIN, SIZE_MAX - SUB_ORIGIN + 65)))
PROBE(sub_buffer_misaligned, MISALIGNED_SUB_BUFFER_OFFSET, misaligned_origin(s))
PROBE(sub_buffer_host_may_more, INVALID_VALUE,
      SUB(s->read_only, CL_MEM_HOST_WRITE_ONLY, CL_BUFFER_CREATE_TYPE_REGION, REGION(0, 64)))
PROBE(sub_buffer_host_may_again, INVALID_VALUE,
      SUB(s->no_access, CL_MEM_HOST_READ_ONLY, CL_BUFFER_CREATE_TYPE_REGION, REGION(0, 64)))
PROBE(sub_buffer_with_host_memory, INVALID_VALUE,
      SUB(s->buffer, CL_MEM_ALLOC_HOST_PTR, CL_BUFFER_CREATE_TYPE_REGION, REGION(0, 64)))

PROBE(buffer_info_unknown, INVALID_VALUE, clGetMemObjectInfo(s->buffer, UNKNOWN, 0, NULL, NULL))
PROBE(buffer_info_short, INVALID_VALUE, clGetMemObjectInfo(s->buffer, CL_MEM_SIZE, ONE_BYTE))
PROBE(buffer_info_of_none, INVALID_MEM_OBJECT, clGetMemObjectInfo(NULL, CL_MEM_SIZE, 0, NULL, NULL))
DEVIANT(image_info_of_buffer, INVALID_MEM_OBJECT,
        "does not look at the kind of the object",
        clGetImageInfo(s->buffer, CL_IMAGE_WIDTH, 0, NULL, NULL))
PROBE(destructor_without_function, INVALID_VALUE, clSetMemObjectDestructorCallback(s->buffer, NULL, NULL))
PROBE(retain_no_buffer, INVALID_MEM_OBJECT, clRetainMemObject(NULL))
PROBE(release_no_buffer, INVALID_MEM_OBJECT, clReleaseMemObject(NULL))

PROBE(wait_for_no_events, INVALID_VALUE, clWaitForEvents(0, &s->done))
PROBE(wait_without_events, INVALID_VALUE, clWaitForEvents(1, NULL))
PROBE(wait_for_no_event_in_list, INVALID_EVENT, clWaitForEvents(2, (cl_event[]){s->done, NULL}))
PROBE(wait_for_two_contexts, INVALID_CONTEXT, clWaitForEvents(2, (cl_event[]){s->done, s->other_event}))
PROBE(wait_for_failed, EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, &s->failed))
PROBE(wait_for_done_and_failed, EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
      clWaitForEvents(2, (cl_event[]){s->done, s->failed}))
DEVIANT(wait_after_failed, EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
        "never ends what waits for an event that had failed before the call",
        clWaitForEvents(1, &s->after_failure))
PROBE(event_info_unknown, INVALID_VALUE, clGetEventInfo(s->done, UNKNOWN, 0, NULL, NULL))
PROBE(event_info_short, INVALID_VALUE, clGetEventInfo(s->done, CL_EVENT_CONTEXT, ONE_BYTE))
PROBE(event_info_of_none, INVALID_EVENT, clGetEventInfo(NULL, CL_EVENT_CONTEXT, 0, NULL, NULL))
PROBE(retain_no_event, INVALID_EVENT, clRetainEvent(NULL))
PROBE(release_no_event, INVALID_EVENT, clReleaseEvent(NULL))
PROBE(user_event_of_no_context, INVALID_CONTEXT, MADE(clReleaseEvent, clCreateUserEvent(NULL, &status)))
PROBE(user_event_set_to_submitted, INVALID_VALUE, user_event_set_to(s, CL_SUBMITTED))
PROBE(user_event_set_to_running, INVALID_VALUE, user_event_set_to(s, CL_RUNNING))
PROBE(user_event_set_twice, INVALID_OPERATION, user_event_set_twice(s))
PROBE(user_event_set_after_failure, INVALID_OPERATION, clSetUserEventStatus(s->failed, CL_COMPLETE))
PROBE(set_event_of_command, INVALID_EVENT, clSetUserEventStatus(s->done, CL_COMPLETE))
PROBE(set_no_event, INVALID_EVENT, clSetUserEventStatus(NULL, CL_COMPLETE))
PROBE(watch_without_function, INVALID_VALUE, clSetEventCallback(s->done, CL_COMPLETE, NULL, NULL))
PROBE(watch_no_event, INVALID_EVENT,
      clSetEventCallback(NULL, CL_COMPLETE, (void(CL_CALLBACK *)(cl_event, cl_int, void *))abort, NULL))
PROBE(watch_for_queued, INVALID_VALUE,
      clSetEventCallback(s->done, CL_QUEUED, (void(CL_CALLBACK *)(cl_event, cl_int, void *))abort, NULL))
PROBE(watch_for_unknown, INVALID_VALUE,
      clSetEventCallback(s->done, UNKNOWN, (void(CL_CALLBACK *)(cl_event, cl_int, void *))abort, NULL))
PROBE(times_unknown, INVALID_VALUE, clGetEventProfilingInfo(s->done, UNKNOWN, 8, (cl_ulong[1]){0}, NULL))
PROBE(times_short, INVALID_VALUE, clGetEventProfilingInfo(s->done, CL_PROFILING_COMMAND_END, ONE_BYTE))
PROBE(times_of_user_event, PROFILING_INFO_NOT_AVAILABLE,
      clGetEventProfilingInfo(s->set, CL_PROFILING_COMMAND_END, 8, (cl_ulong[1]){0}, NULL))
PROBE(times_of_queue_without, PROFILING_INFO_NOT_AVAILABLE,
      clGetEventProfilingInfo(s->untimed, CL_PROFILING_COMMAND_END, 8, (cl_ulong[1]){0}, NULL))
PROBE(times_of_waiting, PROFILING_INFO_NOT_AVAILABLE,
      clGetEventProfilingInfo(s->waiting, CL_PROFILING_COMMAND_END, 8, (cl_ulong[1]){0}, NULL))
PROBE(times_of_none, INVALID_EVENT,
      clGetEventProfilingInfo(NULL, CL_PROFILING_COMMAND_END, 8, (cl_ulong[1]){0}, NULL))

#undef PLATFORM
#undef QUEUE
#undef BUFFER
#undef SUB
#undef REGION
