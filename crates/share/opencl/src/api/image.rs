//! Images, and information about them.
#![allow(unsafe_code, non_snake_case)]

use std::ffi::c_void;

use opencl_sys::*;
use rackloom_opencl_wire::{Image, ImageFormat};

use super::memory::{ACCESS, check_flags, part_flags};
use super::{object, status};
use crate::callback::UserData;
use crate::command::migrate::fill_new;
use crate::error::{Error, Result, ensure, fail};
use crate::handle::{Object, Ref, get};
use crate::host_memory::HostRegion;
use crate::info::{Out, properties, put};
use crate::objects::context::Context;
use crate::objects::device::Device;
use crate::objects::image::{ImageView, formats, has_slices, pitches};
use crate::objects::memory::{Buffer, HostSide};

/// The devices of a context that have images.
fn with_images(context: &Ref<Context>) -> Result<Vec<&Ref<Device>>> {
    let devices: Vec<_> = context.devices.iter().filter(|device| device.has_images()).collect();
    ensure(!devices.is_empty(), CL_INVALID_OPERATION)?;
    Ok(devices)
}

/// The image that a program describes.
fn describe(format: &cl_image_format, desc: &cl_image_desc) -> Result<Image> {
    let cl_image_desc { image_width: width, image_height: height, image_depth: depth, .. } = *desc;
    let layers = desc.image_array_size;
    let extent = match desc.image_type {
        CL_MEM_OBJECT_IMAGE1D | CL_MEM_OBJECT_IMAGE1D_BUFFER => [width, 1, 1],
        CL_MEM_OBJECT_IMAGE1D_ARRAY => [width, layers, 1],
        CL_MEM_OBJECT_IMAGE2D => [width, height, 1],
        CL_MEM_OBJECT_IMAGE2D_ARRAY => [width, height, layers],
        CL_MEM_OBJECT_IMAGE3D => [width, height, depth],
        _ => return fail(CL_INVALID_IMAGE_DESCRIPTOR),
    };
    ensure(desc.num_mip_levels == 0 && desc.num_samples == 0, CL_INVALID_IMAGE_DESCRIPTOR)?;
    ensure(extent.iter().all(|n| *n > 0), CL_INVALID_IMAGE_SIZE)?;
    let format = ImageFormat { order: format.image_channel_order, data_type: format.image_channel_data_type };
    ensure(format.pixel().is_some(), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR)?;
    Ok(Image { kind: desc.image_type, format, extent: extent.map(|n| n as u64), row_pitch: 0 })
}

/// Whether an image is as large as a device takes them.
fn fits(device: &Ref<Device>, image: &Image) -> bool {
    let most = |name| device.number(name);
    let bounds = match image.kind {
        CL_MEM_OBJECT_IMAGE1D => [most(CL_DEVICE_IMAGE2D_MAX_WIDTH), 1, 1],
        CL_MEM_OBJECT_IMAGE1D_BUFFER => [most(CL_DEVICE_IMAGE_MAX_BUFFER_SIZE), 1, 1],
        CL_MEM_OBJECT_IMAGE1D_ARRAY => [most(CL_DEVICE_IMAGE2D_MAX_WIDTH), most(CL_DEVICE_IMAGE_MAX_ARRAY_SIZE), 1],
        CL_MEM_OBJECT_IMAGE3D => {
            [CL_DEVICE_IMAGE3D_MAX_WIDTH, CL_DEVICE_IMAGE3D_MAX_HEIGHT, CL_DEVICE_IMAGE3D_MAX_DEPTH].map(most)
        }
        _ => {
            let names = [CL_DEVICE_IMAGE2D_MAX_WIDTH, CL_DEVICE_IMAGE2D_MAX_HEIGHT, CL_DEVICE_IMAGE_MAX_ARRAY_SIZE];
            names.map(most)
        }
    };
    image.extent.iter().zip(bounds).all(|(n, most)| *n <= most)
        && image.cost().is_some_and(|bytes| bytes <= device.bounds.allocation)
}

/// Whether one of the devices has a format.
fn has_format(devices: &[&Ref<Device>], flags: u64, image: &Image) -> Result<bool> {
    for device in devices {
        if formats(device.board(), flags & ACCESS, image.kind)?.contains(&image.format) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn create(
    context: cl_context,
    mut flags: cl_mem_flags,
    format: *const cl_image_format,
    desc: *const cl_image_desc,
    host_ptr: *mut c_void,
    properties: Vec<cl_mem_properties>,
) -> Result<*mut c_void> {
    let context = get::<Context>(context)?;
    let devices = with_images(&context)?;
    check_flags(flags)?;
    // SAFETY: the program's, or null.
    if unsafe { desc.as_ref() }.is_some_and(|desc| desc.image_type == CL_MEM_OBJECT_IMAGE2D && !desc.buffer.is_null()) {
        let has_views = |device: &&Ref<Device>| device.number(CL_DEVICE_IMAGE_PITCH_ALIGNMENT) != 0;
        ensure(devices.iter().any(has_views), CL_INVALID_OPERATION)?;
    }
    ensure(!format.is_null(), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR)?;
    ensure(!desc.is_null(), CL_INVALID_IMAGE_DESCRIPTOR)?;
    // SAFETY: the program's, as the specification asks.
    let (format, desc) = unsafe { (format.read_unaligned(), desc.read_unaligned()) };
    let image = describe(&format, &desc)?;
    if !desc.buffer.is_null() {
        return view(&context, flags, image, &desc, host_ptr, properties);
    }
    ensure(image.kind != CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_INVALID_IMAGE_DESCRIPTOR)?;
    let wants_pointer = flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR) != 0;
    ensure(host_ptr.is_null() != wants_pointer, CL_INVALID_HOST_PTR)?;
    if flags & ACCESS == 0 {
        flags |= CL_MEM_READ_WRITE;
    }
    ensure(has_format(&devices, flags, &image)?, CL_IMAGE_FORMAT_NOT_SUPPORTED)?;
    ensure(devices.iter().any(|device| fits(device, &image)), CL_INVALID_IMAGE_SIZE)?;
    let pixel = image.format.pixel().ok_or(Error(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR))?;
    let size = image.bytes().ok_or(Error(CL_INVALID_IMAGE_SIZE))?;
    let mut seen = ImageView { image, pixel, pitches: [0; 2] };
    let region = seen.bytes(image.extent);
    let given = (desc.image_row_pitch, desc.image_slice_pitch);
    check_pitches(image.kind, region, pixel, given, wants_pointer)?;
    let there = pitches(image.kind, region, given.0, given.1);
    let uses_pointer = flags & CL_MEM_USE_HOST_PTR != 0;
    seen.pitches = if uses_pointer { there } else { pitches(image.kind, region, 0, 0) };
    let side = if uses_pointer { HostSide::User(UserData(host_ptr)) } else { HostSide::None };
    let whole = Buffer::image(context.clone(), flags, size, side, seen, properties);
    let whole = Object::new(context.table(), whole);
    if let Some(device) = context.single() {
        whole.on(device.board())?;
    }
    if wants_pointer {
        // SAFETY: the program gave so many bytes.
        fill_new(&whole, unsafe { HostRegion::pitched(host_ptr.cast(), region, there) })?;
    }
    Ok(Object::list(&whole))
}

/// Checks the pitches of the program's memory.
fn check_pitches(
    kind: u32,
    [row, rows, _]: [usize; 3],
    pixel: u64,
    (row_pitch, slice_pitch): (usize, usize),
    has_memory: bool,
) -> Result<()> {
    let is_row = row_pitch == 0 || row_pitch >= row && (row_pitch as u64).is_multiple_of(pixel);
    let line = row_pitch.max(row);
    let slice = if kind == CL_MEM_OBJECT_IMAGE1D_ARRAY { Some(line) } else { line.checked_mul(rows) };
    let is_slice = slice_pitch == 0
        || has_slices(kind) && slice.is_some_and(|slice| slice_pitch >= slice) && slice_pitch.is_multiple_of(line);
    let none = row_pitch == 0 && slice_pitch == 0;
    ensure(is_row && is_slice && (has_memory || none), CL_INVALID_IMAGE_DESCRIPTOR)
}

/// A view of a buffer as an image.
fn view(
    context: &Ref<Context>,
    flags: cl_mem_flags,
    mut image: Image,
    desc: &cl_image_desc,
    host_ptr: *mut c_void,
    properties: Vec<cl_mem_properties>,
) -> Result<*mut c_void> {
    let buffer = get::<Buffer>(desc.buffer).map_err(|_| Error(CL_INVALID_IMAGE_DESCRIPTOR))?;
    ensure(buffer.image.is_none(), CL_INVALID_IMAGE_DESCRIPTOR)?;
    ensure(buffer.context.handle() == context.handle(), CL_INVALID_CONTEXT)?;
    ensure(host_ptr.is_null(), CL_INVALID_HOST_PTR)?;
    let flags = part_flags(buffer.flags, flags)?;
    let devices = with_images(context)?;
    ensure(has_format(&devices, flags, &image)?, CL_IMAGE_FORMAT_NOT_SUPPORTED)?;
    ensure(devices.iter().any(|device| fits(device, &image)), CL_INVALID_IMAGE_SIZE)?;
    let pixel = image.format.pixel().ok_or(Error(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR))?;
    let row = image.extent[0] * pixel;
    let pitch = match (image.kind, desc.image_row_pitch as u64) {
        // There is one row, so what lies between rows is nowhere.
        (CL_MEM_OBJECT_IMAGE1D_BUFFER, given) => {
            ensure(given == 0 || given >= row && given.is_multiple_of(pixel), CL_INVALID_IMAGE_DESCRIPTOR)?;
            row
        }
        (CL_MEM_OBJECT_IMAGE2D, given) => {
            let is_aligned = |device: &&Ref<Device>| {
                let align = device.number(CL_DEVICE_IMAGE_PITCH_ALIGNMENT);
                align > 0 && (given / pixel).is_multiple_of(align)
            };
            let given = if given == 0 { row } else { given };
            ensure(given >= row && given.is_multiple_of(pixel), CL_INVALID_IMAGE_DESCRIPTOR)?;
            ensure(devices.iter().any(is_aligned), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR)?;
            image.row_pitch = given;
            given
        }
        _ => return fail(CL_INVALID_IMAGE_DESCRIPTOR),
    };
    let end = pitch.checked_mul(image.extent[1]);
    ensure(end.is_some_and(|end| end <= buffer.size), CL_INVALID_IMAGE_SIZE)?;
    let seen = ImageView { image, pixel, pitches: [pitch as usize, 0] };
    let part = Buffer::image_of(buffer.clone(), flags, row * image.extent[1], seen, properties);
    Ok(Object::list(&Object::new(buffer.table(), part)))
}

pub unsafe extern "C" fn clCreateImage(
    context: cl_context,
    flags: cl_mem_flags,
    format: *const cl_image_format,
    desc: *const cl_image_desc,
    host_ptr: *mut c_void,
    errcode_ret: *mut cl_int,
) -> cl_mem {
    // SAFETY: the program's, as the specification asks.
    unsafe { object(errcode_ret, || create(context, flags, format, desc, host_ptr, Vec::new())) }
}

pub unsafe extern "C" fn clCreateImageWithProperties(
    context: cl_context,
    given: *const cl_mem_properties,
    flags: cl_mem_flags,
    format: *const cl_image_format,
    desc: *const cl_image_desc,
    host_ptr: *mut c_void,
    errcode_ret: *mut cl_int,
) -> cl_mem {
    let make = || {
        // SAFETY: the program's, as the specification asks.
        let pairs = unsafe { properties(given) };
        ensure(pairs.is_empty(), CL_INVALID_PROPERTY)?;
        create(context, flags, format, desc, host_ptr, if given.is_null() { Vec::new() } else { vec![0] })
    };
    // SAFETY: as above.
    unsafe { object(errcode_ret, make) }
}

pub unsafe extern "C" fn clCreateImage2D(
    context: cl_context,
    flags: cl_mem_flags,
    format: *const cl_image_format,
    width: usize,
    height: usize,
    row_pitch: usize,
    host_ptr: *mut c_void,
    errcode_ret: *mut cl_int,
) -> cl_mem {
    let desc = old(CL_MEM_OBJECT_IMAGE2D, [width, height, 0], row_pitch, 0);
    // SAFETY: as above.
    unsafe { clCreateImage(context, flags, format, &raw const desc, host_ptr, errcode_ret) }
}

pub unsafe extern "C" fn clCreateImage3D(
    context: cl_context,
    flags: cl_mem_flags,
    format: *const cl_image_format,
    width: usize,
    height: usize,
    depth: usize,
    row_pitch: usize,
    slice_pitch: usize,
    host_ptr: *mut c_void,
    errcode_ret: *mut cl_int,
) -> cl_mem {
    let desc = old(CL_MEM_OBJECT_IMAGE3D, [width, height, depth], row_pitch, slice_pitch);
    // SAFETY: as above.
    unsafe { clCreateImage(context, flags, format, &raw const desc, host_ptr, errcode_ret) }
}

/// What the calls of OpenCL 1.0 describe.
const fn old(
    image_type: cl_mem_object_type,
    [image_width, image_height, image_depth]: [usize; 3],
    image_row_pitch: usize,
    image_slice_pitch: usize,
) -> cl_image_desc {
    cl_image_desc {
        image_type,
        image_width,
        image_height,
        image_depth,
        image_array_size: 0,
        image_row_pitch,
        image_slice_pitch,
        num_mip_levels: 0,
        num_samples: 0,
        buffer: std::ptr::null_mut(),
    }
}

/// Those of all devices.
pub unsafe extern "C" fn clGetSupportedImageFormats(
    context: cl_context,
    flags: cl_mem_flags,
    image_type: cl_mem_object_type,
    num_entries: cl_uint,
    list: *mut cl_image_format,
    num_formats: *mut cl_uint,
) -> cl_int {
    status(|| {
        let context = get::<Context>(context)?;
        let known = (CL_MEM_OBJECT_IMAGE2D..=CL_MEM_OBJECT_IMAGE1D_BUFFER).contains(&image_type);
        ensure(known && (num_entries > 0 || list.is_null()), CL_INVALID_VALUE)?;
        check_flags(flags & !CL_MEM_KERNEL_READ_AND_WRITE)?;
        let mut uses = flags & (ACCESS | CL_MEM_KERNEL_READ_AND_WRITE);
        if uses == 0 {
            uses = CL_MEM_READ_WRITE;
        }
        let mut all: Vec<ImageFormat> = Vec::new();
        for device in context.devices.iter().filter(|device| device.has_images()) {
            let more = formats(device.board(), uses, image_type)?;
            all.extend(more.into_iter().filter(|format| !all.contains(format)).collect::<Vec<_>>());
        }
        if !list.is_null() {
            for (at, format) in all.iter().take(num_entries as usize).enumerate() {
                let theirs =
                    cl_image_format { image_channel_order: format.order, image_channel_data_type: format.data_type };
                // SAFETY: the program's array has `num_entries` places.
                unsafe { put(list.add(at), theirs) };
            }
        }
        // SAFETY: the program's, or null.
        unsafe { put(num_formats, all.len() as cl_uint) };
        Ok(())
    })
}

pub unsafe extern "C" fn clGetImageInfo(
    image: cl_mem,
    name: cl_image_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    status(|| {
        let mem = get::<Buffer>(image)?;
        let ImageView { image, pixel, pitches } = mem.image.ok_or(Error(CL_INVALID_MEM_OBJECT))?;
        // SAFETY: the program's, as the specification asks.
        let out = unsafe { Out::new(size, value, size_ret) };
        let [width, rows, slices] = image.extent.map(|n| n as usize);
        let kind = image.kind;
        match name {
            CL_IMAGE_FORMAT => {
                out.bytes(&[image.format.order.to_ne_bytes(), image.format.data_type.to_ne_bytes()].concat())
            }
            CL_IMAGE_ELEMENT_SIZE => out.size(pixel as usize),
            CL_IMAGE_ROW_PITCH if kind == CL_MEM_OBJECT_IMAGE1D_ARRAY => out.size(width * pixel as usize),
            CL_IMAGE_ROW_PITCH => out.size(pitches[0]),
            CL_IMAGE_SLICE_PITCH if kind == CL_MEM_OBJECT_IMAGE1D_ARRAY => out.size(pitches[0]),
            CL_IMAGE_SLICE_PITCH => out.size(if has_slices(kind) { pitches[1] } else { 0 }),
            CL_IMAGE_WIDTH => out.size(width),
            CL_IMAGE_HEIGHT => out.size(match kind {
                CL_MEM_OBJECT_IMAGE1D | CL_MEM_OBJECT_IMAGE1D_ARRAY | CL_MEM_OBJECT_IMAGE1D_BUFFER => 0,
                _ => rows,
            }),
            CL_IMAGE_DEPTH => out.size(if kind == CL_MEM_OBJECT_IMAGE3D { slices } else { 0 }),
            CL_IMAGE_ARRAY_SIZE => out.size(match kind {
                CL_MEM_OBJECT_IMAGE1D_ARRAY => rows,
                CL_MEM_OBJECT_IMAGE2D_ARRAY => slices,
                _ => 0,
            }),
            CL_IMAGE_BUFFER => out.pointer(mem.parent.as_ref().map_or(std::ptr::null_mut(), |p| p.handle())),
            CL_IMAGE_NUM_MIP_LEVELS | CL_IMAGE_NUM_SAMPLES => out.uint(0),
            _ => fail(CL_INVALID_VALUE),
        }
    })
}
