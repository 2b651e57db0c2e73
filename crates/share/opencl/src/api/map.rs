//! Mapping buffers and images into the program's memory.
#![allow(unsafe_code, non_snake_case)]

use std::ffi::c_void;
use std::sync::Arc;

use opencl_sys::*;
use rackloom_opencl_wire::Area;
use rackloom_sync::lock;

use super::image_transfer::{area, image_place};
use super::transfer::{any_place, check_bounds, check_readable, check_writable, place};
use super::{object, status};
use crate::command::enqueue::enqueue;
use crate::command::wait_list::WaitList;
use crate::command::{CallMode, Kind};
use crate::error::{Error, Result, ensure};
use crate::handle::Ref;
use crate::host_memory::{HostRegion, Region};
use crate::info::put;
use crate::mapping::Mapping;
use crate::objects::event::Event;
use crate::objects::image::{ImageView, has_slices};
use crate::objects::memory::{Buffer, HostSide};
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
        check_access(&buffer, flags)?;
        let mapping = mapping(&queue, &buffer, flags, offset, size)?;
        enqueue_map(&queue, &buffer, CL_COMMAND_MAP_BUFFER, mapping, (wait_list, waits), blocking)
    };
    // SAFETY: as above.
    unsafe { object(errcode_ret, map) }
}

/// Checks that the program may read or write what it maps.
fn check_access(memory: &Buffer, flags: u64) -> Result<()> {
    if flags & CL_MAP_READ != 0 {
        check_readable(memory)?;
    }
    if flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION) != 0 {
        check_writable(memory)?;
    }
    Ok(())
}

pub fn check_flags(flags: u64, size: usize) -> Result<()> {
    let known = CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;
    let invalidates = flags & CL_MAP_WRITE_INVALIDATE_REGION != 0;
    ensure(size > 0 && flags & !known == 0, CL_INVALID_VALUE)?;
    ensure(!invalidates || flags & (CL_MAP_READ | CL_MAP_WRITE) == 0, CL_INVALID_VALUE)
}

pub fn mapping(queue: &Ref<Queue>, buffer: &Ref<Buffer>, flags: u64, offset: usize, size: usize) -> Result<Mapping> {
    let region = Region::Linear(buffer.offset + offset as u64);
    if let Some(pointer) = buffer.host_pointer()? {
        let at = pointer.wrapping_add(offset);
        // SAFETY: memory of the program or the library that lives as long as the buffer, which the commands hold.
        return Ok(Mapping::within(at, region, unsafe { HostRegion::linear(at, size) }, flags));
    }
    own(queue, region, size as u64, flags)
}

/// A mapping with memory of its own.
fn own(queue: &Ref<Queue>, region: Region, len: u64, flags: u64) -> Result<Mapping> {
    let board = queue.device.board();
    board.session.check()?;
    let bulk = Arc::new(board.bulk(len).map_err(|_| Error(CL_MAP_FAILURE))?);
    if board.registers() {
        board.places.add(&bulk)?;
    }
    Mapping::own(bulk, region, flags)
}

/// A mapping of an area of an image, and the distances of its rows and slices.
fn image_mapping(
    queue: &Ref<Queue>,
    image: &Buffer,
    view: &ImageView,
    flags: u64,
    area: Area,
) -> Result<(Mapping, [usize; 2])> {
    let (region, bytes) = (view.region(area), view.bytes(area.region));
    if let HostSide::User(data) = &image.side {
        let [x, y, z] = view.bytes(area.origin);
        let at = data.pointer().cast::<u8>().wrapping_add(x + y * view.pitches[0] + z * view.pitches[1]);
        // SAFETY: memory of the program that lives as long as the image, which the commands hold.
        let host = unsafe { HostRegion::pitched(at, bytes, view.pitches) };
        return Ok((Mapping::within(at, region, host, flags), view.pitches));
    }
    let len = bytes.iter().product::<usize>() as u64;
    Ok((own(queue, region, len, flags)?, [bytes[0], bytes[0] * bytes[1]]))
}

/// Enqueues the command of a mapping. Gives the address.
pub fn enqueue_map(
    queue: &Ref<Queue>,
    memory: &Ref<Buffer>,
    command_type: cl_command_type,
    mapping: Mapping,
    (wait_list, waits): (WaitList, Vec<Ref<Event>>),
    blocking: cl_bool,
) -> Result<*mut c_void> {
    let mapping = Arc::new(mapping);
    let kind = map_kind(memory, &mapping);
    // Counted before it is enqueued: a blocking call that returns has mapped.
    lock(&memory.maps).push(Arc::clone(&mapping));
    let made = enqueue(queue, command_type, waits, kind, CallMode::of(blocking)).inspect_err(|_| {
        lock(&memory.maps).retain(|m| !Arc::ptr_eq(m, &mapping));
    })?;
    wait_list.give(&made);
    Ok(mapping.at.cast())
}

/// What a command of a mapping works on: an image, or the whole of a buffer.
fn target(memory: &Ref<Buffer>) -> Ref<Buffer> {
    if memory.image.is_some() { memory.clone() } else { Buffer::root(memory).clone() }
}

/// The command that makes a mapping show the content.
fn map_kind(memory: &Ref<Buffer>, mapping: &Arc<Mapping>) -> Kind {
    let from = target(memory);
    if let (true, Region::Linear(offset)) = (memory.is_backed(), mapping.region) {
        return Kind::Map { buffer: from, flags: mapping.flags, offset, len: mapping.len() as u64 };
    }
    if mapping.flags & CL_MAP_WRITE_INVALIDATE_REGION != 0 {
        return Kind::Marker;
    }
    if mapping.is_own() {
        return Kind::MapRead { from, mapping: Arc::clone(mapping) };
    }
    Kind::Read { from, region: mapping.region, host: mapping.host }
}

/// The command that makes a mapping's content that of the buffer or image.
fn unmap_kind(memory: &Ref<Buffer>, mapping: &Arc<Mapping>) -> Kind {
    let to = target(memory);
    if let (true, Region::Linear(offset)) = (memory.is_backed(), mapping.region) {
        return Kind::Unmap { buffer: to, offset, len: mapping.len() as u64 };
    }
    if !mapping.writes() {
        return Kind::Marker;
    }
    if mapping.is_own() {
        return Kind::UnmapWrite { to, mapping: Arc::clone(mapping) };
    }
    Kind::Write { to, region: mapping.region, host: mapping.host }
}

pub unsafe extern "C" fn clEnqueueMapImage(
    queue: cl_command_queue,
    image: cl_mem,
    blocking: cl_bool,
    flags: cl_map_flags,
    origin: *const usize,
    region: *const usize,
    row_pitch: *mut usize,
    slice_pitch: *mut usize,
    num_waits: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
    errcode_ret: *mut cl_int,
) -> *mut c_void {
    // SAFETY: the program's, as the specification asks.
    let wait_list = unsafe { WaitList::new(num_waits, waits, event) };
    let map = || {
        let (queue, image, view) = image_place(queue, image)?;
        // SAFETY: as above.
        let area = unsafe { area(&view, origin, region) }?;
        let has_slices = has_slices(view.image.kind);
        ensure(!row_pitch.is_null() && (!has_slices || !slice_pitch.is_null()), CL_INVALID_VALUE)?;
        check_flags(flags, 1)?;
        let waits = wait_list.waits(&queue.context)?;
        check_access(&image, flags)?;
        let (mapping, [rows, slices]) = image_mapping(&queue, &image, &view, flags, area)?;
        let at = enqueue_map(&queue, &image, CL_COMMAND_MAP_IMAGE, mapping, (wait_list, waits), blocking)?;
        let is_lines = view.image.kind == CL_MEM_OBJECT_IMAGE1D_ARRAY;
        // SAFETY: the program's, and `slice_pitch` may be null.
        unsafe {
            put(row_pitch, if is_lines { view.bytes(area.region)[0] } else { rows });
            put(
                slice_pitch,
                if is_lines {
                    rows
                } else if has_slices {
                    slices
                } else {
                    0
                },
            );
        }
        Ok(at)
    };
    // SAFETY: as above.
    unsafe { object(errcode_ret, map) }
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
        let (queue, buffer) = any_place(queue, mem)?;
        let waits = wait_list.waits(&queue.context)?;
        enqueue_unmap(&queue, &buffer, CL_COMMAND_UNMAP_MEM_OBJECT, mapped_ptr, (wait_list, waits))
    })
}

/// Enqueues the command that ends the last mapping at an address.
pub fn enqueue_unmap(
    queue: &Ref<Queue>,
    memory: &Ref<Buffer>,
    command_type: cl_command_type,
    mapped_ptr: *mut c_void,
    (wait_list, waits): (WaitList, Vec<Ref<Event>>),
) -> Result<()> {
    let mapping = {
        let mut maps = lock(&memory.maps);
        let at = maps.iter().rposition(|m| m.at.cast() == mapped_ptr).ok_or(Error(CL_INVALID_VALUE))?;
        maps.remove(at)
    };
    let kind = unmap_kind(memory, &mapping);
    wait_list.enqueue(queue, command_type, waits, kind, CallMode::NonBlocking)
}
