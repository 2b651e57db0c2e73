//! A virtual Ethernet segment that separate processes attach to, without root.
//!
//! One process, the one that brought the rack up, owns a [`Switch`](crate::Switch) and serves it at a Unix socket
//! ([`SegmentServer`]); others plug in ([`SegmentClient`], a [`Wire`](crate::Wire)). The socket lies in a directory
//! that only its user can enter ([`SegmentPath`]), and both ends check whom they talk to.
//!
//! A client that does not keep up loses frames, as its port's queue then overflows; it holds up others for no longer
//! than the switch's stall bound.

mod client;
mod connection;
mod path;
mod record;
mod server;

use std::io;
use std::path::PathBuf;

pub use client::{ClientStats, SegmentClient};
pub use path::SegmentPath;
pub use server::{SegmentServer, ServerStats};

/// Why there is no segment.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SegmentError {
    /// Somebody serves a segment of this name.
    #[error("segment {name} is up already, served by process {pid}; stop that, or choose another name")]
    AlreadyUp {
        /// The segment.
        name: String,
        /// Who serves it, as far as is known.
        pid: String,
    },
    /// Names become file names.
    #[error(
        "{name:?} is no segment name; use 1 to {} of a-z, A-Z, 0-9, '-', '_' and '.', not beginning with '.'",
        path::NAME_MAX
    )]
    BadName {
        /// What was asked for.
        name: String,
    },
    /// The directory would let others listen in.
    #[error("cannot keep segments in {}: {problem}; mend that, or set RACKLOOM_RUN to a directory of your own", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The server has no place left.
    #[error("segment {name} has no free port; detach another process, or start a second segment")]
    Full {
        /// The segment.
        name: String,
    },
    /// The operating system refused.
    #[error("cannot {what} {}", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// On which file.
        path: PathBuf,
        /// What it says.
        source: io::Error,
    },
    /// The other end does not answer as a segment does.
    #[error("what listens at {} does not answer as a segment server of this version; is it an older or newer rackloom?", path.display())]
    NotOurs {
        /// The socket.
        path: PathBuf,
    },
    /// Nobody serves a segment of this name.
    #[error("no rack is up on segment {name}; start one with `rackloom up`")]
    NoSegment {
        /// The segment.
        name: String,
    },
}

#[cfg(test)]
mod tests;
