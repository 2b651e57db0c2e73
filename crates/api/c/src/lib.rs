//! The library for C programs, as `include/rackloom_rma.h` declares it: memory of cards as memory of the process.
//!
//! All mappings of a process are of one node, which is there as long as any of them is.
#![deny(unsafe_code)]

mod abi;
mod failure;
mod given;
mod maps;

pub use given::{GIVEN, NODE, Window};
