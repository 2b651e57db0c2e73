//! Command buffers: making, enqueuing and asking them. What is recorded is in [`super::record`].
#![allow(unsafe_code, non_snake_case)]

use std::ffi::c_void;

use opencl_sys::*;

use super::{object, status};
use crate::command::CallMode;
use crate::command::command_buffer::CommandBuffer;
use crate::command::wait_list::WaitList;
use crate::error::{Result, ensure, fail};
use crate::handle::{Object, Ref, get, release, retain};
use crate::info::{Out, list, properties};
use crate::objects::queue::Queue;

/// All flags that have a meaning, in extensions to the extension, too.
const FLAGS: cl_command_buffer_flags_khr =
    CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR | CL_COMMAND_BUFFER_MUTABLE_KHR | CL_COMMAND_BUFFER_DEVICE_SIDE_SYNC_KHR;

/// The queues of a call, if it gives any: one, as the extension asks.
///
/// # Safety
/// `queues` is null or good for reading `count` handles.
unsafe fn one_queue(count: cl_uint, queues: *const cl_command_queue) -> Result<Option<Ref<Queue>>> {
    ensure(queues.is_null() == (count == 0) && count <= 1, CL_INVALID_VALUE)?;
    // SAFETY: as the caller says.
    let handles = unsafe { list(queues, count as usize) };
    handles.first().map(|queue| get::<Queue>(*queue)).transpose()
}

pub unsafe extern "C" fn clCreateCommandBufferKHR(
    num_queues: cl_uint,
    queues: *const cl_command_queue,
    given: *const cl_command_buffer_properties_khr,
    errcode_ret: *mut cl_int,
) -> cl_command_buffer_khr {
    let make = || {
        // SAFETY: the program's, as the specification asks.
        let queue = unsafe { one_queue(num_queues, queues) }?;
        let Some(queue) = queue else { return fail(CL_INVALID_VALUE) };
        // SAFETY: as above.
        let pairs = unsafe { properties(given) };
        ensure(pairs.len() <= 1, CL_INVALID_VALUE)?;
        for (name, flags) in &pairs {
            ensure(*name == CL_COMMAND_BUFFER_FLAGS_KHR && flags & !FLAGS == 0, CL_INVALID_VALUE)?;
            // Any command buffer may be enqueued while it runs.
            ensure(flags & !CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR == 0, CL_INVALID_PROPERTY)?;
        }
        let mut array: Vec<_> = pairs.iter().flat_map(|(name, value)| [*name, *value]).collect();
        if !given.is_null() {
            array.push(0);
        }
        let table = queue.table();
        Ok(Object::list(&Object::new(table, CommandBuffer::new(queue, array))))
    };
    // SAFETY: as above.
    unsafe { object(errcode_ret, make) }
}

pub unsafe extern "C" fn clFinalizeCommandBufferKHR(command_buffer: cl_command_buffer_khr) -> cl_int {
    status(|| get::<CommandBuffer>(command_buffer)?.finalize())
}

pub unsafe extern "C" fn clRetainCommandBufferKHR(command_buffer: cl_command_buffer_khr) -> cl_int {
    status(|| retain::<CommandBuffer>(command_buffer))
}

pub unsafe extern "C" fn clReleaseCommandBufferKHR(command_buffer: cl_command_buffer_khr) -> cl_int {
    status(|| release::<CommandBuffer>(command_buffer))
}

pub unsafe extern "C" fn clEnqueueCommandBufferKHR(
    num_queues: cl_uint,
    queues: *mut cl_command_queue,
    command_buffer: cl_command_buffer_khr,
    num_waits: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the program's, as the specification asks.
    let wait_list = unsafe { WaitList::new(num_waits, waits, event) };
    status(|| {
        let buffer = get::<CommandBuffer>(command_buffer)?;
        let command = buffer.command()?;
        // SAFETY: as above.
        let queue = unsafe { one_queue(num_queues, queues) }?;
        queue.iter().try_for_each(|queue| buffer.check_queue(queue))?;
        let queue = queue.unwrap_or_else(|| buffer.queue.clone());
        let waits = wait_list.waits(&queue.context)?;
        wait_list.enqueue(&queue, CL_COMMAND_COMMAND_BUFFER_KHR, waits, command, CallMode::NonBlocking)
    })
}

pub unsafe extern "C" fn clGetCommandBufferInfoKHR(
    command_buffer: cl_command_buffer_khr,
    name: cl_command_buffer_info_khr,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    status(|| {
        let buffer = get::<CommandBuffer>(command_buffer)?;
        // SAFETY: the program's, as the specification asks.
        let out = unsafe { Out::new(size, value, size_ret) };
        match name {
            CL_COMMAND_BUFFER_QUEUES_KHR => out.pointer(buffer.queue.handle()),
            CL_COMMAND_BUFFER_NUM_QUEUES_KHR => out.uint(1),
            CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR => out.uint(buffer.references()),
            CL_COMMAND_BUFFER_STATE_KHR => out.uint(if buffer.is_finalized() {
                CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR
            } else {
                CL_COMMAND_BUFFER_STATE_RECORDING_KHR
            }),
            CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR => {
                out.bytes(&buffer.array.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<_>>())
            }
            CL_COMMAND_BUFFER_CONTEXT_KHR => out.pointer(buffer.queue.context.handle()),
            _ => fail(CL_INVALID_VALUE),
        }
    })
}
