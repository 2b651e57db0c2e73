//! The card model, frame by frame: what only a model shows, such as events, exact virtual time, and what can be wrong
//! with a sandbox. What cards of all kinds do is in crates/check/conformance.

mod bench;
mod launches;
mod loading;
mod memory;
mod native;
#[cfg(feature = "planted-bugs")]
mod planted;
mod ports;
mod random;
mod results;
mod session;
mod talker;
