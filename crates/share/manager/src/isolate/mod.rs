//! A process for each client of a device: what its kernels can reach is its own.
//!
//! A runtime such as PoCL runs kernels in the process that asks for them, where a hostile or broken one reads and
//! writes everything, and one that never ends cannot be stopped. So the manager has each client's session in a
//! *worker*, a process of its own with the same program in it: the [`board`] greets the client, hands its channel over
//! to a worker, and from then on the client and the worker speak to each other, through the same rings, with nobody in
//! between.
//!
//! What stays with the manager is what concerns others: who may come, whose turn it is, who has how much memory. A
//! worker [asks](lease_client) for the board and gives it back; while nobody else wants it, it keeps it, on a page of
//! memory that both share, and needs no message for its tasks. A worker that does not give the board back when others
//! have waited for long enough is ended, and so is one whose client is gone.
//!
//! A worker is not trusted: what it says and what stands on its page can only harm its own client. It is
//! [confined](confine) to what its runtime needs.

mod board;
mod confine;
mod control;
mod kernel_cache;
mod lease;
mod lease_client;
mod memory_quota;
mod shared_page;
mod worker;
mod worker_main;
mod worker_metrics;
mod worker_pool;

pub(crate) use self::board::IsolatedBoard;
pub(crate) use self::control::DeviceOrigin;
pub(crate) use self::worker_main::can_work;
pub use self::worker_main::work_if_asked;

#[cfg(test)]
mod tests;
