//! Calls that this library does not support: pipes, intermediate language,
//! native and built-in kernels. No device claims them, and the specification says how each call fails then.
#![allow(unsafe_code, non_snake_case)]

use std::ffi::{c_char, c_void};

use opencl_sys::*;

use super::{object, status};
use crate::error::{Error, Result, ensure, fail};
use crate::handle::{ObjectKind, get};
use crate::objects::context::Context;
use crate::objects::memory::Buffer;
use crate::objects::queue::Queue;

/// Fails with `code` if the handle is valid.
fn refuse<T: ObjectKind>(handle: *mut c_void, code: cl_int) -> cl_int {
    status(|| get::<T>(handle).and(Err(Error(code))))
}

/// The same for a call that would make an object.
///
/// # Safety
/// `errcode_ret` is null or good for writing.
unsafe fn refuse_object<T: ObjectKind>(handle: *mut c_void, code: cl_int, errcode_ret: *mut cl_int) -> *mut c_void {
    // SAFETY: as the caller says.
    unsafe { object(errcode_ret, || get::<T>(handle).and(Err(Error(code)))) }
}

/// Fails, since no memory object is an image.
fn no_image(mem: cl_mem) -> Result<()> {
    get::<Buffer>(mem)?;
    fail(CL_INVALID_MEM_OBJECT)
}

pub unsafe extern "C" fn clCreatePipe(
    context: cl_context,
    _flags: cl_mem_flags,
    _packet_size: cl_uint,
    _max_packets: cl_uint,
    _properties: *const cl_pipe_properties,
    errcode_ret: *mut cl_int,
) -> cl_mem {
    // SAFETY: as above.
    unsafe { refuse_object::<Context>(context, CL_INVALID_OPERATION, errcode_ret) }
}

pub unsafe extern "C" fn clGetPipeInfo(
    pipe: cl_mem,
    _name: cl_pipe_info,
    _size: usize,
    _value: *mut c_void,
    _size_ret: *mut usize,
) -> cl_int {
    status(|| no_image(pipe))
}

pub unsafe extern "C" fn clCreateProgramWithIL(
    context: cl_context,
    il: *const c_void,
    length: usize,
    errcode_ret: *mut cl_int,
) -> cl_program {
    let make = || {
        get::<Context>(context)?;
        ensure(!il.is_null() && length > 0, CL_INVALID_VALUE)?;
        fail(CL_INVALID_OPERATION)
    };
    // SAFETY: as above.
    unsafe { object(errcode_ret, make) }
}

pub unsafe extern "C" fn clCreateProgramWithBuiltInKernels(
    context: cl_context,
    num_devices: cl_uint,
    devices: *const cl_device_id,
    names: *const c_char,
    errcode_ret: *mut cl_int,
) -> cl_program {
    let make = || {
        get::<Context>(context)?;
        // No device has any, so no name is one.
        ensure(num_devices > 0 && !devices.is_null() && !names.is_null(), CL_INVALID_VALUE)?;
        fail(CL_INVALID_VALUE)
    };
    // SAFETY: as above.
    unsafe { object(errcode_ret, make) }
}

pub unsafe extern "C" fn clEnqueueNativeKernel(
    queue: cl_command_queue,
    _function: Option<unsafe extern "C" fn(*mut c_void)>,
    _args: *mut c_void,
    _args_size: usize,
    _num_mems: cl_uint,
    _mems: *const cl_mem,
    _args_mem_loc: *mut *const c_void,
    _num_waits: cl_uint,
    _waits: *const cl_event,
    _event: *mut cl_event,
) -> cl_int {
    refuse::<Queue>(queue, CL_INVALID_OPERATION)
}

/// Of OpenCL 3.1; no device claims it.
pub unsafe extern "C" fn clGetKernelSuggestedLocalWorkSize(
    queue: cl_command_queue,
    _kernel: cl_kernel,
    _dimensions: cl_uint,
    _offset: *const usize,
    _global: *const usize,
    _suggested: *mut usize,
) -> cl_int {
    refuse::<Queue>(queue, CL_INVALID_OPERATION)
}

/// Gone: there never was anything to unload.
pub unsafe extern "C" fn clUnloadCompiler() -> cl_int {
    CL_SUCCESS
}
