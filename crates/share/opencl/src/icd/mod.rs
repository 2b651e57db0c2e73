//! The functions that an ICD loader finds by name: versions 1 and 2 of `cl_khr_icd`. All others are in the table.
//!
//! A loader exports functions of the same names, and its symbols take the place of ours wherever we use them. So the
//! functions exported here only call others that are not exported, and nothing else refers to them.
#![allow(unsafe_code, non_snake_case)]

mod extensions;
pub mod loader;
pub mod table;

use std::ffi::{c_char, c_void};

use opencl_sys::{cl_int, cl_platform_id, cl_platform_info, cl_uint};

use crate::api::platform;

/// The platforms: always one, whether its managers run or not.
///
/// # Safety
/// As of `clGetPlatformIDs`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clIcdGetPlatformIDsKHR(
    num_entries: cl_uint,
    platforms: *mut cl_platform_id,
    num_platforms: *mut cl_uint,
) -> cl_int {
    // SAFETY: as this function's.
    unsafe { loader::get_ids(num_entries, platforms, num_platforms) }
}

/// Information about the platform.
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
    // SAFETY: as this function's.
    unsafe { platform::get_info(platform, name, size, value, size_ret) }
}

/// Functions that only loaders need; null for others.
///
/// # Safety
/// `name` is null or a text that ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clGetExtensionFunctionAddress(name: *const c_char) -> *mut c_void {
    // SAFETY: as this function's.
    unsafe { loader::extension(name) }
}

/// A function of the table, by name; null if the name is unknown.
///
/// # Safety
/// `name` is null or a text that ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clIcdGetFunctionAddressForPlatformKHR(
    platform: cl_platform_id,
    name: *const c_char,
) -> *mut c_void {
    // SAFETY: as this function's.
    unsafe { loader::function(platform, name) }
}

/// Sets the loader's word of the platform and of all objects made later.
///
/// # Safety
/// The loader's word is not followed; any value will do.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clIcdSetPlatformDispatchDataKHR(platform: cl_platform_id, data: *mut c_void) -> cl_int {
    // SAFETY: as this function's.
    unsafe { loader::set_loader_data(platform, data) }
}
