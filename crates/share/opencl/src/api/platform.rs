//! The platform.
#![allow(unsafe_code, non_snake_case)]

use std::ffi::c_void;

use opencl_sys::*;

use super::status;
use crate::error::fail;
use crate::info::Out;
use crate::objects::device_info::{COMMAND_BUFFERS, VERSION, make_version, name_version};
use crate::objects::platform::Platform;

/// Extensions of the platform, and those that all its devices have, with their versions.
const fn extensions() -> [(&'static str, cl_version); 2] {
    [("cl_khr_icd", make_version(2, 0, 0)), COMMAND_BUFFERS]
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
            CL_PLATFORM_EXTENSIONS => out.text(&extensions().map(|(name, _)| name).join(" ")),
            CL_PLATFORM_EXTENSIONS_WITH_VERSION => {
                out.bytes(&extensions().map(|(name, version)| name_version(name, version)).concat())
            }
            CL_PLATFORM_ICD_SUFFIX_KHR => out.text("RACKLOOM"),
            CL_PLATFORM_HOST_TIMER_RESOLUTION => out.ulong(1),
            _ => fail(CL_INVALID_VALUE),
        }
    })
}

pub unsafe extern "C" fn clUnloadPlatformCompiler(platform: cl_platform_id) -> cl_int {
    status(|| Platform::check(platform))
}
