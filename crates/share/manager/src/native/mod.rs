//! Boards behind an OpenCL runtime of somebody else: PoCL, a GPU's driver, an FPGA vendor's library.
//!
//! The runtime is opened by its own path, as an ICD loader does it, and never through the loader: that would find our
//! own library, too, and so ourselves.

mod arguments;
mod board;
mod clock;
mod coherence;
mod handles;
mod objects;
mod query;
mod runtime;
mod space;
mod work;

pub use board::NativeBoard;
pub use runtime::{Runtime, installed};
