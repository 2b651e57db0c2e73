//! The description of a board, and the limits of a session.

use serde::{Deserialize, Serialize};

/// A board as its own runtime describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoardInfo {
    /// The manager's name for it, unique in the manager.
    pub name: String,
    /// The answers of `clGetDeviceInfo` of the board's own runtime: parameter and value. Parameters that it does not
    /// answer, and handles, are left out.
    pub device: Vec<(u32, Vec<u8>)>,
    /// The same of `clGetPlatformInfo` of the runtime.
    pub platform: Vec<(u32, Vec<u8>)>,
    /// Whether a backed buffer's memory is the board's own: what either side writes there while no operation is under
    /// way is what the other one reads, and there is nothing to map.
    pub shares_memory: bool,
    /// Whether the manager registers arenas with the board's runtime, so that bulk goes from and to them at the rate of
    /// the board's bus: then the library's own copies are what takes time.
    pub registers: bool,
}

/// What a session may have at a time. The library refuses calls that exceed it; the manager ends a session that does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Bytes of buffers.
    pub memory: u64,
    /// Objects of each kind: numbers are below this.
    pub objects: u32,
    /// Operations that have not ended.
    pub operations: u32,
    /// Bytes of a program's source or binary.
    pub program: u64,
}
