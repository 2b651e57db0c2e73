//! A command buffer of launches, where a device has them (`cl_khr_command_buffer`).
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use opencl_sys::cl_icd::_cl_icd_dispatch;
use opencl_sys::{
    cl_command_buffer_khr, clCommandNDRangeKernelKHR_fn, clCreateCommandBufferKHR_fn, clEnqueueCommandBufferKHR_fn,
    clFinalizeCommandBufferKHR_fn, clReleaseCommandBufferKHR_fn,
};
use opencl_sys::{cl_command_queue, cl_int, cl_kernel, cl_platform_id};

use crate::error::Result;

/// A command buffer.
#[derive(Debug)]
pub(crate) struct Recorded {
    buffer: cl_command_buffer_khr,
    enqueue: clEnqueueCommandBufferKHR_fn,
    release: clReleaseCommandBufferKHR_fn,
}

/// The function of a name, in the table of functions to which each platform of an ICD loader points.
///
/// # Safety
/// `T` is the type of that function.
unsafe fn function<T>(platform: cl_platform_id, name: &std::ffi::CStr) -> Option<T> {
    // SAFETY: loaders ask for that table in a platform's first word.
    let table = unsafe { *platform.cast::<*const _cl_icd_dispatch>() };
    // SAFETY: as above; the name ends with a zero.
    let found = unsafe { (*table).clGetExtensionFunctionAddressForPlatform?(platform, name.as_ptr()) };
    // SAFETY: as the caller says.
    (!found.is_null()).then(|| unsafe { std::mem::transmute_copy::<*mut c_void, T>(&found) })
}

impl Recorded {
    /// Records `count` launches of a kernel with one work-item; none if the device has no command buffers.
    ///
    /// # Errors
    /// Those of the calls.
    pub(crate) fn new(
        platform: cl_platform_id,
        queue: cl_command_queue,
        kernel: cl_kernel,
        count: usize,
    ) -> Result<Option<Self>> {
        // SAFETY: the types are those of the functions.
        let functions = unsafe {
            (
                function::<clCreateCommandBufferKHR_fn>(platform, c"clCreateCommandBufferKHR"),
                function::<clCommandNDRangeKernelKHR_fn>(platform, c"clCommandNDRangeKernelKHR"),
                function::<clFinalizeCommandBufferKHR_fn>(platform, c"clFinalizeCommandBufferKHR"),
                function::<clEnqueueCommandBufferKHR_fn>(platform, c"clEnqueueCommandBufferKHR"),
                function::<clReleaseCommandBufferKHR_fn>(platform, c"clReleaseCommandBufferKHR"),
            )
        };
        let (Some(Some(create)), Some(Some(launch)), Some(Some(finalize)), Some(enqueue), Some(release)) = functions
        else {
            return Ok(None);
        };
        let (mut code, one) = (0, 1usize);
        // SAFETY: one queue, and no properties.
        let buffer = unsafe { create(1, &raw const queue, null(), &raw mut code) };
        checked(code)?;
        let this = Self { buffer, enqueue, release };
        for _ in 0..count {
            let (one, none) = (&raw const one, null_mut());
            // SAFETY: one dimension of one item; no properties, sync points or handle.
            checked(unsafe {
                launch(buffer, null_mut(), null(), kernel, 1, null(), one, null(), 0, null(), null_mut(), none)
            })?;
        }
        // SAFETY: the buffer is ours.
        checked(unsafe { finalize(buffer) })?;
        Ok(Some(this))
    }

    /// Enqueues it to its queue.
    ///
    /// # Errors
    /// That of the call.
    pub(crate) fn enqueue(&self) -> Result<()> {
        let Some(enqueue) = self.enqueue else { return Ok(()) };
        // SAFETY: no other queue, nothing to wait for, no event.
        checked(unsafe { enqueue(0, null_mut(), self.buffer, 0, null(), null_mut()) })
    }
}

impl Drop for Recorded {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: the buffer is ours.
            unsafe { release(self.buffer) };
        }
    }
}

fn checked(code: cl_int) -> Result<()> {
    if code == 0 { Ok(()) } else { Err(opencl3::error_codes::ClError(code).into()) }
}
