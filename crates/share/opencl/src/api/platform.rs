//! The platform.
#![allow(unsafe_code, non_snake_case)]

use std::ffi::{CStr, c_char, c_void};

use opencl_sys::*;

use super::status;
use crate::error::{ensure, fail};
use crate::globals::globals;
use crate::icd::table;
use crate::info::{Out, put};
use crate::objects::device_info::{VERSION, make_version, name_version};
use crate::objects::platform::Platform;

const EXTENSION: &str = "cl_khr_icd";

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
            put(platforms, Platform::the().handle());
            put(num_platforms, 1);
        }
        Ok(())
    })
}

/// `clGetPlatformInfo`.
pub unsafe extern "C" fn get_info(
    platform: cl_platform_id,
    name: cl_platform_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    status(|| {
        // A null platform is the only one there is.
        if !platform.is_null() {
            Platform::check(platform)?;
        }
        // SAFETY: the program's, as the specification asks.
        let out = unsafe { Out::new(size, value, size_ret) };
        match name {
            CL_PLATFORM_PROFILE => out.text("FULL_PROFILE"),
            CL_PLATFORM_VERSION => out.text(concat!("OpenCL 3.0 Rackloom ", env!("CARGO_PKG_VERSION"))),
            CL_PLATFORM_NUMERIC_VERSION => out.uint(VERSION),
            CL_PLATFORM_NAME | CL_PLATFORM_VENDOR => out.text("Rackloom"),
            CL_PLATFORM_EXTENSIONS => out.text(EXTENSION),
            CL_PLATFORM_EXTENSIONS_WITH_VERSION => out.bytes(&name_version(EXTENSION, make_version(2, 0, 0))),
            CL_PLATFORM_ICD_SUFFIX_KHR => out.text("RACKLOOM"),
            CL_PLATFORM_HOST_TIMER_RESOLUTION => out.ulong(1),
            _ => fail(CL_INVALID_VALUE),
        }
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
        _ => std::ptr::null_mut(),
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
        globals().set_loader_data(data);
        Platform::the().set_loader_data(data);
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

pub unsafe extern "C" fn clUnloadPlatformCompiler(platform: cl_platform_id) -> cl_int {
    status(|| Platform::check(platform))
}
