//! The server: its options, its boards and listeners, and a thread for each client.

mod attach;
mod bytes;
#[cfg(test)]
mod exclusive_tests;
mod local_board;
mod manager;
mod options;
mod start;
mod tls;

pub use self::manager::{Listener, Manager};
pub use self::options::{Isolate, Options};
pub use self::start::Service;
pub use self::tls::TlsOptions;
