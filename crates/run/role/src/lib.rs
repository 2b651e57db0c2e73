//! What a card runs: its [`Ddr`], and the sandboxes that turn an image's part into a running [`Role`].
//!
//! A [`Sandbox`] belongs to one target of the image format. Changing the role of a card takes two steps, so that a bad
//! image harms nobody: [`Sandbox::prepare`] does everything that can fail and touches no DDR, while the old role still
//! serves; then [`Prepared::activate`] puts the new role in its place.
//!
//! A role runs in slices of bounded length on the thread that calls [`Role::step`]: no thread, no clock, no socket.
//! What a kernel computes, how many cycles it takes and where its slices end depend on its input alone.
#![deny(unsafe_code)]

mod ddr;
mod error;
mod role;
pub mod wasm;

pub use ddr::{DDR_BYTES_MAX, Ddr, DdrError, PAGE_BYTES};
pub use error::RoleError;
pub use role::{Prepared, Role, RoleFault, Sandbox, Step};
pub use wasm::{WasmConfig, WasmSandbox};

/// Bytes at the bottom of DDR that belong to the role, the protocol's `ROLE_PRIVATE`: its stack and constants.
pub const ROLE_PRIVATE: u64 = 1 << 20;
