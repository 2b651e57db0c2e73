//! Fuzz targets: what arrives from outside, and what it must never do.
//!
//! A target is a `fn(&mut Unstructured) -> arbitrary::Result<()>` that makes its input from the bytes it is given and
//! panics when a promise is broken. Its bytes come from one of two engines:
//!
//! - `cargo test -p rackloom-fuzz`: a [`campaign`] of random inputs on the stable toolchain. The same
//!   `RACKLOOM_FUZZ_SEED` gives the same inputs in the same order; `RACKLOOM_FUZZ_SECONDS` (default 5) is each target's
//!   time. A failure prints the input's own seed, and `RACKLOOM_FUZZ_INPUT=<seed>` runs that input alone.
//! - `crates/check/fuzz/guided.sh TARGET [SECONDS]`: libFuzzer, guided by coverage.
//!
//! Each module here holds the targets of one crate. To add one, write it there and name it in `tests/targets.rs`.
#![forbid(unsafe_code)]

pub mod bridge;
pub mod campaign;
#[cfg(feature = "card")]
pub mod card;
pub mod channel;
pub mod frame;
pub mod host;
pub mod image;
pub mod node;
pub mod opencl;
pub mod sack;
pub mod signed;
pub mod talk;
