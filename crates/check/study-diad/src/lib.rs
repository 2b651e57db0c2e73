//! The DiAD paper's evaluation, redone in virtual time: remote memory and streams between cards and hosts.
//!
//! | study | the paper | what runs |
//! |---|---|---|
//! | [`latency`] | figure 4 | reads, writes and exchanged messages of 8 B to 64 KiB |
//! | [`throughput`] | figure 5 | 1 to 16 requests under way, messages of 64 B to 1 MiB, streams |
//! | [`multichase`] | figure 6 | pointers chased through a host's memory, a remote card's and a remote host's |
//! | [`features`] | table I | the six patterns of use, each at work |
//!
//! Endpoints, cards and the cards' owner are the ones that run live; switch and cables are simulated, and what the rest
//! of a testbed takes is a constant with a source ([`Latencies`]). Same options, same report, to the last digit.
#![forbid(unsafe_code)]

mod by_name;
mod error;
mod lab;
mod latencies;
mod names;
mod peer;

pub mod features;
pub mod latency;
pub mod multichase;
pub mod paper;
pub mod throughput;

pub use by_name::{Settings, run};
pub use error::{Result, StudyError};
pub use latencies::{Latencies, Stand};
pub use names::NAMES;
