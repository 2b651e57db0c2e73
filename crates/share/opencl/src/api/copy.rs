//! Copying between buffers, filling them, and moving them between devices.
#![allow(unsafe_code, non_snake_case)]

use std::ffi::c_void;

use opencl_sys::*;

use super::rect::{overlap, rect, within};
use super::status;
use super::transfer::{buffer_at, check_bounds, check_place};
use crate::command::migrate::access_of;
use crate::command::wait_list::WaitList;
use crate::command::{CallMode, Kind};
use crate::error::{Result, ensure};
use crate::handle::{Ref, get};
use crate::info::list;
use crate::objects::memory::Buffer;
use crate::objects::queue::Queue;

/// A copy between buffers, each with the byte where it begins.
pub fn copy(
    queue: &Ref<Queue>,
    (from, from_offset): (cl_mem, usize),
    (to, to_offset): (cl_mem, usize),
    size: usize,
) -> Result<Kind> {
    let (from, to) = (buffer_at(queue, from)?, buffer_at(queue, to)?);
    check_bounds(&from, from_offset, size)?;
    check_bounds(&to, to_offset, size)?;
    let (from_offset, to_offset) = (from.offset + from_offset as u64, to.offset + to_offset as u64);
    let (from, to) = (Buffer::root(&from).clone(), Buffer::root(&to).clone());
    let overlap = from.handle() == to.handle() && from_offset.abs_diff(to_offset) < size as u64;
    ensure(!overlap, CL_MEM_COPY_OVERLAP)?;
    let len = size as u64;
    Ok(if size == 0 { Kind::Marker } else { Kind::Copy { from, from_offset, to, to_offset, len } })
}

/// A box of a buffer: its origin, and bytes of a row and of a slice, as the calls have them.
#[derive(Clone, Copy)]
pub struct BoxIn {
    pub mem: cl_mem,
    pub origin: *const usize,
    pub row_pitch: usize,
    pub slice_pitch: usize,
}

/// A copy of a box between buffers.
///
/// # Safety
/// The origins and `region` are null or good for reading three numbers.
pub unsafe fn copy_rect(queue: &Ref<Queue>, from: BoxIn, to: BoxIn, region: *const usize) -> Result<Kind> {
    let find = |place: BoxIn| {
        let buffer = buffer_at(queue, place.mem)?;
        // SAFETY: as the caller says.
        let rect = unsafe { rect(place.origin, region, place.row_pitch, place.slice_pitch) }?;
        let rect = within(&buffer, rect)?;
        Result::Ok((buffer, rect))
    };
    let ((from, source), (to, target)) = (find(from)?, find(to)?);
    if from.handle() == to.handle() {
        let same = source.row_pitch == target.row_pitch && source.slice_pitch == target.slice_pitch;
        ensure(same, CL_INVALID_VALUE)?;
    }
    let (from, to) = (Buffer::root(&from).clone(), Buffer::root(&to).clone());
    ensure(from.handle() != to.handle() || !overlap(&source, &target), CL_MEM_COPY_OVERLAP)?;
    Ok(Kind::CopyRect { from, source, to, target })
}

/// A pattern of `pattern_size` bytes into a buffer, from `offset` on.
///
/// # Safety
/// `pattern` is null or good for reading so many bytes.
pub unsafe fn fill(
    queue: &Ref<Queue>,
    (mem, offset): (cl_mem, usize),
    (pattern, pattern_size): (*const c_void, usize),
    size: usize,
) -> Result<Kind> {
    let buffer = buffer_at(queue, mem)?;
    check_bounds(&buffer, offset, size)?;
    let fits = pattern_size.is_power_of_two() && pattern_size <= 128;
    ensure(!pattern.is_null() && fits, CL_INVALID_VALUE)?;
    ensure(offset.is_multiple_of(pattern_size) && size.is_multiple_of(pattern_size), CL_INVALID_VALUE)?;
    // SAFETY: as the caller says.
    let pattern = unsafe { list(pattern.cast::<u8>(), pattern_size) };
    let (offset, len) = (buffer.offset + offset as u64, size as u64);
    let to = Buffer::root(&buffer).clone();
    Ok(if size == 0 { Kind::Marker } else { Kind::Fill { to, offset, len, pattern } })
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
    // SAFETY: the program's, as the specification asks.
    let wait_list = unsafe { WaitList::new(num_waits, waits, event) };
    let make = |queue: &Ref<Queue>| copy(queue, (from, from_offset), (to, to_offset), size);
    status(|| wait_list.command(queue, CL_COMMAND_COPY_BUFFER, make))
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
    let from = BoxIn { mem: from, origin: from_origin, row_pitch: from_row_pitch, slice_pitch: from_slice_pitch };
    let to = BoxIn { mem: to, origin: to_origin, row_pitch: to_row_pitch, slice_pitch: to_slice_pitch };
    // SAFETY: the program's, as the specification asks.
    let wait_list = unsafe { WaitList::new(num_waits, waits, event) };
    // SAFETY: as above.
    let make = |queue: &Ref<Queue>| unsafe { copy_rect(queue, from, to, region) };
    status(|| wait_list.command(queue, CL_COMMAND_COPY_BUFFER_RECT, make))
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
    // SAFETY: as above.
    let make = |queue: &Ref<Queue>| unsafe { fill(queue, (mem, offset), (pattern, pattern_size), size) };
    status(|| wait_list.command(queue, CL_COMMAND_FILL_BUFFER, make))
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
