//! Mapping buffers into the program's memory.
#![allow(unsafe_code, non_snake_case)]

use std::ffi::c_void;
use std::sync::Arc;

use opencl_sys::*;
use rackloom_sync::lock;

use super::transfer::{check_bounds, check_readable, check_writable, place};
use super::{object, status};
use crate::command::enqueue::enqueue;
use crate::command::wait_list::WaitList;
use crate::command::{CallMode, Kind};
use crate::error::{Error, Result, ensure};
use crate::handle::Ref;
use crate::host_memory::{HostRegion, Region};
use crate::mapping::Mapping;
use crate::objects::memory::Buffer;
use crate::objects::queue::Queue;

pub unsafe extern "C" fn clEnqueueMapBuffer(
    queue: cl_command_queue,
    mem: cl_mem,
    blocking: cl_bool,
    flags: cl_map_flags,
    offset: usize,
    size: usize,
    num_waits: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
    errcode_ret: *mut cl_int,
) -> *mut c_void {
    // SAFETY: the program's, as the specification asks.
    let wait_list = unsafe { WaitList::new(num_waits, waits, event) };
    let map = || {
        let (queue, buffer) = place(queue, mem)?;
        check_bounds(&buffer, offset, size)?;
        check_flags(flags, size)?;
        let waits = wait_list.waits(&queue.context)?;
        if flags & CL_MAP_READ != 0 {
            check_readable(&buffer)?;
        }
        if flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION) != 0 {
            check_writable(&buffer)?;
        }
        let mapping = Arc::new(mapping(&queue, &buffer, flags, offset, size)?);
        let kind = map_kind(&buffer, &mapping);
        // Counted before it is enqueued: a blocking call that returns has mapped.
        lock(&buffer.maps).push(Arc::clone(&mapping));
        let made = enqueue(&queue, CL_COMMAND_MAP_BUFFER, waits, kind, CallMode::of(blocking)).inspect_err(|_| {
            lock(&buffer.maps).retain(|m| !Arc::ptr_eq(m, &mapping));
        })?;
        wait_list.give(&made);
        Ok(mapping.at.cast())
    };
    // SAFETY: as above.
    unsafe { object(errcode_ret, map) }
}

fn check_flags(flags: u64, size: usize) -> Result<()> {
    let known = CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;
    let invalidates = flags & CL_MAP_WRITE_INVALIDATE_REGION != 0;
    ensure(size > 0 && flags & !known == 0, CL_INVALID_VALUE)?;
    ensure(!invalidates || flags & (CL_MAP_READ | CL_MAP_WRITE) == 0, CL_INVALID_VALUE)
}

fn mapping(queue: &Ref<Queue>, buffer: &Ref<Buffer>, flags: u64, offset: usize, size: usize) -> Result<Mapping> {
    let at = buffer.offset + offset as u64;
    if let Some(pointer) = buffer.host_pointer()? {
        return Ok(Mapping::within(pointer.wrapping_add(offset), at, size, flags));
    }
    let board = queue.device.board();
    board.session.check()?;
    let bulk = Arc::new(board.bulk(size as u64).map_err(|_| Error(CL_MAP_FAILURE))?);
    if board.registers() {
        board.places.add(&bulk)?;
    }
    Mapping::own(bulk, at, flags)
}

/// The command that makes a mapping show the buffer's content.
fn map_kind(buffer: &Ref<Buffer>, mapping: &Arc<Mapping>) -> Kind {
    let root = Buffer::root(buffer).clone();
    let (offset, len) = (mapping.offset, mapping.len);
    if buffer.is_backed() {
        return Kind::Map { buffer: root, flags: mapping.flags, offset, len: len as u64 };
    }
    if mapping.flags & CL_MAP_WRITE_INVALIDATE_REGION != 0 {
        return Kind::Marker;
    }
    if mapping.is_own() {
        return Kind::MapRead { from: root, offset, mapping: Arc::clone(mapping) };
    }
    // SAFETY: memory of the program or the library that lives as long as the buffer, which the command holds.
    let host = unsafe { HostRegion::linear(mapping.at, len) };
    Kind::Read { from: root, region: Region::Linear(offset), host }
}

/// The command that makes a mapping's content the buffer's.
fn unmap_kind(buffer: &Ref<Buffer>, mapping: &Arc<Mapping>) -> Kind {
    let root = Buffer::root(buffer).clone();
    let (offset, len) = (mapping.offset, mapping.len);
    if buffer.is_backed() {
        return Kind::Unmap { buffer: root, offset, len: len as u64 };
    }
    if !mapping.writes() {
        return Kind::Marker;
    }
    if mapping.is_own() {
        return Kind::UnmapWrite { to: root, offset, mapping: Arc::clone(mapping) };
    }
    // SAFETY: as in `map_kind`.
    let host = unsafe { HostRegion::linear(mapping.at, len) };
    Kind::Write { to: root, region: Region::Linear(offset), host }
}

pub unsafe extern "C" fn clEnqueueUnmapMemObject(
    queue: cl_command_queue,
    mem: cl_mem,
    mapped_ptr: *mut c_void,
    num_waits: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the program's, as the specification asks.
    let wait_list = unsafe { WaitList::new(num_waits, waits, event) };
    status(|| {
        let (queue, buffer) = place(queue, mem)?;
        let waits = wait_list.waits(&queue.context)?;
        let mapping = {
            let mut maps = lock(&buffer.maps);
            let at = maps.iter().rposition(|m| m.at.cast() == mapped_ptr).ok_or(Error(CL_INVALID_VALUE))?;
            maps.remove(at)
        };
        let kind = unmap_kind(&buffer, &mapping);
        wait_list.enqueue(&queue, CL_COMMAND_UNMAP_MEM_OBJECT, waits, kind, CallMode::NonBlocking)
    })
}
