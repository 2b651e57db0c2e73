//! Transfers between the program's memory and images, copies, and fills.
#![allow(unsafe_code, non_snake_case)]

use std::ffi::c_void;

use opencl_sys::*;
use rackloom_opencl_wire::Area;

use super::status;
use super::transfer::{buffer_at, check_bounds, check_place, check_readable, check_writable};
use crate::command::wait_list::WaitList;
use crate::command::{CallMode, Kind};
use crate::error::{Error, Result, ensure};
use crate::handle::{Ref, get};
use crate::host_memory::{HostRegion, Region};
use crate::info::list;
use crate::objects::image::{ImageView, has_slices, pitches};
use crate::objects::memory::Buffer;
use crate::objects::queue::Queue;

/// A queue, and an image that its device can use.
pub fn image_place(queue: cl_command_queue, image: cl_mem) -> Result<(Ref<Queue>, Ref<Buffer>, ImageView)> {
    let queue = get::<Queue>(queue)?;
    let (image, view) = image_at(&queue, image)?;
    Ok((queue, image, view))
}

/// An image that a queue's device can use.
fn image_at(queue: &Ref<Queue>, image: cl_mem) -> Result<(Ref<Buffer>, ImageView)> {
    let image = get::<Buffer>(image)?;
    check_place(queue, &image)?;
    let view = image.image.ok_or(Error(CL_INVALID_MEM_OBJECT))?;
    ensure(queue.device.has_images(), CL_INVALID_OPERATION)?;
    Ok((image, view))
}

/// An area of an image as the program describes it.
///
/// # Safety
/// `origin` and `region` are null or good for reading three numbers.
pub unsafe fn area(view: &ImageView, origin: *const usize, region: *const usize) -> Result<Area> {
    ensure(!origin.is_null() && !region.is_null(), CL_INVALID_VALUE)?;
    // SAFETY: as the caller says.
    let [origin, region] = [origin, region].map(|p| unsafe { p.cast::<[usize; 3]>().read_unaligned() });
    let area = Area { origin: origin.map(|n| n as u64), region: region.map(|n| n as u64) };
    ensure(view.image.contains(&area), CL_INVALID_VALUE)?;
    Ok(area)
}

/// The program's memory for an area. Pitches are of rows and slices, as the calls have them.
///
/// # Safety
/// It is good until the command has ended.
unsafe fn memory(view: &ImageView, area: &Area, ptr: *mut c_void, row: usize, slice: usize) -> Result<HostRegion> {
    ensure(!ptr.is_null(), CL_INVALID_VALUE)?;
    let (kind, region) = (view.image.kind, view.bytes(area.region));
    ensure(row == 0 || row >= region[0], CL_INVALID_VALUE)?;
    let slice = if has_slices(kind) { slice } else { 0 };
    let line = row.max(region[0]);
    let least = if kind == CL_MEM_OBJECT_IMAGE1D_ARRAY { line } else { line.saturating_mul(region[1]) };
    ensure(slice == 0 || slice >= least, CL_INVALID_VALUE)?;
    let there = pitches(kind, region, row, slice);
    let end = there[1].checked_mul(region[2]).filter(|end| *end <= isize::MAX as usize);
    ensure(end.is_some(), CL_INVALID_VALUE)?;
    // SAFETY: as the caller says.
    Ok(unsafe { HostRegion::pitched(ptr.cast(), region, there) })
}

/// Enqueues a transfer between an area of an image, from its origin and of a region, and the program's memory with its
/// pitches. `make` checks what the program may do, and gives the command.
///
/// # Safety
/// The pointers are the program's, which leaves its memory to us until the command has ended.
unsafe fn transfer(
    (queue, image): (cl_command_queue, cl_mem),
    [origin, region]: [*const usize; 2],
    (ptr, row_pitch, slice_pitch): (*mut c_void, usize, usize),
    wait_list: WaitList,
    blocking: cl_bool,
    make: impl FnOnce(Ref<Buffer>, Region, HostRegion) -> Result<(cl_command_type, Kind)>,
) -> cl_int {
    status(|| {
        let (queue, image, view) = image_place(queue, image)?;
        // SAFETY: as the caller says.
        let area = unsafe { area(&view, origin, region) }?;
        // SAFETY: as the caller says.
        let host = unsafe { memory(&view, &area, ptr, row_pitch, slice_pitch) }?;
        let waits = wait_list.waits(&queue.context)?;
        let (command_type, kind) = make(image, view.region(area), host)?;
        wait_list.enqueue(&queue, command_type, waits, kind, CallMode::of(blocking))
    })
}

pub unsafe extern "C" fn clEnqueueReadImage(
    queue: cl_command_queue,
    image: cl_mem,
    blocking: cl_bool,
    origin: *const usize,
    region: *const usize,
    row_pitch: usize,
    slice_pitch: usize,
    ptr: *mut c_void,
    num_waits: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    let make = |from: Ref<Buffer>, region, host| {
        check_readable(&from)?;
        Ok((CL_COMMAND_READ_IMAGE, Kind::Read { from, region, host }))
    };
    let there = (ptr, row_pitch, slice_pitch);
    // SAFETY: the program's, as the specification asks.
    unsafe { transfer((queue, image), [origin, region], there, WaitList::new(num_waits, waits, event), blocking, make) }
}

pub unsafe extern "C" fn clEnqueueWriteImage(
    queue: cl_command_queue,
    image: cl_mem,
    blocking: cl_bool,
    origin: *const usize,
    region: *const usize,
    row_pitch: usize,
    slice_pitch: usize,
    ptr: *const c_void,
    num_waits: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    let make = |to: Ref<Buffer>, region, host| {
        check_writable(&to)?;
        Ok((CL_COMMAND_WRITE_IMAGE, Kind::Write { to, region, host }))
    };
    let here = (ptr.cast_mut(), row_pitch, slice_pitch);
    // SAFETY: the program's, as the specification asks; what is written to an image is only read.
    unsafe { transfer((queue, image), [origin, region], here, WaitList::new(num_waits, waits, event), blocking, make) }
}

/// A copy of an area between images.
///
/// # Safety
/// The origins and `region` are null or good for reading three numbers.
pub unsafe fn copy_image(
    queue: &Ref<Queue>,
    (from, from_origin): (cl_mem, *const usize),
    (to, to_origin): (cl_mem, *const usize),
    region: *const usize,
) -> Result<Kind> {
    let ((from, view), (to, other)) = (image_at(queue, from)?, image_at(queue, to)?);
    ensure(view.image.format == other.image.format, CL_IMAGE_FORMAT_MISMATCH)?;
    // SAFETY: as the caller says.
    let (source, target) = unsafe { (area(&view, from_origin, region)?, area(&other, to_origin, region)?) };
    let overlap = (0..3).all(|at| source.origin[at].abs_diff(target.origin[at]) < source.region[at]);
    ensure(from.handle() != to.handle() || !overlap, CL_MEM_COPY_OVERLAP)?;
    Ok(Kind::CopyImage { from, source, to, target })
}

/// A copy of an area of an image into a buffer, from a byte on.
///
/// # Safety
/// As of [`copy_image`].
pub unsafe fn copy_image_to_buffer(
    queue: &Ref<Queue>,
    (from, from_origin): (cl_mem, *const usize),
    (to, to_offset): (cl_mem, usize),
    region: *const usize,
) -> Result<Kind> {
    let ((from, view), to) = (image_at(queue, from)?, buffer_at(queue, to)?);
    // SAFETY: as the caller says.
    let area = unsafe { area(&view, from_origin, region) }?;
    check_bounds(&to, to_offset, view.bytes(area.region).iter().product())?;
    let offset = to.offset + to_offset as u64;
    Ok(Kind::CopyImageToBuffer { from, area, to: Buffer::root(&to).clone(), offset })
}

/// A copy of bytes of a buffer into an area of an image.
///
/// # Safety
/// As of [`copy_image`].
pub unsafe fn copy_buffer_to_image(
    queue: &Ref<Queue>,
    (from, from_offset): (cl_mem, usize),
    (to, to_origin): (cl_mem, *const usize),
    region: *const usize,
) -> Result<Kind> {
    let (from, (to, view)) = (buffer_at(queue, from)?, image_at(queue, to)?);
    // SAFETY: as the caller says.
    let area = unsafe { area(&view, to_origin, region) }?;
    check_bounds(&from, from_offset, view.bytes(area.region).iter().product())?;
    let offset = from.offset + from_offset as u64;
    Ok(Kind::CopyBufferToImage { from: Buffer::root(&from).clone(), offset, to, area })
}

/// A colour into an area of an image.
///
/// # Safety
/// As of [`copy_image`]; `color` is null or good for reading 16 bytes, of images of depths four.
pub unsafe fn fill_image(
    queue: &Ref<Queue>,
    image: cl_mem,
    color: *const c_void,
    origin: *const usize,
    region: *const usize,
) -> Result<Kind> {
    let (to, view) = image_at(queue, image)?;
    ensure(!color.is_null(), CL_INVALID_VALUE)?;
    // SAFETY: as the caller says.
    let area = unsafe { area(&view, origin, region) }?;
    // One number for depths, four for all other formats.
    let bytes = if view.image.format.order == CL_DEPTH { 4 } else { 16 };
    // SAFETY: as the caller says.
    let mut given = unsafe { list(color.cast::<u8>(), bytes) };
    given.resize(16, 0);
    let color = given.try_into().expect("16 bytes");
    Ok(Kind::FillImage { to, area, color })
}

pub unsafe extern "C" fn clEnqueueCopyImage(
    queue: cl_command_queue,
    from: cl_mem,
    to: cl_mem,
    from_origin: *const usize,
    to_origin: *const usize,
    region: *const usize,
    num_waits: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the program's, as the specification asks.
    let wait_list = unsafe { WaitList::new(num_waits, waits, event) };
    // SAFETY: as above.
    let make = |queue: &Ref<Queue>| unsafe { copy_image(queue, (from, from_origin), (to, to_origin), region) };
    status(|| wait_list.command(queue, CL_COMMAND_COPY_IMAGE, make))
}

pub unsafe extern "C" fn clEnqueueCopyImageToBuffer(
    queue: cl_command_queue,
    from: cl_mem,
    to: cl_mem,
    from_origin: *const usize,
    region: *const usize,
    to_offset: usize,
    num_waits: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the program's, as the specification asks.
    let wait_list = unsafe { WaitList::new(num_waits, waits, event) };
    // SAFETY: as above.
    let make =
        |queue: &Ref<Queue>| unsafe { copy_image_to_buffer(queue, (from, from_origin), (to, to_offset), region) };
    status(|| wait_list.command(queue, CL_COMMAND_COPY_IMAGE_TO_BUFFER, make))
}

pub unsafe extern "C" fn clEnqueueCopyBufferToImage(
    queue: cl_command_queue,
    from: cl_mem,
    to: cl_mem,
    from_offset: usize,
    to_origin: *const usize,
    region: *const usize,
    num_waits: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the program's, as the specification asks.
    let wait_list = unsafe { WaitList::new(num_waits, waits, event) };
    // SAFETY: as above.
    let make =
        |queue: &Ref<Queue>| unsafe { copy_buffer_to_image(queue, (from, from_offset), (to, to_origin), region) };
    status(|| wait_list.command(queue, CL_COMMAND_COPY_BUFFER_TO_IMAGE, make))
}

pub unsafe extern "C" fn clEnqueueFillImage(
    queue: cl_command_queue,
    image: cl_mem,
    color: *const c_void,
    origin: *const usize,
    region: *const usize,
    num_waits: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the program's, as the specification asks.
    let wait_list = unsafe { WaitList::new(num_waits, waits, event) };
    // SAFETY: as above.
    let make = |queue: &Ref<Queue>| unsafe { fill_image(queue, image, color, origin, region) };
    status(|| wait_list.command(queue, CL_COMMAND_FILL_IMAGE, make))
}
