//! What a card runs, as traits: its [`Memory`], and the [`Sandbox`] that turns an image's part into a running [`Role`].
//!
//! A sandbox belongs to one target of the image format. Changing the role of a card takes two steps, so that a bad
//! image harms nobody: [`Sandbox::prepare`] does everything that can fail and touches no memory, while the old role
//! still serves; then [`Prepared::activate`] puts the new role in its place.
//!
//! A role runs in slices of bounded length on the thread that calls [`Role::step`]: no thread, no clock, no socket.
//! What a kernel computes, how many cycles it takes and where its slices end depend on its input alone.
#![forbid(unsafe_code)]

mod error;
mod memory;
mod role;

pub use error::RoleError;
pub use memory::{BEAT_BYTES, MEMORY_BYTES_MAX, Memory, MemoryError, PAGE_BYTES};
pub use role::{
    Prepared, RemoteAccess, RemoteFault, RemoteWork, Role, RoleFault, RoleOutput, Sandbox, Step, StreamError,
};

/// Most bytes of one access to another node's memory: what one standard frame of the bridge holds.
pub const REMOTE_BYTES_MAX: u32 = 1408;

/// Bytes at the bottom of a card's memory that belong to the role, the protocol's `ROLE_PRIVATE`: stack and constants.
pub const ROLE_PRIVATE: u64 = 1 << 20;
