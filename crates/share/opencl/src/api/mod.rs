//! The functions of the table, by family. Each makes all checks that the specification asks for at the call, and leaves
//! the rest to commands and objects.
#![allow(unsafe_code)]

pub mod command_buffer;
pub mod context;
pub mod copy;
pub mod device;
pub mod event;
pub mod image;
pub mod image_transfer;
pub mod kernel;
pub mod launch;
mod managers;
pub mod map;
pub mod memory;
pub mod platform;
pub mod program;
pub mod program_info;
pub mod queue;
pub mod record;
mod rect;
pub mod sampler;
pub mod svm;
pub mod svm_kernel;
pub mod sync;
pub mod transfer;
pub mod unsupported;

use std::ffi::{CStr, c_char, c_void};

use opencl_sys::{CL_INVALID_VALUE, CL_SUCCESS, cl_int};

use crate::error::{Result, code, ensure};
use crate::info::put;

/// The result of a call that returns a code.
pub fn status(call: impl FnOnce() -> Result<()>) -> cl_int {
    code(call())
}

/// The result of a call that makes an object and writes its code.
///
/// # Safety
/// `errcode_ret` is null or good for writing.
unsafe fn object(errcode_ret: *mut cl_int, call: impl FnOnce() -> Result<*mut c_void>) -> *mut c_void {
    let (code, handle) = call().map_or_else(|e| (e.0, std::ptr::null_mut()), |handle| (CL_SUCCESS, handle));
    // SAFETY: as the caller says.
    unsafe { put(errcode_ret, code) };
    handle
}

/// A text of the program; `CL_INVALID_VALUE` if the pointer is null.
///
/// # Safety
/// `from` is null or a text that ends with a zero.
unsafe fn text(from: *const c_char) -> Result<String> {
    ensure(!from.is_null(), CL_INVALID_VALUE)?;
    // SAFETY: as the caller says.
    Ok(unsafe { CStr::from_ptr(from) }.to_string_lossy().into_owned())
}
