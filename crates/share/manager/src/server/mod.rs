//! The server: its options, its boards and listeners, and a thread for each client.

pub(crate) mod attach;
pub(crate) mod manager;
pub(crate) mod options;
