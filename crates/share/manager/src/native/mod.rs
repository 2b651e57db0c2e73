//! Boards behind a vendor's OpenCL runtime: PoCL, a GPU's driver, an FPGA vendor's library.
//!
//! The runtime is opened by its path, as an ICD loader does, and never through the loader: that would also find our own
//! library, and so this manager.

mod arguments;
mod board;
mod build_queue;
mod clock;
mod coherence;
mod contexts;
mod handles;
mod image;
mod mirror;
mod objects;
mod output;
mod printing;
mod query;
mod registration;
mod runtime;
mod space;
mod svm;
mod work;

pub use board::{NativeBoard, Register};
pub(crate) use build_queue::BuildQueue;
pub(crate) use output::Output;
pub use runtime::{Runtime, installed};
