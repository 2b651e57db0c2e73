//! The daemon that shares boards among tenants (BlastFunction, section III-B).
//!
//! A [`board`] is whatever computes: an OpenCL device behind its vendor's runtime ([`native`]), or a Rackloom card
//! ([`card`]). A client's channel is a [`session`]; what its commands enqueue gathers into tasks, which a
//! [`scheduler`] puts in order and [`turns`] run, one at a time on each board. Where kernels run
//! in the process that asks for them, each session has one of its own ([`isolate`]).
//!
//! Nothing that a client says is trusted: its numbers name objects of its own session only, its ranges are checked
//! here before a runtime sees them, and it cannot have more than it is granted.
#![deny(unsafe_code)]

mod admission;
pub mod board;
mod boards;
pub mod card;
mod code;
mod exporter;
mod habit;
mod intake;
mod isolate;
mod latencies;
mod lobby;
mod meter;
mod metrics;
pub mod native;
mod options;
pub mod paced;
mod quota;
mod registry;
mod resolve;
mod roll;
pub mod scheduler;
mod server;
mod session;
mod table;
mod task;
mod terms;
mod tokens;
mod turns;

pub use admission::Admission;
pub use code::Code;
pub use isolate::work_if_asked;
pub use metrics::Metrics;
pub use native::installed;
pub use options::{Isolate, Options, Service};
pub use quota::Charge;
pub use roll::{Roll, Rolls};
pub use server::{Listener, Manager};
pub use terms::Terms;
pub use tokens::Tokens;
