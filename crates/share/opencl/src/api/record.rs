//! Recording commands into command buffers. They are checked as the calls that enqueue them check them, when they are
//! recorded.
#![allow(unsafe_code, non_snake_case)]

use std::ffi::c_void;

use opencl_sys::*;

use super::copy::{BoxIn, copy, copy_rect, fill};
use super::image_transfer::{copy_buffer_to_image, copy_image, copy_image_to_buffer, fill_image};
use super::launch::launch;
use super::status;
use super::svm::{copy_memory, fill_memory};
use crate::command::Kind;
use crate::command::command_buffer::CommandBuffer;
use crate::error::{Result, ensure};
use crate::handle::{Ref, get};
use crate::info::{list, put};
use crate::objects::queue::Queue;

/// Parameters that all these calls share.
struct Place {
    command_buffer: cl_command_buffer_khr,
    queue: cl_command_queue,
    properties: *const cl_command_properties_khr,
    before: (cl_uint, *const cl_sync_point_khr),
    own: *mut cl_sync_point_khr,
    mutable: *mut cl_mutable_command_khr,
}

impl Place {
    /// Records the command that `make` gives, unless a parameter is wrong.
    ///
    /// # Safety
    /// Each pointer is null or good for reading its list, and `own` for writing.
    unsafe fn record(self, make: impl FnOnce(&Ref<Queue>) -> Result<Kind>) -> cl_int {
        status(|| {
            let buffer = get::<CommandBuffer>(self.command_buffer)?;
            // It has one queue, and needs no other.
            ensure(self.queue.is_null(), CL_INVALID_COMMAND_QUEUE)?;
            // SAFETY: as the caller says; a list without properties begins with its end.
            let has_properties = !self.properties.is_null() && unsafe { self.properties.read_unaligned() } != 0;
            ensure(!has_properties && self.mutable.is_null(), CL_INVALID_VALUE)?;
            let number = buffer.record(|recorded| {
                let (count, points) = self.before;
                ensure(points.is_null() == (count == 0), CL_INVALID_SYNC_POINT_WAIT_LIST_KHR)?;
                // Commands run in the order in which they were recorded, so those before need no waiting for.
                // SAFETY: as the caller says.
                let points = unsafe { list(points, count as usize) };
                let are_known = points.iter().all(|point| (1..=recorded).contains(point));
                ensure(are_known, CL_INVALID_SYNC_POINT_WAIT_LIST_KHR)?;
                make(&buffer.queue)
            })?;
            // SAFETY: as the caller says.
            unsafe { put(self.own, number) };
            Ok(())
        })
    }
}

/// Defines calls whose own parameters stand between the properties and the sync points. The body makes the command for
/// the queue that it gets.
macro_rules! recording {
    ($(fn $name:ident($($parameter:ident: $type:ty),* $(,)?) |$on:ident| $make:expr)*) => {$(
        pub unsafe extern "C" fn $name(
            command_buffer: cl_command_buffer_khr,
            queue: cl_command_queue,
            properties: *const cl_command_properties_khr,
            $($parameter: $type,)*
            num_sync_points: cl_uint,
            sync_points: *const cl_sync_point_khr,
            own: *mut cl_sync_point_khr,
            mutable: *mut cl_mutable_command_khr,
        ) -> cl_int {
            let before = (num_sync_points, sync_points);
            let place = Place { command_buffer, queue, properties, before, own, mutable };
            // SAFETY: the program's, as the specification asks.
            #[allow(unused_unsafe, reason = "some commands have no pointers")]
            unsafe { place.record(|$on| unsafe { $make }) }
        }
    )*};
}

recording! {
    fn clCommandBarrierWithWaitListKHR() |_queue| Ok(Kind::Marker)

    fn clCommandCopyBufferKHR(from: cl_mem, to: cl_mem, from_offset: usize, to_offset: usize, size: usize)
        |queue| copy(queue, (from, from_offset), (to, to_offset), size)

    fn clCommandCopyBufferRectKHR(
        from: cl_mem,
        to: cl_mem,
        from_origin: *const usize,
        to_origin: *const usize,
        region: *const usize,
        from_row: usize,
        from_slice: usize,
        to_row: usize,
        to_slice: usize,
    ) |queue| {
        let from = BoxIn { mem: from, origin: from_origin, row_pitch: from_row, slice_pitch: from_slice };
        let to = BoxIn { mem: to, origin: to_origin, row_pitch: to_row, slice_pitch: to_slice };
        copy_rect(queue, from, to, region)
    }

    fn clCommandCopyBufferToImageKHR(
        from: cl_mem,
        to: cl_mem,
        from_offset: usize,
        to_origin: *const usize,
        region: *const usize,
    ) |queue| copy_buffer_to_image(queue, (from, from_offset), (to, to_origin), region)

    fn clCommandCopyImageKHR(
        from: cl_mem,
        to: cl_mem,
        from_origin: *const usize,
        to_origin: *const usize,
        region: *const usize,
    ) |queue| copy_image(queue, (from, from_origin), (to, to_origin), region)

    fn clCommandCopyImageToBufferKHR(
        from: cl_mem,
        to: cl_mem,
        from_origin: *const usize,
        region: *const usize,
        to_offset: usize,
    ) |queue| copy_image_to_buffer(queue, (from, from_origin), (to, to_offset), region)

    fn clCommandFillBufferKHR(mem: cl_mem, pattern: *const c_void, pattern_size: usize, offset: usize, size: usize)
        |queue| fill(queue, (mem, offset), (pattern, pattern_size), size)

    fn clCommandFillImageKHR(image: cl_mem, color: *const c_void, origin: *const usize, region: *const usize)
        |queue| fill_image(queue, image, color, origin, region)

    fn clCommandNDRangeKernelKHR(
        kernel: cl_kernel,
        dimensions: cl_uint,
        offset: *const usize,
        global: *const usize,
        local: *const usize,
    ) |queue| launch(queue, kernel, [offset, global, local], dimensions)

    fn clCommandSVMMemcpyKHR(to: *mut c_void, from: *const c_void, size: usize)
        |queue| copy_memory(queue, to, from, size)

    fn clCommandSVMMemFillKHR(pointer: *mut c_void, pattern: *const c_void, pattern_size: usize, size: usize)
        |queue| fill_memory(queue, pointer, (pattern, pattern_size), size)
}
