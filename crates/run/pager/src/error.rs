//! Why there is no such memory.

use std::io;

/// Why the system gives no memory whose pages can be fetched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PagerError {
    /// No length, or more than there are addresses.
    #[error("cannot map {length} bytes")]
    Length {
        /// What was asked for.
        length: u64,
    },
    /// The kernel is too old, or another system.
    #[error("this kernel cannot have page faults served by a program as this needs it: Linux 6.6 or later can")]
    Unsupported,
    /// The kernel could, and does not allow it to this process.
    #[error(
        "this process may not serve page faults: give it read and write rights to /dev/userfaultfd, set the sysctl \
         vm.unprivileged_userfaultfd to 1, or, in a container, let its profile allow the system call userfaultfd"
    )]
    NotPermitted,
    /// The system refused something else.
    #[error("cannot {what}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// What it says.
        source: io::Error,
    },
}

impl PagerError {
    /// For `map_err`: what was tried.
    pub(crate) fn io<E: Into<io::Error>>(what: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::Io { what, source: source.into() }
    }
}
