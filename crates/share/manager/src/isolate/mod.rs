//! Isolation: a process for each client of a device, so that its kernels reach nothing of others.
//!
//! A runtime such as PoCL runs kernels in the process that asks for them, where a hostile or broken one reads and
//! writes everything, and one that never ends cannot be stopped. So the manager runs each client's session in a
//! *worker*, a process of the same program: the [`board`] hands the client's channel over to a worker, and from then on
//! client and worker communicate directly, through the same rings.
//!
//! The manager keeps what concerns several clients: admission, the order of turns, quotas. A worker
//! [requests](lease_client) the board and returns it; while nobody else wants the board, the worker keeps it, by a
//! [page](shared_page) of shared memory, and needs no message for its tasks. A worker that does not return the board
//! although others have waited for the stall time is ended, and so is one whose client is gone. Its [keeper] ends all
//! that it began with it.
//!
//! Programs of a tenant that build the same at the same time [take turns](build_turns).
//!
//! A worker is not trusted: its messages and its page can only harm its own client. It is [confined](confine) to what
//! its runtime needs.

mod board;
mod build_asker;
mod build_turns;
mod child;
mod confine;
mod control;
mod descent;
mod host;
mod keeper;
mod kernel_cache;
mod launch;
mod layers;
mod lease;
mod lease_client;
mod memory_guard;
mod memory_quota;
mod own_user;
mod probe;
mod shared_page;
mod syscalls;
mod template;
mod template_main;
mod worker;
mod worker_folder;
mod worker_main;
mod worker_metrics;
mod worker_pool;

pub(crate) use self::board::IsolatedBoard;
pub(crate) use self::control::DeviceOrigin;
pub(crate) use self::host::Host;
pub use self::layers::{Lack, Layers};
pub use self::probe::probe;
pub(crate) use self::worker_main::can_work;
pub use self::worker_main::work_if_asked;

#[cfg(test)]
mod tests;
