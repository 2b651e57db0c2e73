//! What a board is, and what a session may have.

use serde::{Deserialize, Serialize};

/// A board as its own runtime describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoardInfo {
    /// What the manager calls it; unique in the manager.
    pub name: String,
    /// What `clGetDeviceInfo` of the board's own runtime answers, for the parameters it answers at all: parameter and
    /// value. Handles are not among them.
    pub device: Vec<(u32, Vec<u8>)>,
    /// The same of `clGetPlatformInfo` of the runtime.
    pub platform: Vec<(u32, Vec<u8>)>,
    /// Whether a backed buffer's memory is the board's own: what either side writes there while no operation is under
    /// way is what the other one reads, and there is nothing to map.
    pub shares_memory: bool,
}

/// What a session may have at a time. The library keeps to it and tells the program; the manager ends a session that
/// exceeds it.
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
