//! From the manager to the library.

use serde::{Deserialize, Serialize};

use crate::board::{BoardInfo, Limits};
use crate::command::EventId;

/// A message to the library. Status codes are OpenCL's: `CL_SUCCESS`, or a negative one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reply {
    /// An operation has ended. The tail is what a read without a place has read.
    Done {
        /// Its event.
        event: EventId,
        /// `CL_SUCCESS`, or why it failed.
        status: i32,
        /// When; none for one that failed before it began.
        times: Option<Times>,
    },
    /// What was asked for, or why not.
    Answer {
        /// Number of the request.
        request: u32,
        /// The answer.
        answer: Result<Answer, i32>,
    },
    /// The manager ends this session, and closes the channel next; why, for a person.
    Farewell {
        /// The reason.
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
    /// To `Hello`: how many boards there are, and what this session is granted.
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
    /// To `Created`: it was.
    Created {
        /// `CL_PROGRAM_BINARY_TYPE` before anything is done with it: an object or library may be linked as it is.
        binary_type: u32,
    },
    /// To `Build`, `Compile` and `Link`. A program with errors is an answer, too.
    Built(Build),
    /// To `BinarySize`: bytes.
    BinarySize(u64),
    /// To `Binary`: it is in its place.
    Binary,
    /// To `Kernel`.
    Kernel(KernelInfo),
    /// To `Clock`: nanoseconds of `CLOCK_MONOTONIC`.
    Clock(u64),
}

/// How a build ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// `CL_SUCCESS`, `CL_BUILD_PROGRAM_FAILURE`, ...: what the call returns.
    pub status: i32,
    /// `CL_PROGRAM_BINARY_TYPE`.
    pub binary_type: u32,
    /// What the compiler said; at most [`crate::LOG_MAX`] bytes.
    pub log: String,
    /// The kernels' names, in the board's order; none unless the program is executable.
    pub kernels: Vec<String>,
    /// `CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE`.
    pub global_variables: u64,
}

/// What `clGetKernelInfo`, `clGetKernelArgInfo` and `clGetKernelWorkGroupInfo` tell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelInfo {
    /// `CL_KERNEL_ATTRIBUTES`.
    pub attributes: String,
    /// How many arguments.
    pub argument_count: u32,
    /// What they are; none if the board does not know, else one for each.
    pub arguments: Option<Vec<ArgumentInfo>>,
    /// Work-groups.
    pub work_group: WorkGroup,
}

/// One argument.
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
