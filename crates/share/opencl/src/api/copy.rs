//! Copying between buffers, filling them, and moving them between devices.
#![allow(unsafe_code, non_snake_case)]

use std::ffi::c_void;

use opencl_sys::*;

use super::rect::{overlap, rect, within};
use super::status;
use super::transfer::{buffer, check_bounds, check_place, place};
use crate::command::migrate::access_of;
use crate::command::wait_list::WaitList;
use crate::command::{CallMode, Kind};
use crate::error::ensure;
use crate::handle::get;
use crate::info::list;
use crate::objects::memory::Buffer;
use crate::objects::queue::Queue;

pub unsafe extern "C" fn clEnqueueCopyBuffer(
    queue: cl_command_queue,
    from: cl_mem,
    to: cl_mem,
    from_offset: usize,
    to_offset: usize,
    size: usize,
    num_waits: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the program's, as the specification asks.
    let wait_list = unsafe { WaitList::new(num_waits, waits, event) };
    status(|| {
        let (queue, from) = place(queue, from)?;
        let to = buffer(to)?;
        check_place(&queue, &to)?;
        check_bounds(&from, from_offset, size)?;
        check_bounds(&to, to_offset, size)?;
        let waits = wait_list.waits(&queue.context)?;
        let (from_offset, to_offset) = (from.offset + from_offset as u64, to.offset + to_offset as u64);
        let (from, to) = (Buffer::root(&from).clone(), Buffer::root(&to).clone());
        let overlap = from.handle() == to.handle() && from_offset.abs_diff(to_offset) < size as u64;
        ensure(!overlap, CL_MEM_COPY_OVERLAP)?;
        let len = size as u64;
        let kind = if size == 0 { Kind::Marker } else { Kind::Copy { from, from_offset, to, to_offset, len } };
        wait_list.enqueue(&queue, CL_COMMAND_COPY_BUFFER, waits, kind, CallMode::NonBlocking)
    })
}

pub unsafe extern "C" fn clEnqueueCopyBufferRect(
    queue: cl_command_queue,
    from: cl_mem,
    to: cl_mem,
    from_origin: *const usize,
    to_origin: *const usize,
    region: *const usize,
    from_row_pitch: usize,
    from_slice_pitch: usize,
    to_row_pitch: usize,
    to_slice_pitch: usize,
    num_waits: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the program's, as the specification asks.
    let wait_list = unsafe { WaitList::new(num_waits, waits, event) };
    status(|| {
        let (queue, from) = place(queue, from)?;
        let to = buffer(to)?;
        check_place(&queue, &to)?;
        // SAFETY: the program's, as the specification asks.
        let source = within(&from, unsafe { rect(from_origin, region, from_row_pitch, from_slice_pitch) }?)?;
        // SAFETY: as above.
        let target = within(&to, unsafe { rect(to_origin, region, to_row_pitch, to_slice_pitch) }?)?;
        let waits = wait_list.waits(&queue.context)?;
        if from.handle() == to.handle() {
            let same = source.row_pitch == target.row_pitch && source.slice_pitch == target.slice_pitch;
            ensure(same, CL_INVALID_VALUE)?;
        }
        let (from, to) = (Buffer::root(&from).clone(), Buffer::root(&to).clone());
        ensure(from.handle() != to.handle() || !overlap(&source, &target), CL_MEM_COPY_OVERLAP)?;
        let kind = Kind::CopyRect { from, source, to, target };
        wait_list.enqueue(&queue, CL_COMMAND_COPY_BUFFER_RECT, waits, kind, CallMode::NonBlocking)
    })
}

pub unsafe extern "C" fn clEnqueueFillBuffer(
    queue: cl_command_queue,
    mem: cl_mem,
    pattern: *const c_void,
    pattern_size: usize,
    offset: usize,
    size: usize,
    num_waits: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the program's, as the specification asks.
    let wait_list = unsafe { WaitList::new(num_waits, waits, event) };
    status(|| {
        let (queue, buffer) = place(queue, mem)?;
        check_bounds(&buffer, offset, size)?;
        let fits = pattern_size.is_power_of_two() && pattern_size <= 128;
        ensure(!pattern.is_null() && fits, CL_INVALID_VALUE)?;
        ensure(offset.is_multiple_of(pattern_size) && size.is_multiple_of(pattern_size), CL_INVALID_VALUE)?;
        let waits = wait_list.waits(&queue.context)?;
        // SAFETY: as above.
        let pattern = unsafe { list(pattern.cast::<u8>(), pattern_size) };
        let (offset, len) = (buffer.offset + offset as u64, size as u64);
        let to = Buffer::root(&buffer).clone();
        let kind = if size == 0 { Kind::Marker } else { Kind::Fill { to, offset, len, pattern } };
        wait_list.enqueue(&queue, CL_COMMAND_FILL_BUFFER, waits, kind, CallMode::NonBlocking)
    })
}

pub unsafe extern "C" fn clEnqueueMigrateMemObjects(
    queue: cl_command_queue,
    count: cl_uint,
    mems: *const cl_mem,
    flags: cl_mem_migration_flags,
    num_waits: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the program's, as the specification asks.
    let wait_list = unsafe { WaitList::new(num_waits, waits, event) };
    status(|| {
        let queue = get::<Queue>(queue)?;
        ensure(count > 0 && !mems.is_null(), CL_INVALID_VALUE)?;
        let known = CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
        ensure(flags & !known == 0, CL_INVALID_VALUE)?;
        // SAFETY: the program's, as the specification asks.
        let handles = unsafe { list(mems, count as usize) };
        let mut buffers = Vec::new();
        for handle in handles {
            let buffer = get::<Buffer>(handle)?;
            check_place(&queue, &buffer)?;
            buffers.push(Buffer::root(&buffer).clone());
        }
        let waits = wait_list.waits(&queue.context)?;
        let kind = Kind::Migrate { buffers, access: access_of(flags) };
        wait_list.enqueue(&queue, CL_COMMAND_MIGRATE_MEM_OBJECTS, waits, kind, CallMode::NonBlocking)
    })
}
