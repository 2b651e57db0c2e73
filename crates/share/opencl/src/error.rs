//! Error codes as results.

use opencl_sys::cl_int;
use rackloom_ipc::ChannelError;

/// An OpenCL error code; never `CL_SUCCESS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Error(pub cl_int);

/// A result with an OpenCL error code.
pub type Result<T> = std::result::Result<T, Error>;

impl From<ChannelError> for Error {
    /// `CL_OUT_OF_RESOURCES` if the manager grants no more memory; otherwise the connection is lost.
    fn from(why: ChannelError) -> Self {
        match why {
            ChannelError::Quota { .. } => Self(opencl_sys::CL_OUT_OF_RESOURCES),
            _ => Self(opencl_sys::CL_DEVICE_NOT_AVAILABLE),
        }
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match NAMES.iter().find(|(code, _)| *code == self.0) {
            Some((_, name)) => f.write_str(name),
            None => write!(f, "OpenCL error {}", self.0),
        }
    }
}

macro_rules! names {
    ($($name:ident)*) => { [$((opencl_sys::$name, stringify!($name)),)*] };
}

/// Names of the codes with which a connection to a manager or board can fail.
const NAMES: [(cl_int, &str); 10] = names! {
    CL_DEVICE_NOT_FOUND CL_DEVICE_NOT_AVAILABLE CL_MEM_OBJECT_ALLOCATION_FAILURE CL_OUT_OF_RESOURCES
    CL_OUT_OF_HOST_MEMORY CL_INVALID_VALUE CL_INVALID_DEVICE CL_INVALID_CONTEXT CL_INVALID_OPERATION
    CL_INVALID_PROPERTY
};

/// The code of a result, for a function that returns it.
pub fn code(result: Result<()>) -> cl_int {
    result.err().map_or(opencl_sys::CL_SUCCESS, |e| e.0)
}

/// `Ok` if the condition holds, else this code.
pub fn ensure(right: bool, code: cl_int) -> Result<()> {
    if right { Ok(()) } else { Err(Error(code)) }
}

/// Shorthand for an error in tail position.
pub fn fail<T>(code: cl_int) -> Result<T> {
    Err(Error(code))
}
