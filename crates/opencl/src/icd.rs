//! What an ICD loader finds by name: versions 1 and 2 of `cl_khr_icd`. All else is reached through the table.
#![allow(unsafe_code, non_snake_case)]

use std::ffi::{CStr, c_char, c_void};

use opencl_sys::{
    CL_INVALID_PLATFORM, CL_INVALID_VALUE, CL_SUCCESS, cl_int, cl_platform_id, cl_platform_info, cl_uint,
};

use crate::api::device::platform_info;
use crate::error::{code, ensure};
use crate::globals::globals;
use crate::handle::get;
use crate::info::{Out, put};
use crate::objects::platform::Platform;
use crate::table;

/// The platforms: always the one, whether its managers are there or not.
///
/// # Safety
/// As of `clGetPlatformIDs`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clIcdGetPlatformIDsKHR(
    num_entries: cl_uint,
    platforms: *mut cl_platform_id,
    num_platforms: *mut cl_uint,
) -> cl_int {
    code((|| {
        ensure(platforms.is_null() == (num_entries == 0), CL_INVALID_VALUE)?;
        ensure(!platforms.is_null() || !num_platforms.is_null(), CL_INVALID_VALUE)?;
        // SAFETY: the caller's, or null.
        unsafe {
            put(platforms, globals().platform().handle());
            put(num_platforms, 1);
        }
        Ok(())
    })())
}

/// What the platform is.
///
/// # Safety
/// As of the function of OpenCL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clGetPlatformInfo(
    platform: cl_platform_id,
    name: cl_platform_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    // SAFETY: as the caller says.
    code(platform_info(platform, name, unsafe { Out::new(size, value, size_ret) }))
}

/// Functions that only loaders need; null for others.
///
/// # Safety
/// `name` is null or a text that ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clGetExtensionFunctionAddress(name: *const c_char) -> *mut c_void {
    if name.is_null() {
        return std::ptr::null_mut();
    }
    // SAFETY: as the caller says.
    match unsafe { CStr::from_ptr(name) }.to_bytes() {
        b"clIcdGetPlatformIDsKHR" => clIcdGetPlatformIDsKHR as *mut c_void,
        b"clIcdGetFunctionAddressForPlatformKHR" => clIcdGetFunctionAddressForPlatformKHR as *mut c_void,
        b"clIcdSetPlatformDispatchDataKHR" => clIcdSetPlatformDispatchDataKHR as *mut c_void,
        _ => std::ptr::null_mut(),
    }
}

/// Any function of the table, by name; null if there is none.
///
/// # Safety
/// `name` is null or a text that ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clIcdGetFunctionAddressForPlatformKHR(
    platform: cl_platform_id,
    name: *const c_char,
) -> *mut c_void {
    if name.is_null() || get::<Platform>(platform).is_err() {
        return std::ptr::null_mut();
    }
    // SAFETY: as the caller says.
    table::find(unsafe { CStr::from_ptr(name) }.to_bytes())
}

/// Sets the loader's word of the platform and of all objects to come.
///
/// # Safety
/// The loader's word is not followed; any value will do.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clIcdSetPlatformDispatchDataKHR(platform: cl_platform_id, data: *mut c_void) -> cl_int {
    let Ok(platform) = get::<Platform>(platform) else { return CL_INVALID_PLATFORM };
    globals().set_loader_data(data);
    platform.set_loader_data(data);
    CL_SUCCESS
}
