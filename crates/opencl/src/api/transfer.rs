//! Reading, writing, copying and filling buffers.
#![allow(unsafe_code, non_snake_case)]

use std::ffi::c_void;

use opencl_sys::*;

use super::{give_event, status, wait_list};
use crate::command::Work;
use crate::error::{Result, ensure};
use crate::gate::enqueue;
use crate::handle::{Ref, get};
use crate::host::{Host, Region};
use crate::info::list;
use crate::migrate::use_of;
use crate::objects::memory::Buffer;
use crate::objects::queue::Queue;

/// A queue and a buffer of its context, whose part the queue's device can use.
pub fn place(queue: cl_command_queue, mem: cl_mem) -> Result<(Ref<Queue>, Ref<Buffer>)> {
    let queue = get::<Queue>(queue)?;
    let buffer = get::<Buffer>(mem)?;
    check_place(&queue, &buffer)?;
    Ok((queue, buffer))
}

/// Whether a queue's device can use a buffer.
pub fn check_place(queue: &Ref<Queue>, buffer: &Ref<Buffer>) -> Result<()> {
    ensure(queue.context.handle() == buffer.context.handle(), CL_INVALID_CONTEXT)?;
    ensure(buffer.offset.is_multiple_of(queue.device.bounds.align), CL_MISALIGNED_SUB_BUFFER_OFFSET)
}

/// Whether `len` bytes from `offset` on are in the buffer.
pub fn check_bounds(buffer: &Buffer, offset: usize, len: usize) -> Result<()> {
    let end = (offset as u64).checked_add(len as u64);
    ensure(end.is_some_and(|end| end <= buffer.size), CL_INVALID_VALUE)
}

/// Whether the program may read it.
pub fn check_readable(buffer: &Buffer) -> Result<()> {
    ensure(buffer.flags & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS) == 0, CL_INVALID_OPERATION)
}

/// Whether the program may write it.
pub fn check_writable(buffer: &Buffer) -> Result<()> {
    ensure(buffer.flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS) == 0, CL_INVALID_OPERATION)
}

pub unsafe extern "C" fn clEnqueueReadBuffer(
    queue: cl_command_queue,
    mem: cl_mem,
    blocking: cl_bool,
    offset: usize,
    size: usize,
    ptr: *mut c_void,
    num_waits: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    status(|| {
        let (queue, buffer) = place(queue, mem)?;
        check_bounds(&buffer, offset, size)?;
        ensure(!ptr.is_null(), CL_INVALID_VALUE)?;
        // SAFETY: the program's, as the specification asks.
        let waits = unsafe { wait_list(&queue.context, num_waits, waits) }?;
        check_readable(&buffer)?;
        // SAFETY: the program keeps the memory for us until the command has ended.
        let host = unsafe { Host::linear(ptr.cast(), size) };
        let region = Region::Linear(buffer.offset + offset as u64);
        let from = Buffer::root(&buffer).clone();
        let work = if size == 0 { Work::Marker } else { Work::Read { from, region, host } };
        let made = enqueue(&queue, CL_COMMAND_READ_BUFFER, waits, work, blocking != CL_FALSE)?;
        // SAFETY: as above.
        unsafe { give_event(event, &made) };
        Ok(())
    })
}

pub unsafe extern "C" fn clEnqueueWriteBuffer(
    queue: cl_command_queue,
    mem: cl_mem,
    blocking: cl_bool,
    offset: usize,
    size: usize,
    ptr: *const c_void,
    num_waits: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    status(|| {
        let (queue, buffer) = place(queue, mem)?;
        check_bounds(&buffer, offset, size)?;
        ensure(!ptr.is_null(), CL_INVALID_VALUE)?;
        // SAFETY: the program's, as the specification asks.
        let waits = unsafe { wait_list(&queue.context, num_waits, waits) }?;
        check_writable(&buffer)?;
        // SAFETY: the program keeps the memory for us until the command has ended; it is only read.
        let host = unsafe { Host::linear(ptr.cast_mut().cast(), size) };
        let region = Region::Linear(buffer.offset + offset as u64);
        let to = Buffer::root(&buffer).clone();
        let work = if size == 0 { Work::Marker } else { Work::Write { to, region, host } };
        let made = enqueue(&queue, CL_COMMAND_WRITE_BUFFER, waits, work, blocking != CL_FALSE)?;
        // SAFETY: as above.
        unsafe { give_event(event, &made) };
        Ok(())
    })
}

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
    status(|| {
        let (queue, from) = place(queue, from)?;
        let to = get::<Buffer>(to)?;
        check_place(&queue, &to)?;
        check_bounds(&from, from_offset, size)?;
        check_bounds(&to, to_offset, size)?;
        // SAFETY: the program's, as the specification asks.
        let waits = unsafe { wait_list(&queue.context, num_waits, waits) }?;
        let (from_offset, to_offset) = (from.offset + from_offset as u64, to.offset + to_offset as u64);
        let (from, to) = (Buffer::root(&from).clone(), Buffer::root(&to).clone());
        let overlap = from.handle() == to.handle() && from_offset.abs_diff(to_offset) < size as u64;
        ensure(!overlap, CL_MEM_COPY_OVERLAP)?;
        let len = size as u64;
        let work = if size == 0 { Work::Marker } else { Work::Copy { from, from_offset, to, to_offset, len } };
        let made = enqueue(&queue, CL_COMMAND_COPY_BUFFER, waits, work, false)?;
        // SAFETY: as above.
        unsafe { give_event(event, &made) };
        Ok(())
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
    status(|| {
        let (queue, buffer) = place(queue, mem)?;
        check_bounds(&buffer, offset, size)?;
        let fits = pattern_size.is_power_of_two() && pattern_size <= 128;
        ensure(!pattern.is_null() && fits, CL_INVALID_VALUE)?;
        ensure(offset.is_multiple_of(pattern_size) && size.is_multiple_of(pattern_size), CL_INVALID_VALUE)?;
        // SAFETY: the program's, as the specification asks.
        let waits = unsafe { wait_list(&queue.context, num_waits, waits) }?;
        // SAFETY: as above.
        let pattern = unsafe { list(pattern.cast::<u8>(), pattern_size) };
        let (offset, len) = (buffer.offset + offset as u64, size as u64);
        let to = Buffer::root(&buffer).clone();
        let work = if size == 0 { Work::Marker } else { Work::Fill { to, offset, len, pattern } };
        let made = enqueue(&queue, CL_COMMAND_FILL_BUFFER, waits, work, false)?;
        // SAFETY: as above.
        unsafe { give_event(event, &made) };
        Ok(())
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
        // SAFETY: as above.
        let waits = unsafe { wait_list(&queue.context, num_waits, waits) }?;
        let work = Work::Migrate { buffers, does: use_of(flags) };
        let made = enqueue(&queue, CL_COMMAND_MIGRATE_MEM_OBJECTS, waits, work, false)?;
        // SAFETY: as above.
        unsafe { give_event(event, &made) };
        Ok(())
    })
}
