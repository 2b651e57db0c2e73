//! The card, frame by frame.

mod bench;
mod discovery;
mod drops;
mod launches;
mod loading;
mod memory;
mod native;
#[cfg(feature = "planted-bugs")]
mod planted;
mod random;
mod results;
mod session;
mod wasm;
