//! The daemon that shares boards among tenants (BlastFunction, section III-B).
//!
//! A [`board`] is whatever computes: an OpenCL device behind its vendor's runtime ([`native`]), or a Rackloom card
//! ([`card`]). Each client channel is a session; its commands gather into tasks, which the [`scheduler`] orders and a
//! dispatcher runs, one at a time on each board. Where kernels run in the process that asks for them, each session has
//! a process of its own.
//!
//! Clients are not trusted: a client's object numbers name objects of its own session only, its ranges are checked
//! here before a runtime sees them, and quotas bound what it holds.
//!
//! The rooms (top-level modules), from bottom to top. A room imports lower rooms only.
//!
//! 1. `sync`: locks that outlive a panic.
//! 2. `code`: OpenCL error codes.
//! 3. `quota`: bounded sums, of memory for instance. `claim`: folders that are a process's own; `home`: the manager's;
//!    `cgroup`: its control groups; `host_memory`: what the machine has.
//! 4. `metrics`: counters, histograms, and their HTTP endpoint.
//! 5. [`board`]: the traits of a board and of a tenant's space on it, and a paced board for measurements.
//! 6. [`native`]: boards behind a vendor's OpenCL runtime.
//! 7. [`card`]: boards that are Rackloom cards.
//! 8. `schedule`: the order of tasks on a board, and the dispatcher that runs them.
//! 9. `session`: a client's objects and commands on a board.
//! 10. `access`: admission, grants, and the handshake that opens a session.
//! 11. `isolate`: sessions in worker processes.
//! 12. `registry`: boards as devices of a cluster's registry.
//! 13. `server`: options, boards, listeners, and a thread for each client.
#![deny(unsafe_code)]

mod access;
pub mod board;
pub mod card;
mod cgroup;
mod claim;
mod code;
mod home;
mod host_memory;
mod isolate;
mod metrics;
pub mod native;
mod quota;
mod registry;
mod schedule;
mod server;
mod session;

pub use access::admission::Admission;
pub use access::allowlist::{Allowlist, Allowlists};
pub use access::limits::EndpointLimits;
pub use access::tokens::Tokens;
pub use board::paced;
pub use code::Code;
pub use isolate::{Lack, Layers, probe, work_if_asked};
pub use metrics::Metrics;
pub use native::installed;
pub use quota::{Charge, TenantLimits};
pub use schedule::scheduler;
pub use server::{Isolate, Listener, Manager, Options, Service, TlsOptions};
