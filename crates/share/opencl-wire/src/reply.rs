//! Messages from the manager to the library.

use serde::{Deserialize, Serialize};

use crate::board::{BoardInfo, Limits};
use crate::command::EventId;
use crate::image::ImageFormat;

/// A message to the library. Status codes are OpenCL's: `CL_SUCCESS`, or a negative one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reply {
    /// An operation has ended. The tail holds the bytes of a read without `into`.
    Done {
        /// Its event.
        event: EventId,
        /// `CL_SUCCESS`, or an error.
        status: i32,
        /// When it ran; `None` if it failed before it began.
        times: Option<Times>,
    },
    /// The answer to a request.
    Answer {
        /// Number of the request.
        request: u32,
        /// The answer, or an error.
        answer: Result<Answer, i32>,
    },
    /// Kernels have printed what the tail holds. It comes before [`Reply::Done`] of their launch.
    Printed {
        /// There was more behind it, and it is lost: over [`crate::PRINTED_MAX`], or not read in time.
        lost: bool,
    },
    /// The manager ends this session, and closes the channel next.
    Farewell {
        /// The reason, for a person.
        reason: String,
    },
}

/// When an operation ran, in nanoseconds of the manager's `CLOCK_MONOTONIC`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Times {
    /// Handed to the board.
    pub submitted: u64,
    /// Began.
    pub started: u64,
    /// Ended.
    pub ended: u64,
}

/// An answer to a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// To `Hello`.
    Welcome {
        /// Boards, numbered from 0.
        boards: u16,
        /// What this session may have at a time.
        limits: Limits,
        /// The manager's version, for a person.
        software: String,
    },
    /// To `Board`.
    Board(BoardInfo),
    /// To `Open`.
    Open,
    /// To `Created`: the program was made.
    Created {
        /// `CL_PROGRAM_BINARY_TYPE` before it is built: an object or library may be linked as it is.
        binary_type: u32,
    },
    /// To `Build`, `Compile` and `Link`, whether they succeeded or not.
    Built(Build),
    /// To `BinarySize`: length in bytes.
    BinarySize(u64),
    /// To `Binary`: the binary is in the memory given for it.
    Binary,
    /// To `CreateSvm`.
    Svm {
        /// Where it begins, for kernels; a multiple of 4096.
        address: u64,
    },
    /// To `ImageFormats`.
    ImageFormats(Vec<ImageFormat>),
    /// To `Kernel`.
    Kernel(KernelInfo),
    /// To `Clock`: nanoseconds of `CLOCK_MONOTONIC`.
    Clock(u64),
}

/// The result of a build.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// The call's result: `CL_SUCCESS`, `CL_BUILD_PROGRAM_FAILURE`, ...
    pub status: i32,
    /// `CL_PROGRAM_BINARY_TYPE`.
    pub binary_type: u32,
    /// The compiler's output; at most [`crate::LOG_MAX`] bytes.
    pub log: String,
    /// The kernels' names, in the board's order; empty unless the program is executable.
    pub kernels: Vec<String>,
    /// `CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE`.
    pub global_variables: u64,
}

/// The answers of `clGetKernelInfo`, `clGetKernelArgInfo` and `clGetKernelWorkGroupInfo`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelInfo {
    /// `CL_KERNEL_ATTRIBUTES`.
    pub attributes: String,
    /// Number of arguments.
    pub argument_count: u32,
    /// The arguments, one for each; `None` if the board does not know them.
    pub arguments: Option<Vec<ArgumentInfo>>,
    /// Work-groups.
    pub work_group: WorkGroup,
}

/// An argument of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArgumentInfo {
    /// `CL_KERNEL_ARG_ADDRESS_QUALIFIER`.
    pub address: u32,
    /// `CL_KERNEL_ARG_ACCESS_QUALIFIER`.
    pub access: u32,
    /// `CL_KERNEL_ARG_TYPE_QUALIFIER`.
    pub qualifiers: u64,
    /// `CL_KERNEL_ARG_TYPE_NAME`.
    pub type_name: String,
    /// `CL_KERNEL_ARG_NAME`.
    pub name: String,
}

/// `clGetKernelWorkGroupInfo`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkGroup {
    /// `CL_KERNEL_WORK_GROUP_SIZE`.
    pub size: u64,
    /// `CL_KERNEL_COMPILE_WORK_GROUP_SIZE`.
    pub compiled: [u64; 3],
    /// `CL_KERNEL_LOCAL_MEM_SIZE`, with no argument set.
    pub local_memory: u64,
    /// `CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE`.
    pub preferred_multiple: u64,
    /// `CL_KERNEL_PRIVATE_MEM_SIZE`.
    pub private_memory: u64,
}
