//! A stranger on the segment: he hears every frame, sends under any address, and holds keys of another host.
//!
//! [`ATTACKS`] is the one list of what he does. Three suites go through it: `forgery` in `rackloom-conformance`, where
//! he is quicker than everybody else, in virtual time; `rackloom-swarm`, beside other faults; and
//! `crates/cli/tests/stranger`, on a live segment between processes.
#![forbid(unsafe_code)]

mod attacks;
mod keyring;
mod make;
mod stranger;

pub use attacks::{ATTACKS, Attack, Seen};
pub use keyring::Keyring;
pub use make::{announce, kind};
pub use stranger::Stranger;
