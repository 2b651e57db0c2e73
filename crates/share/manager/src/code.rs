//! OpenCL error codes.

use opencl_sys::{CL_SUCCESS, cl_int};

/// Why an OpenCL call failed: a negative code of the standard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[error("OpenCL error {0}")]
pub struct Code(pub cl_int);

/// Any code but success is an error.
pub(crate) const fn check(code: cl_int) -> Result<(), Code> {
    if code == CL_SUCCESS { Ok(()) } else { Err(Code(code)) }
}
