//! The functions that loaders call: those that give the platform, and functions by name.
#![allow(unsafe_code, non_snake_case)]

use std::ffi::{CStr, c_char, c_void};

use opencl_sys::*;

use crate::api::status;
use crate::error::ensure;
use crate::handle::{self, Ref};
use crate::icd::extensions;
use crate::icd::table::{self, TABLE};
use crate::info::put;
use crate::objects::platform::Platform;

/// The platform, from which all other objects have the table.
fn the_platform() -> &'static Ref<Platform> {
    Platform::with_table(&TABLE)
}

/// `clGetPlatformIDs`, and what loaders call instead.
pub unsafe extern "C" fn get_ids(
    num_entries: cl_uint,
    platforms: *mut cl_platform_id,
    num_platforms: *mut cl_uint,
) -> cl_int {
    status(|| {
        ensure(platforms.is_null() == (num_entries == 0), CL_INVALID_VALUE)?;
        ensure(!platforms.is_null() || !num_platforms.is_null(), CL_INVALID_VALUE)?;
        // SAFETY: the caller's, or null.
        unsafe {
            put(platforms, the_platform().handle());
            put(num_platforms, 1);
        }
        Ok(())
    })
}

/// `clGetExtensionFunctionAddress`.
pub unsafe extern "C" fn extension(name: *const c_char) -> *mut c_void {
    if name.is_null() {
        return std::ptr::null_mut();
    }
    // SAFETY: a text, as the specification asks.
    match unsafe { CStr::from_ptr(name) }.to_bytes() {
        b"clIcdGetPlatformIDsKHR" => get_ids as *mut c_void,
        b"clIcdGetFunctionAddressForPlatformKHR" => function as *mut c_void,
        b"clIcdSetPlatformDispatchDataKHR" => set_loader_data as *mut c_void,
        other => extensions::find(other),
    }
}

/// `clIcdGetFunctionAddressForPlatformKHR`.
pub unsafe extern "C" fn function(platform: cl_platform_id, name: *const c_char) -> *mut c_void {
    if name.is_null() || Platform::check(platform).is_err() {
        return std::ptr::null_mut();
    }
    // SAFETY: a text, as the specification asks.
    table::find(unsafe { CStr::from_ptr(name) }.to_bytes())
}

/// `clIcdSetPlatformDispatchDataKHR`.
pub unsafe extern "C" fn set_loader_data(platform: cl_platform_id, data: *mut c_void) -> cl_int {
    status(|| {
        Platform::check(platform)?;
        handle::set_loader_data(data);
        the_platform().set_loader_data(data);
        Ok(())
    })
}

pub unsafe extern "C" fn clGetExtensionFunctionAddressForPlatform(
    platform: cl_platform_id,
    name: *const c_char,
) -> *mut c_void {
    if Platform::check(platform).is_err() {
        return std::ptr::null_mut();
    }
    // SAFETY: as this function's.
    unsafe { extension(name) }
}
