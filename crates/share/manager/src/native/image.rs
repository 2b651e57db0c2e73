//! Images and samplers of a runtime, and the operations on images.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use opencl_sys::{
    CL_ADDRESS_MIRRORED_REPEAT, CL_ADDRESS_NONE, CL_FALSE, CL_FILTER_LINEAR, CL_FILTER_NEAREST, CL_IMAGE_ELEMENT_SIZE,
    CL_IMAGE_FORMAT_NOT_SUPPORTED, CL_INVALID_IMAGE_DESCRIPTOR, CL_INVALID_OPERATION, CL_INVALID_VALUE,
    CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_MEM_OBJECT_IMAGE2D,
    CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_MEM_OBJECT_IMAGE3D, CL_TRUE, cl_event, cl_image_desc, cl_image_format, cl_mem,
    cl_uint,
};
use rackloom_opencl_wire::{Area, Image, ImageFormat};

use super::handles::{Event, Memory, Sampler};
use super::objects::{NativeBuffer, NativeSampler, NativeSpace};
use super::query;
use super::runtime::{call, make};
use super::work::{enqueue, overwrite, scrub};
use crate::board::{Operation, Sink};
use crate::code::Code;
use crate::quota::Charge;

/// The formats of a kind of images that the runtime lists.
pub(super) fn formats(space: &NativeSpace, flags: u64, kind: u32) -> Result<Vec<ImageFormat>, Code> {
    let context = space.context.raw();
    let mut count = 0;
    call!(space.table, clGetSupportedImageFormats(context, flags, kind, 0, null_mut(), &raw mut count))?;
    let mut formats = vec![cl_image_format { image_channel_order: 0, image_channel_data_type: 0 }; count as usize];
    if count > 0 {
        let list = formats.as_mut_ptr();
        call!(space.table, clGetSupportedImageFormats(context, flags, kind, count, list, null_mut()))?;
    }
    let ours = |f: cl_image_format| ImageFormat { order: f.image_channel_order, data_type: f.image_channel_data_type };
    Ok(formats.into_iter().map(ours).collect())
}

/// Makes an image, or a view of a buffer as one.
pub(super) fn create(
    space: &NativeSpace,
    flags: u64,
    image: &Image,
    of: Option<&Arc<NativeBuffer>>,
    charge: Charge,
) -> Result<NativeBuffer, Code> {
    let bad = Code(CL_INVALID_IMAGE_DESCRIPTOR);
    let pixel = image.format.pixel().ok_or(Code(CL_IMAGE_FORMAT_NOT_SUPPORTED))?;
    let size = image.bytes().ok_or(bad)?;
    let mut description = description(image).ok_or(bad)?;
    let is_buffer = image.kind == CL_MEM_OBJECT_IMAGE1D_BUFFER;
    if let Some(of) = of {
        let [width, rows, _] = image.extent;
        let row = width.checked_mul(pixel).ok_or(bad)?;
        let pitch = if is_buffer { row } else { image.row_pitch };
        let fits = pitch >= row && pitch.checked_mul(rows).is_some_and(|bytes| bytes <= of.size);
        if !fits || !(is_buffer || image.kind == CL_MEM_OBJECT_IMAGE2D) {
            return Err(bad);
        }
        description.buffer = of.memory.raw();
    } else if is_buffer || image.row_pitch != 0 {
        return Err(bad);
    }
    let format =
        cl_image_format { image_channel_order: image.format.order, image_channel_data_type: image.format.data_type };
    let (context, at) = (space.context.raw(), (&raw const description).cast());
    let raw = make!(space.table, clCreateImage(context, flags, &raw const format, at, null_mut()))?;
    let memory = Memory::new(space.table, raw);
    // Every length that is checked rests on this.
    if element_size(space, raw) != Ok(pixel) {
        return Err(Code(CL_IMAGE_FORMAT_NOT_SUPPORTED));
    }
    let unscrubbed = AtomicBool::new(of.is_none() && !space.has_own_memory);
    let (parent, image) = (of.cloned(), Some(*image));
    Ok(NativeBuffer {
        memory,
        svm: None,
        backing: None,
        mirror: None,
        parent,
        size,
        image,
        unscrubbed,
        _charge: charge,
    })
}

fn element_size(space: &NativeSpace, image: cl_mem) -> Result<u64, Code> {
    let ask = |parameter: cl_uint, size, value: *mut c_void, size_ret| match space.table.clGetImageInfo {
        // SAFETY: the image lives, and the query passes room for `size` bytes.
        Some(get) => unsafe { get(image, parameter, size, value, size_ret) },
        None => CL_INVALID_OPERATION,
    };
    query::number(&ask, CL_IMAGE_ELEMENT_SIZE)
}

/// As OpenCL describes it; `None` if its kind is unknown, or has not so many dimensions.
fn description(image: &Image) -> Option<cl_image_desc> {
    let [width, rows, slices] = image.extent.map(|n| n as usize);
    let (height, depth, layers) = match image.kind {
        CL_MEM_OBJECT_IMAGE1D | CL_MEM_OBJECT_IMAGE1D_BUFFER if rows == 1 && slices == 1 => (0, 0, 0),
        CL_MEM_OBJECT_IMAGE1D_ARRAY if slices == 1 => (0, 0, rows),
        CL_MEM_OBJECT_IMAGE2D if slices == 1 => (rows, 0, 0),
        CL_MEM_OBJECT_IMAGE2D_ARRAY => (rows, 0, slices),
        CL_MEM_OBJECT_IMAGE3D => (rows, slices, 0),
        _ => return None,
    };
    Some(cl_image_desc {
        image_type: image.kind,
        image_width: width,
        image_height: height,
        image_depth: depth,
        image_array_size: layers,
        image_row_pitch: image.row_pitch as usize,
        image_slice_pitch: 0,
        num_mip_levels: 0,
        num_samples: 0,
        buffer: null_mut(),
    })
}

/// Makes a sampler.
pub(super) fn sampler(
    space: &NativeSpace,
    normalized: bool,
    addressing: u32,
    filter: u32,
    charge: Charge,
) -> Result<NativeSampler, Code> {
    // Runtimes take numbers that mean nothing, and compute with them.
    let known = (CL_ADDRESS_NONE..=CL_ADDRESS_MIRRORED_REPEAT).contains(&addressing);
    if !known || !matches!(filter, CL_FILTER_NEAREST | CL_FILTER_LINEAR) {
        return Err(Code(CL_INVALID_VALUE));
    }
    let (context, normalized) = (space.context.raw(), if normalized { CL_TRUE } else { CL_FALSE });
    let raw = make!(space.table, clCreateSampler(context, normalized, addressing, filter))?;
    Ok(NativeSampler { sampler: Sampler::new(space.table, raw), _charge: charge })
}

/// Passes an operation on images to the runtime; `None` if it is not one.
pub(super) fn start(
    space: &NativeSpace,
    operation: &mut Operation<NativeSpace>,
) -> Option<Result<Option<Event>, Code>> {
    Some(match operation {
        Operation::WriteImage { image, area, from } => write(space, image, area, from.as_ptr().cast()),
        Operation::ReadImage { image, area, into } => read(space, image, area, into),
        Operation::CopyImage { from, source, to, target, .. } => copy(space, from, source, to, target),
        Operation::CopyImageToBuffer { from, area, to, offset, len } => scrub(space, from).and_then(|()| {
            let ([origin, region], at) = (sizes(area), *offset as usize);
            let (source, target) = (from.memory.raw(), to.memory.raw());
            let (origin, region) = (origin.as_ptr(), region.as_ptr());
            overwrite(space, to, *offset, *len, || {
                enqueue!(space, clEnqueueCopyImageToBuffer(source, target, origin, region, at))
            })
        }),
        Operation::CopyBufferToImage { from, offset, to, area, .. } => scrub(space, from).and_then(|()| {
            let ([origin, region], at) = (sizes(area), *offset as usize);
            let (source, target) = (from.memory.raw(), to.memory.raw());
            let (origin, region) = (origin.as_ptr(), region.as_ptr());
            change(space, to, area, || enqueue!(space, clEnqueueCopyBufferToImage(source, target, at, origin, region)))
        }),
        Operation::FillImage { image, area, color, .. } => {
            change(space, image, area, || fill(space, image, area, color))
        }
        _ => return None,
    })
}

fn write(space: &NativeSpace, image: &NativeBuffer, area: &Area, at: *const c_void) -> Result<Option<Event>, Code> {
    let (raw, [origin, region]) = (image.memory.raw(), sizes(area));
    let (origin, region) = (origin.as_ptr(), region.as_ptr());
    change(space, image, area, || enqueue!(space, clEnqueueWriteImage(raw, CL_FALSE, origin, region, 0, 0, at)))
}

fn read(space: &NativeSpace, image: &NativeBuffer, area: &Area, into: &mut Sink) -> Result<Option<Event>, Code> {
    scrub(space, image)?;
    let (raw, [origin, region]) = (image.memory.raw(), sizes(area));
    let (origin, region, at) = (origin.as_ptr(), region.as_ptr(), into.as_mut_ptr().cast());
    enqueue!(space, clEnqueueReadImage(raw, CL_FALSE, origin, region, 0, 0, at))
}

fn copy(
    space: &NativeSpace,
    from: &NativeBuffer,
    source: &Area,
    to: &NativeBuffer,
    target: &Area,
) -> Result<Option<Event>, Code> {
    scrub(space, from)?;
    let ([from_origin, region], [to_origin, _]) = (sizes(source), sizes(target));
    let (there, here) = (from.memory.raw(), to.memory.raw());
    let (from_origin, to_origin, region) = (from_origin.as_ptr(), to_origin.as_ptr(), region.as_ptr());
    change(space, to, target, || enqueue!(space, clEnqueueCopyImage(there, here, from_origin, to_origin, region)))
}

/// Fills an area of an image with a colour.
fn fill(space: &NativeSpace, image: &NativeBuffer, area: &Area, color: &[u8; 16]) -> Result<Option<Event>, Code> {
    let (raw, [origin, region]) = (image.memory.raw(), sizes(area));
    let (color, origin, region) = (color.as_ptr().cast(), origin.as_ptr(), region.as_ptr());
    enqueue!(space, clEnqueueFillImage(raw, color, origin, region))
}

/// Clears an image.
pub(super) fn clear(space: &NativeSpace, image: &NativeBuffer, description: &Image) -> Result<(), Code> {
    fill(space, image, &description.whole(), &[0; 16]).map(|_| ())
}

/// Changes an area of an image by `write`. The image is cleared first, unless the area is all of it.
fn change(
    space: &NativeSpace,
    image: &NativeBuffer,
    area: &Area,
    write: impl FnOnce() -> Result<Option<Event>, Code>,
) -> Result<Option<Event>, Code> {
    let whole = image.parent.is_none() && image.image.is_some_and(|description| description.whole() == *area);
    if !whole {
        scrub(space, image)?;
    }
    let event = write()?;
    if whole {
        image.unscrubbed.store(false, Ordering::Relaxed);
    }
    Ok(event)
}

/// Origin and region.
fn sizes(area: &Area) -> [[usize; 3]; 2] {
    [area.origin.map(|n| n as usize), area.region.map(|n| n as usize)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_has_the_dimensions_of_its_kind() {
        let image = |kind, extent| {
            let format = ImageFormat { order: opencl_sys::CL_RGBA, data_type: opencl_sys::CL_UNORM_INT8 };
            description(&Image { kind, format, extent, row_pitch: 0 })
        };
        let layers = image(CL_MEM_OBJECT_IMAGE1D_ARRAY, [5, 7, 1]).unwrap();
        assert_eq!((layers.image_width, layers.image_height, layers.image_array_size), (5, 0, 7));
        let deep = image(CL_MEM_OBJECT_IMAGE3D, [5, 7, 2]).unwrap();
        assert_eq!((deep.image_height, deep.image_depth, deep.image_array_size), (7, 2, 0));
        assert!(image(CL_MEM_OBJECT_IMAGE1D, [5, 7, 1]).is_none() && image(CL_MEM_OBJECT_IMAGE2D, [5, 7, 2]).is_none());
        assert!(image(0, [5, 1, 1]).is_none());
    }
}
