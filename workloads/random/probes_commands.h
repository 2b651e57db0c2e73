/* Calls with wrong arguments: commands on buffers, markers and barriers. */

/* What is wrong with the wait list, for each kind of command; `call` takes the count and the list. */
#define WAITS(name, call) \
  PROBE(name##_list_without_count, INVALID_EVENT_WAIT_LIST, call(0, &s->done)) \
  PROBE(name##_count_without_list, INVALID_EVENT_WAIT_LIST, call(1, NULL)) \
  PROBE(name##_no_event_in_list, INVALID_EVENT_WAIT_LIST, call(2, ((cl_event[]){s->done, NULL}))) \
  PROBE(name##_event_of_another_context, INVALID_CONTEXT, call(1, &s->other_event))

#define READ(queue, buffer, offset, bytes, host) \
  clEnqueueReadBuffer(queue, buffer, CL_TRUE, offset, bytes, host, 0, NULL, NULL)
#define READ_AFTER(count, list) clEnqueueReadBuffer(s->queue, s->buffer, CL_TRUE, 0, 64, s->memory, count, list, NULL)
WAITS(read, READ_AFTER)
PROBE(read_no_queue, INVALID_COMMAND_QUEUE, READ(NULL, s->buffer, 0, 64, s->memory))
PROBE(read_no_buffer, INVALID_MEM_OBJECT, READ(s->queue, NULL, 0, 64, s->memory))
PROBE(read_another_context, INVALID_CONTEXT, READ(s->queue, s->other_buffer, 0, 64, s->memory))
PROBE(read_to_nowhere, INVALID_VALUE, READ(s->queue, s->buffer, 0, 64, NULL))
PROBE(read_beyond, INVALID_VALUE, READ(s->queue, s->buffer, SANDBOX_BYTES - 63, 64, s->memory))
PROBE(read_from_beyond, INVALID_VALUE, READ(s->queue, s->buffer, SANDBOX_BYTES + 1, 1, s->memory))
PROBE(read_overflow, INVALID_VALUE, READ(s->queue, s->buffer, 64, SIZE_MAX - 32, s->memory))
PROBE(read_beyond_sub_buffer, INVALID_VALUE, READ(s->queue, s->sub, SUB_BYTES - 63, 64, s->memory))
PROBE(read_what_host_only_writes, INVALID_OPERATION, READ(s->queue, s->write_only, 0, 64, s->memory))
PROBE(read_what_host_may_not, INVALID_OPERATION, READ(s->queue, s->no_access, 0, 64, s->memory))
DEVIANT(read_after_failed, EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
        "never ends what waits for an event that had failed before the call",
        clEnqueueReadBuffer(s->plain, s->buffer, CL_TRUE, 0, 64, s->memory, 1, &s->failed, NULL))

#define WRITE(queue, buffer, offset, bytes, host) \
  clEnqueueWriteBuffer(queue, buffer, CL_TRUE, offset, bytes, host, 0, NULL, NULL)
#define WRITE_AFTER(count, list) clEnqueueWriteBuffer(s->queue, s->buffer, CL_TRUE, 0, 64, s->memory, count, list, NULL)
WAITS(write, WRITE_AFTER)
PROBE(write_no_queue, INVALID_COMMAND_QUEUE, WRITE(NULL, s->buffer, 0, 64, s->memory))
PROBE(write_no_buffer, INVALID_MEM_OBJECT, WRITE(s->queue, NULL, 0, 64, s->memory))
PROBE(write_another_context, INVALID_CONTEXT, WRITE(s->queue, s->other_buffer, 0, 64, s->memory))
PROBE(write_from_nowhere, INVALID_VALUE, WRITE(s->queue, s->buffer, 0, 64, NULL))
PROBE(write_beyond, INVALID_VALUE, WRITE(s->queue, s->buffer, SANDBOX_BYTES - 63, 64, s->memory))
PROBE(write_overflow, INVALID_VALUE, WRITE(s->queue, s->buffer, 64, SIZE_MAX - 32, s->memory))
PROBE(write_what_host_only_reads, INVALID_OPERATION, WRITE(s->queue, s->read_only, 0, 64, s->memory))
PROBE(write_what_host_may_not, INVALID_OPERATION, WRITE(s->queue, s->no_access, 0, 64, s->memory))

#define ZERO ((size_t[3]){0, 0, 0})
#define BOX ((size_t[3]){16, 4, 2})
#define READ_RECT(queue, buffer, origin, region, row, slice, host) \
  clEnqueueReadBufferRect(queue, buffer, CL_TRUE, origin, ZERO, region, row, slice, 0, 0, host, 0, NULL, NULL)
#define READ_RECT_AFTER(count, list) \
  clEnqueueReadBufferRect(s->queue, s->buffer, CL_TRUE, ZERO, ZERO, BOX, 0, 0, 0, 0, s->memory, count, list, NULL)
WAITS(read_rect, READ_RECT_AFTER)
PROBE(read_rect_no_buffer, INVALID_MEM_OBJECT, READ_RECT(s->queue, NULL, ZERO, BOX, 0, 0, s->memory))
PROBE(read_rect_another_context, INVALID_CONTEXT, READ_RECT(s->queue, s->other_buffer, ZERO, BOX, 0, 0, s->memory))
PROBE(read_rect_to_nowhere, INVALID_VALUE, READ_RECT(s->queue, s->buffer, ZERO, BOX, 0, 0, NULL))
PROBE(read_rect_of_no_width, INVALID_VALUE,
      READ_RECT(s->queue, s->buffer, ZERO, ((size_t[3]){0, 4, 2}), 0, 0, s->memory))
PROBE(read_rect_of_no_height, INVALID_VALUE,
      READ_RECT(s->queue, s->buffer, ZERO, ((size_t[3]){16, 0, 2}), 0, 0, s->memory))
PROBE(read_rect_of_no_depth, INVALID_VALUE,
      READ_RECT(s->queue, s->buffer, ZERO, ((size_t[3]){16, 4, 0}), 0, 0, s->memory))
PROBE(read_rect_of_short_rows, INVALID_VALUE, READ_RECT(s->queue, s->buffer, ZERO, BOX, 15, 0, s->memory))
PROBE(read_rect_of_short_slices, INVALID_VALUE, READ_RECT(s->queue, s->buffer, ZERO, BOX, 16, 48, s->memory))
PROBE(read_rect_of_broken_slices, INVALID_VALUE, READ_RECT(s->queue, s->buffer, ZERO, BOX, 16, 72, s->memory))
PROBE(read_rect_beyond, INVALID_VALUE,
      READ_RECT(s->queue, s->buffer, ((size_t[3]){0, 0, SANDBOX_BYTES / 64 - 1}), BOX, 16, 64, s->memory))
#define READ_RECT_HOST(row, slice) \
  clEnqueueReadBufferRect(s->queue, s->buffer, CL_TRUE, ZERO, ZERO, BOX, 0, 0, row, slice, s->memory, 0, NULL, NULL)
PROBE(read_rect_no_queue, INVALID_COMMAND_QUEUE, READ_RECT(NULL, s->buffer, ZERO, BOX, 0, 0, s->memory))
PROBE(read_rect_to_short_rows, INVALID_VALUE, READ_RECT_HOST(15, 0))
PROBE(read_rect_to_short_slices, INVALID_VALUE, READ_RECT_HOST(16, 48))
PROBE(read_rect_to_broken_slices, INVALID_VALUE, READ_RECT_HOST(16, 72))
PROBE(read_rect_what_host_may_not, INVALID_OPERATION, READ_RECT(s->queue, s->no_access, ZERO, BOX, 0, 0, s->memory))
PROBE(read_rect_what_host_only_writes, INVALID_OPERATION,
      READ_RECT(s->queue, s->write_only, ZERO, BOX, 0, 0, s->memory))

#define WRITE_RECT(queue, buffer, origin, region, row, slice, host) \
  clEnqueueWriteBufferRect(queue, buffer, CL_TRUE, origin, ZERO, region, row, slice, 0, 0, host, 0, NULL, NULL)
#define WRITE_RECT_AFTER(count, list) \
  clEnqueueWriteBufferRect(s->queue, s->buffer, CL_TRUE, ZERO, ZERO, BOX, 0, 0, 0, 0, s->memory, count, list, NULL)
WAITS(write_rect, WRITE_RECT_AFTER)
PROBE(write_rect_no_queue, INVALID_COMMAND_QUEUE, WRITE_RECT(NULL, s->buffer, ZERO, BOX, 0, 0, s->memory))
PROBE(write_rect_no_buffer, INVALID_MEM_OBJECT, WRITE_RECT(s->queue, NULL, ZERO, BOX, 0, 0, s->memory))
PROBE(write_rect_another_context, INVALID_CONTEXT, WRITE_RECT(s->queue, s->other_buffer, ZERO, BOX, 0, 0, s->memory))
PROBE(write_rect_of_broken_slices, INVALID_VALUE, WRITE_RECT(s->queue, s->buffer, ZERO, BOX, 16, 72, s->memory))
PROBE(write_rect_what_host_may_not, INVALID_OPERATION, WRITE_RECT(s->queue, s->no_access, ZERO, BOX, 0, 0, s->memory))
PROBE(write_rect_from_nowhere, INVALID_VALUE, WRITE_RECT(s->queue, s->buffer, ZERO, BOX, 0, 0, NULL))
PROBE(write_rect_of_no_width, INVALID_VALUE,
      WRITE_RECT(s->queue, s->buffer, ZERO, ((size_t[3]){0, 4, 2}), 0, 0, s->memory))
PROBE(write_rect_of_short_rows, INVALID_VALUE, WRITE_RECT(s->queue, s->buffer, ZERO, BOX, 15, 0, s->memory))
PROBE(write_rect_beyond, INVALID_VALUE,
      WRITE_RECT(s->queue, s->buffer, ((size_t[3]){0, 0, SANDBOX_BYTES / 64 - 1}), BOX, 16, 64, s->memory))
PROBE(write_rect_what_host_only_reads, INVALID_OPERATION,
      WRITE_RECT(s->queue, s->read_only, ZERO, BOX, 0, 0, s->memory))

#define COPY(from, to, from_offset, to_offset, bytes) \
  clEnqueueCopyBuffer(s->queue, from, to, from_offset, to_offset, bytes, 0, NULL, NULL)
#define COPY_AFTER(count, list) clEnqueueCopyBuffer(s->queue, s->buffer, s->read_only, 0, 0, 64, count, list, NULL)
WAITS(copy, COPY_AFTER)
PROBE(copy_in_no_queue, INVALID_COMMAND_QUEUE,
      clEnqueueCopyBuffer(NULL, s->buffer, s->read_only, 0, 0, 64, 0, NULL, NULL))
PROBE(copy_overflow, INVALID_VALUE, COPY(s->buffer, s->read_only, 64, 0, SIZE_MAX - 32))
PROBE(copy_from_none, INVALID_MEM_OBJECT, COPY(NULL, s->buffer, 0, 0, 64))
PROBE(copy_to_none, INVALID_MEM_OBJECT, COPY(s->buffer, NULL, 0, 0, 64))
PROBE(copy_from_another_context, INVALID_CONTEXT, COPY(s->other_buffer, s->buffer, 0, 0, 64))
PROBE(copy_to_another_context, INVALID_CONTEXT, COPY(s->buffer, s->other_buffer, 0, 0, 64))
PROBE(copy_from_beyond, INVALID_VALUE, COPY(s->buffer, s->read_only, SANDBOX_BYTES - 63, 0, 64))
PROBE(copy_to_beyond, INVALID_VALUE, COPY(s->buffer, s->read_only, 0, SANDBOX_BYTES - 63, 64))
PROBE(copy_overlap, MEM_COPY_OVERLAP, COPY(s->buffer, s->buffer, 0, 63, 64))
PROBE(copy_overlap_of_sub_buffer, MEM_COPY_OVERLAP, COPY(s->buffer, s->sub, SUB_ORIGIN, 32, 64))

#define COPY_RECT(from, to, from_origin, to_origin, region, row, slice) \
  clEnqueueCopyBufferRect(s->queue, from, to, from_origin, to_origin, region, row, slice, row, slice, 0, NULL, NULL)
#define COPY_RECT_AFTER(count, list) \
  clEnqueueCopyBufferRect(s->queue, s->buffer, s->read_only, ZERO, ZERO, BOX, 0, 0, 0, 0, count, list, NULL)
WAITS(copy_rect, COPY_RECT_AFTER)
DEVIANT(copy_rect_from_none, INVALID_MEM_OBJECT, "crashes",
        COPY_RECT(NULL, s->buffer, ZERO, ZERO, BOX, 0, 0))
DEVIANT(copy_rect_to_none, INVALID_MEM_OBJECT, "crashes",
        COPY_RECT(s->buffer, NULL, ZERO, ZERO, BOX, 0, 0))
PROBE(copy_rect_from_beyond, INVALID_VALUE,
      COPY_RECT(s->buffer, s->read_only, ((size_t[3]){0, 0, SANDBOX_BYTES / 64 - 1}), ZERO, BOX, 16, 64))
PROBE(copy_rect_to_another_context, INVALID_CONTEXT, COPY_RECT(s->buffer, s->other_buffer, ZERO, ZERO, BOX, 0, 0))
PROBE(copy_rect_of_no_width, INVALID_VALUE,
      COPY_RECT(s->buffer, s->read_only, ZERO, ZERO, ((size_t[3]){0, 4, 2}), 0, 0))
PROBE(copy_rect_of_short_rows, INVALID_VALUE, COPY_RECT(s->buffer, s->read_only, ZERO, ZERO, BOX, 15, 0))
PROBE(copy_rect_beyond, INVALID_VALUE,
      COPY_RECT(s->buffer, s->read_only, ZERO, ((size_t[3]){0, 0, SANDBOX_BYTES / 64 - 1}), BOX, 16, 64))
PROBE(copy_rect_overlap, MEM_COPY_OVERLAP,
      COPY_RECT(s->buffer, s->buffer, ZERO, ((size_t[3]){8, 1, 0}), BOX, 32, 256))
PROBE(copy_rect_within_one_of_two_pitches, INVALID_VALUE,
      clEnqueueCopyBufferRect(s->queue, s->buffer, s->buffer, ZERO, ((size_t[3]){0, 0, 4}), BOX, 16, 64, 32, 128,
                              0, NULL, NULL))

#define FILL(queue, buffer, pattern, size, offset, bytes) \
  clEnqueueFillBuffer(queue, buffer, pattern, size, offset, bytes, 0, NULL, NULL)
#define FILL_AFTER(count, list) clEnqueueFillBuffer(s->queue, s->buffer, s->memory, 4, 0, 64, count, list, NULL)
WAITS(fill, FILL_AFTER)
PROBE(fill_no_queue, INVALID_COMMAND_QUEUE, FILL(NULL, s->buffer, s->memory, 4, 0, 64))
PROBE(fill_no_buffer, INVALID_MEM_OBJECT, FILL(s->queue, NULL, s->memory, 4, 0, 64))
PROBE(fill_another_context, INVALID_CONTEXT, FILL(s->queue, s->other_buffer, s->memory, 4, 0, 64))
PROBE(fill_with_nothing, INVALID_VALUE, FILL(s->queue, s->buffer, NULL, 4, 0, 64))
PROBE(fill_with_no_bytes, INVALID_VALUE, FILL(s->queue, s->buffer, s->memory, 0, 0, 64))
PROBE(fill_with_three, INVALID_VALUE, FILL(s->queue, s->buffer, s->memory, 3, 0, 63))
PROBE(fill_with_too_many, INVALID_VALUE, FILL(s->queue, s->buffer, s->memory, 256, 0, 512))
PROBE(fill_from_between, INVALID_VALUE, FILL(s->queue, s->buffer, s->memory, 8, 4, 64))
PROBE(fill_to_between, INVALID_VALUE, FILL(s->queue, s->buffer, s->memory, 8, 8, 60))
PROBE(fill_beyond, INVALID_VALUE, FILL(s->queue, s->buffer, s->memory, 8, SANDBOX_BYTES - 56, 64))

#define MAP(queue, buffer, flags, offset, bytes) \
  __extension__({ \
    cl_int status = 1234; \
    void *pointer = clEnqueueMapBuffer(queue, buffer, CL_TRUE, flags, offset, bytes, 0, NULL, NULL, &status); \
    pointer ? 4321 : status; \
  })
#define MAP_AFTER(count, list) \
  __extension__({ \
    cl_int status = 1234; \
    void *pointer = clEnqueueMapBuffer(s->queue, s->buffer, CL_TRUE, CL_MAP_READ, 0, 64, count, list, NULL, &status); \
    pointer ? 4321 : status; \
  })
WAITS(map, MAP_AFTER)
PROBE(map_no_queue, INVALID_COMMAND_QUEUE, MAP(NULL, s->buffer, CL_MAP_READ, 0, 64))
PROBE(map_no_buffer, INVALID_MEM_OBJECT, MAP(s->queue, NULL, CL_MAP_READ, 0, 64))
PROBE(map_another_context, INVALID_CONTEXT, MAP(s->queue, s->other_buffer, CL_MAP_READ, 0, 64))
PROBE(map_beyond, INVALID_VALUE, MAP(s->queue, s->buffer, CL_MAP_READ, SANDBOX_BYTES - 63, 64))
PROBE(map_overflow, INVALID_VALUE, MAP(s->queue, s->buffer, CL_MAP_READ, 64, SIZE_MAX - 32))
PROBE(map_no_bytes, INVALID_VALUE, MAP(s->queue, s->buffer, CL_MAP_READ, 0, 0))
DEVIANT(map_with_unknown_flags, INVALID_VALUE,
        "does not look at the flags",
        MAP(s->queue, s->buffer, (cl_map_flags)1 << 20, 0, 64))
DEVIANT(map_for_reading_and_new_content, INVALID_VALUE,
        "does not look at the flags",
        MAP(s->queue, s->buffer, CL_MAP_READ | CL_MAP_WRITE_INVALIDATE_REGION, 0, 64))
PROBE(map_what_host_only_writes, INVALID_OPERATION, MAP(s->queue, s->write_only, CL_MAP_READ, 0, 64))
PROBE(map_what_host_only_reads, INVALID_OPERATION, MAP(s->queue, s->read_only, CL_MAP_WRITE, 0, 64))
PROBE(map_what_host_may_not, INVALID_OPERATION, MAP(s->queue, s->no_access, CL_MAP_READ, 0, 64))
PROBE(unmap_what_is_not_mapped, INVALID_VALUE,
      clEnqueueUnmapMemObject(s->queue, s->buffer, s->memory, 0, NULL, NULL))
#define UNMAP_AFTER(count, list) unmap_after(s, count, list)
WAITS(unmap, UNMAP_AFTER)
PROBE(unmap_in_no_queue, INVALID_COMMAND_QUEUE, clEnqueueUnmapMemObject(NULL, s->buffer, s->memory, 0, NULL, NULL))
PROBE(unmap_nothing, INVALID_VALUE, clEnqueueUnmapMemObject(s->queue, s->buffer, NULL, 0, NULL, NULL))
PROBE(unmap_no_buffer, INVALID_MEM_OBJECT, clEnqueueUnmapMemObject(s->queue, NULL, s->memory, 0, NULL, NULL))
PROBE(unmap_twice, INVALID_VALUE, unmap_twice(s))
PROBE(unmap_through_another_buffer, INVALID_VALUE, unmap_through_another_buffer(s))

#define MIGRATE(count, list, flags) clEnqueueMigrateMemObjects(s->queue, count, list, flags, 0, NULL, NULL)
#define MIGRATE_AFTER(count, list) clEnqueueMigrateMemObjects(s->queue, 1, &s->buffer, 0, count, list, NULL)
WAITS(migrate, MIGRATE_AFTER)
PROBE(migrate_in_no_queue, INVALID_COMMAND_QUEUE, clEnqueueMigrateMemObjects(NULL, 1, &s->buffer, 0, 0, NULL, NULL))
PROBE(migrate_none, INVALID_VALUE, MIGRATE(0, &s->buffer, 0))
PROBE(migrate_without_list, INVALID_VALUE, MIGRATE(1, NULL, 0))
PROBE(migrate_no_buffer_in_list, INVALID_MEM_OBJECT, MIGRATE(2, ((cl_mem[]){s->buffer, NULL}), 0))
PROBE(migrate_another_context, INVALID_CONTEXT, MIGRATE(1, &s->other_buffer, 0))
PROBE(migrate_with_unknown_flags, INVALID_VALUE, MIGRATE(1, &s->buffer, 1 << 20))

#define MARKER_AFTER(count, list) clEnqueueMarkerWithWaitList(s->queue, count, list, NULL)
#define BARRIER_AFTER(count, list) clEnqueueBarrierWithWaitList(s->queue, count, list, NULL)
WAITS(marker, MARKER_AFTER)
WAITS(barrier, BARRIER_AFTER)
PROBE(marker_in_no_queue, INVALID_COMMAND_QUEUE, clEnqueueMarkerWithWaitList(NULL, 0, NULL, NULL))
PROBE(barrier_in_no_queue, INVALID_COMMAND_QUEUE, clEnqueueBarrierWithWaitList(NULL, 0, NULL, NULL))
PROBE(old_marker_without_event, INVALID_VALUE, clEnqueueMarker(s->queue, NULL))
PROBE(old_marker_in_no_queue, INVALID_COMMAND_QUEUE, clEnqueueMarker(NULL, (cl_event[1]){0}))
PROBE(old_barrier_in_no_queue, INVALID_COMMAND_QUEUE, clEnqueueBarrier(NULL))
DEVIANT(old_wait_for_no_events, INVALID_VALUE,
        "ends the program: clEnqueueWaitForEvents is not there",
        clEnqueueWaitForEvents(s->queue, 0, NULL))
DEVIANT(old_wait_for_another_context, INVALID_CONTEXT,
        "ends the program: clEnqueueWaitForEvents is not there",
        clEnqueueWaitForEvents(s->queue, 1, &s->other_event))
