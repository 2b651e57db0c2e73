//! Transfers between the program's memory and buffers, linear or in boxes.
#![allow(unsafe_code, non_snake_case)]

use std::ffi::c_void;

use opencl_sys::*;
use rackloom_opencl_wire::Rect;

use super::rect::{check_host, line, rect, within};
use super::status;
use crate::command::wait_list::WaitList;
use crate::command::{CallMode, Kind};
use crate::error::{Result, ensure};
use crate::handle::{Ref, get};
use crate::host_memory::{HostRegion, Region};
use crate::objects::memory::Buffer;
use crate::objects::queue::Queue;

/// A buffer that is no image.
pub fn buffer(mem: cl_mem) -> Result<Ref<Buffer>> {
    let buffer = get::<Buffer>(mem)?;
    ensure(buffer.image.is_none(), CL_INVALID_MEM_OBJECT)?;
    Ok(buffer)
}

/// A queue, and a buffer that its device can use.
pub fn place(queue: cl_command_queue, mem: cl_mem) -> Result<(Ref<Queue>, Ref<Buffer>)> {
    let queue = get::<Queue>(queue)?;
    let buffer = buffer_at(&queue, mem)?;
    Ok((queue, buffer))
}

/// A buffer that a queue's device can use.
pub fn buffer_at(queue: &Ref<Queue>, mem: cl_mem) -> Result<Ref<Buffer>> {
    let buffer = buffer(mem)?;
    check_place(queue, &buffer)?;
    Ok(buffer)
}

/// The same with a buffer or an image.
pub fn any_place(queue: cl_command_queue, mem: cl_mem) -> Result<(Ref<Queue>, Ref<Buffer>)> {
    let queue = get::<Queue>(queue)?;
    let memory = get::<Buffer>(mem)?;
    check_place(&queue, &memory)?;
    Ok((queue, memory))
}

/// Checks that a queue's device can use a buffer.
pub fn check_place(queue: &Ref<Queue>, buffer: &Ref<Buffer>) -> Result<()> {
    ensure(queue.context.handle() == buffer.context.handle(), CL_INVALID_CONTEXT)?;
    ensure(buffer.offset.is_multiple_of(queue.device.bounds.align), CL_MISALIGNED_SUB_BUFFER_OFFSET)
}

/// Checks that `len` bytes from `offset` on are in the buffer.
pub fn check_bounds(buffer: &Buffer, offset: usize, len: usize) -> Result<()> {
    let end = (offset as u64).checked_add(len as u64);
    ensure(end.is_some_and(|end| end <= buffer.size), CL_INVALID_VALUE)
}

/// Checks that the program may read the buffer.
pub fn check_readable(buffer: &Buffer) -> Result<()> {
    ensure(buffer.flags & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS) == 0, CL_INVALID_OPERATION)
}

/// Checks that the program may write the buffer.
pub fn check_writable(buffer: &Buffer) -> Result<()> {
    ensure(buffer.flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS) == 0, CL_INVALID_OPERATION)
}

/// The direction of a transfer.
#[derive(Clone, Copy)]
enum Way {
    Read,
    Write,
}

/// Enqueues a transfer. `find` checks the call's parameters, and gives the region of the buffer and the box in the
/// program's memory, relative to `ptr`.
///
/// # Safety
/// That box lies in memory of the program, which leaves it to us until the command has ended.
unsafe fn transfer(
    (queue, mem): (cl_command_queue, cl_mem),
    way: Way,
    blocking: cl_bool,
    ptr: *mut c_void,
    wait_list: WaitList,
    find: impl FnOnce(&Buffer) -> Result<(Region, Rect)>,
) -> cl_int {
    status(|| {
        let (queue, buffer) = place(queue, mem)?;
        let (region, here) = find(&buffer)?;
        ensure(!ptr.is_null(), CL_INVALID_VALUE)?;
        let waits = wait_list.waits(&queue.context)?;
        match way {
            Way::Read => check_readable(&buffer)?,
            Way::Write => check_writable(&buffer)?,
        }
        // SAFETY: as the caller says; what is written to a buffer is only read.
        let host = unsafe { HostRegion::rect(ptr.cast(), &here) };
        let command_type = match (way, region) {
            (Way::Read, Region::Linear(_)) => CL_COMMAND_READ_BUFFER,
            (Way::Read, _) => CL_COMMAND_READ_BUFFER_RECT,
            (Way::Write, Region::Linear(_)) => CL_COMMAND_WRITE_BUFFER,
            (Way::Write, _) => CL_COMMAND_WRITE_BUFFER_RECT,
        };
        let root = Buffer::root(&buffer).clone();
        let kind = match way {
            _ if host.len() == 0 => Kind::Marker,
            Way::Read => Kind::Read { from: root, region, host },
            Way::Write => Kind::Write { to: root, region, host },
        };
        wait_list.enqueue(&queue, command_type, waits, kind, CallMode::of(blocking))
    })
}

/// A range of the buffer, and an equally long one of the program's memory.
fn bytes(buffer: &Buffer, offset: usize, size: usize) -> Result<(Region, Rect)> {
    check_bounds(buffer, offset, size)?;
    Ok((Region::Linear(buffer.offset + offset as u64), line(size as u64)))
}

/// A box of the buffer, and one of the program's. Origins are the buffer's and the program's, pitches as well: of rows
/// and slices.
///
/// # Safety
/// `origins` and `region` are null or good for reading three numbers.
unsafe fn boxes(
    buffer: &Buffer,
    origins: [*const usize; 2],
    region: *const usize,
    [row_pitch, slice_pitch, host_row_pitch, host_slice_pitch]: [usize; 4],
) -> Result<(Region, Rect)> {
    // SAFETY: as the caller says.
    let there = within(buffer, unsafe { rect(origins[0], region, row_pitch, slice_pitch) }?)?;
    // SAFETY: as above.
    let here = unsafe { rect(origins[1], region, host_row_pitch, host_slice_pitch) }?;
    check_host(&here)?;
    Ok((Region::Rect(there), here))
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
    let find = |buffer: &Buffer| bytes(buffer, offset, size);
    // SAFETY: the program's, as the specification asks.
    unsafe { transfer((queue, mem), Way::Read, blocking, ptr, WaitList::new(num_waits, waits, event), find) }
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
    let find = |buffer: &Buffer| bytes(buffer, offset, size);
    // SAFETY: the program's, as the specification asks.
    unsafe {
        transfer((queue, mem), Way::Write, blocking, ptr.cast_mut(), WaitList::new(num_waits, waits, event), find)
    }
}

pub unsafe extern "C" fn clEnqueueReadBufferRect(
    queue: cl_command_queue,
    mem: cl_mem,
    blocking: cl_bool,
    origin: *const usize,
    host_origin: *const usize,
    region: *const usize,
    row_pitch: usize,
    slice_pitch: usize,
    host_row_pitch: usize,
    host_slice_pitch: usize,
    ptr: *mut c_void,
    num_waits: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    let pitches = [row_pitch, slice_pitch, host_row_pitch, host_slice_pitch];
    // SAFETY: the program's, as the specification asks.
    let find = |buffer: &Buffer| unsafe { boxes(buffer, [origin, host_origin], region, pitches) };
    // SAFETY: as above.
    unsafe { transfer((queue, mem), Way::Read, blocking, ptr, WaitList::new(num_waits, waits, event), find) }
}

pub unsafe extern "C" fn clEnqueueWriteBufferRect(
    queue: cl_command_queue,
    mem: cl_mem,
    blocking: cl_bool,
    origin: *const usize,
    host_origin: *const usize,
    region: *const usize,
    row_pitch: usize,
    slice_pitch: usize,
    host_row_pitch: usize,
    host_slice_pitch: usize,
    ptr: *const c_void,
    num_waits: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    let pitches = [row_pitch, slice_pitch, host_row_pitch, host_slice_pitch];
    // SAFETY: the program's, as the specification asks.
    let find = |buffer: &Buffer| unsafe { boxes(buffer, [origin, host_origin], region, pitches) };
    // SAFETY: as above.
    unsafe {
        transfer((queue, mem), Way::Write, blocking, ptr.cast_mut(), WaitList::new(num_waits, waits, event), find)
    }
}
