//! An OpenCL library for unmodified programs: boards behind managers are the devices of one platform.
//!
//! An ICD loader opens this library and calls [`clIcdGetPlatformIDsKHR`]; it finds all other functions in the table to
//! which each object points. What a program does becomes messages to the managers (`rackloom-opencl-wire`), over shared
//! memory on the same node and TCP between nodes (`rackloom-ipc`).
//!
//! - Whatever can be answered here is answered here: infos, reference counts, kernel arguments, every check that the
//!   specification asks for at the call. Only operations on buffers, launches and builds are sent.
//! - Each enqueued command has an event, whether the program asks for it or not. A blocking call enqueues the same
//!   command and waits for it. A waiting thread reads the manager's replies itself; no other thread is involved.
//! - A command is sent only when it may run at once. One that waits for a user event or another board is held here with
//!   all that depends on it, and is sent later by a thread of this library.
//! - A handle is looked up before it is followed: an invalid one is an error code, never a fault.
//! - After the loss of a manager its devices give `CL_DEVICE_NOT_AVAILABLE`, commands under way fail with that, and the
//!   next `clGetDeviceIDs` connects again.
//!
//! # Rooms
//! From bottom to top; each imports only rooms above it.
//!
//! | Room | Contents |
//! |---|---|
//! | `error`, `sync`, `config`, `process` | error codes; locks; the environment; values of a process, lost by a fork |
//! | `stats`, `callback`, `info` | counters; the thread that calls the program; results of the `clGet...Info` calls |
//! | `copier` | copies between the program's memory and registered arenas |
//! | `includes` | files that sources include |
//! | `handle` | handles, and the lists of objects that exist |
//! | `host_memory`, `mapping` | memory that commands read and write; memory in which the program sees a buffer |
//! | `session` | one connection to a manager: stream, operations in flight, completions, sender thread, board |
//! | `objects` | the objects of OpenCL: data only |
//! | `command` | commands: wait lists, enqueuing, dispatch, migration, local execution, sending; builds |
//! | `api` | the functions of OpenCL |
//! | `icd` | the functions and the table that an ICD loader uses |

mod api;
mod callback;
mod command;
mod config;
mod copier;
mod error;
mod handle;
mod host_memory;
mod icd;
mod includes;
mod info;
mod mapping;
mod objects;
mod process;
mod session;
mod stats;
mod svm_region;

pub use icd::{
    clGetExtensionFunctionAddress, clGetPlatformInfo, clIcdGetFunctionAddressForPlatformKHR, clIcdGetPlatformIDsKHR,
    clIcdSetPlatformDispatchDataKHR,
};
