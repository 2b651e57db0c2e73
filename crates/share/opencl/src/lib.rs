//! OpenCL for programs that do not know Rackloom: boards behind managers, as devices of one platform.
//!
//! An ICD loader opens this library and calls [`clIcdGetPlatformIDsKHR`]; all else goes through the table of functions
//! to which each object points. What a program does becomes messages to the managers (`rackloom-opencl-wire`), over
//! shared memory on the same node and TCP between nodes (`rackloom-ipc`).
//!
//! - All that can be known here is answered here: infos, reference counts, arguments of kernels, every check that the
//!   specification wants at the call. Only operations on buffers, launches and builds are sent.
//! - Each enqueued command has an event, whether the program asks for it or not. Blocking calls are the same commands,
//!   followed by a wait. Who waits reads the answers itself; there is no thread in between.
//! - A command goes out only when it may run there and then. What waits for a user event, or for another board, is held
//!   here with all that depends on it, and goes out from a thread of this library.
//! - A handle is looked up before it is followed: a wrong one is an error code, never a fault.
//! - After a manager was lost its devices give `CL_DEVICE_NOT_AVAILABLE`, commands under way fail with that, and the
//!   next `clGetDeviceIDs` connects again.

mod api;
mod callback;
mod command;
mod config;
mod error;
mod handle;
mod host_memory;
mod icd;
mod info;
mod mapping;
mod objects;
mod process;
mod session;
mod stats;
mod sync;

pub use icd::{
    clGetExtensionFunctionAddress, clGetPlatformInfo, clIcdGetFunctionAddressForPlatformKHR, clIcdGetPlatformIDsKHR,
    clIcdSetPlatformDispatchDataKHR,
};
