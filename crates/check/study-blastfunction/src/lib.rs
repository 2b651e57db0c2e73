//! What it costs to share boards: the same OpenCL calls on a vendor's runtime itself and through a manager, in turn.
//!
//! The benches are OpenCL programs: they go through the loader, and know devices only. A [`site::Site`] is where they
//! run: a manager as a process of its own, and one device seen in three ways.

mod error;
mod sample;

pub mod lane;
pub mod overhead;
mod recorded;
pub mod sharing;

pub mod site;

pub use error::{BenchError, Result};
pub use sample::{Effort, Stat, Turns, in_turn};
