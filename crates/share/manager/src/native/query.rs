//! Queries of a runtime's objects: `clGet...Info` as values.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ptr::null_mut;

use opencl_sys::{cl_int, cl_uint};

use crate::code::{Code, check};

/// Most bytes of a value: device information is short, and binaries are queried elsewhere.
const VALUE_MAX: usize = 1 << 20;

/// One of the functions with the first arguments bound: parameter, size, where to, size of the value.
pub(super) type Ask<'a> = &'a dyn Fn(cl_uint, usize, *mut c_void, *mut usize) -> cl_int;

/// A value of any size.
pub(super) fn bytes(ask: Ask<'_>, parameter: cl_uint) -> Result<Vec<u8>, Code> {
    let mut size = 0;
    check(ask(parameter, 0, null_mut(), &raw mut size))?;
    if size > VALUE_MAX {
        return Err(Code(opencl_sys::CL_OUT_OF_HOST_MEMORY));
    }
    let mut value = vec![0; size];
    if size > 0 {
        check(ask(parameter, size, value.as_mut_ptr().cast(), null_mut()))?;
    }
    Ok(value)
}

/// A text; invalid UTF-8 is replaced.
pub(super) fn text(ask: Ask<'_>, parameter: cl_uint) -> Result<String, Code> {
    let value = bytes(ask, parameter)?;
    let end = value.iter().position(|b| *b == 0).unwrap_or(value.len());
    Ok(String::from_utf8_lossy(&value[..end]).into_owned())
}

/// An unsigned number of up to 8 bytes.
pub(super) fn number(ask: Ask<'_>, parameter: cl_uint) -> Result<u64, Code> {
    let value = bytes(ask, parameter)?;
    match value.len() {
        0..=8 => {
            let mut wide = [0; 8];
            wide[..value.len()].copy_from_slice(&value);
            Ok(u64::from_le_bytes(wide))
        }
        _ => Err(Code(opencl_sys::CL_INVALID_VALUE)),
    }
}

/// Three sizes.
pub(super) fn sizes(ask: Ask<'_>, parameter: cl_uint) -> Result<[u64; 3], Code> {
    let value = bytes(ask, parameter)?;
    let mut out = [0; 3];
    for (size, bytes) in out.iter_mut().zip(value.chunks_exact(8)) {
        *size = u64::from_le_bytes(bytes.try_into().expect("chunks of 8"));
    }
    Ok(out)
}

/// The values of all parameters that the runtime supports.
pub(super) fn all(ask: Ask<'_>, parameters: impl Iterator<Item = cl_uint>) -> Vec<(u32, Vec<u8>)> {
    parameters.filter_map(|parameter| Some((parameter, bytes(ask, parameter).ok()?))).collect()
}
