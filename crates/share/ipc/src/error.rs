//! The errors of calls, and the reasons why a channel closes.

use std::io;
use std::sync::Arc;

use crate::hello::Refusal;
use crate::ring::Corrupt;
use crate::tls::TlsError;

/// Why a call failed. After any error but [`Self::Closed`] the channel stays open.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ChannelError {
    /// The channel is closed, for good, for this reason.
    #[error("the channel is closed: {0}")]
    Closed(#[from] Closed),
    /// A body is longer than a message carries; use bulk.
    #[error("a message of {len} bytes is longer than {max}; send the bytes as bulk", max = crate::ring::BODY_MAX)]
    TooLong {
        /// Its bytes.
        len: usize,
    },
    /// The kind is reserved for the channel itself.
    #[error("message kind {0:#x} is reserved; use one below {max:#x}", max = crate::control::RESERVED)]
    ReservedKind(u32),
    /// The client's quota of bulk memory is exhausted. Release some, or request less.
    #[error("{asked} bytes of bulk exceed the quota that the server grants this client")]
    Quota {
        /// The request, in bytes.
        asked: u64,
    },
    /// A reference does not name bulk of this client.
    #[error("invalid bulk reference {id} ({len} bytes at {offset}): not bulk of this client")]
    BadReference {
        /// Arena or transfer.
        id: u64,
        /// First byte.
        offset: u64,
        /// Bytes.
        len: u64,
    },
    /// A handler called a function that waits.
    #[error("a message handler must not wait for messages")]
    Reentrant,
    /// This process is a copy, made by fork, of the one that connected.
    #[error("this channel was opened before fork; open another in the child")]
    Forked,
    /// The deadline has passed.
    #[error("timed out")]
    Timeout,
    /// Only an idle channel can be handed over to another process.
    #[error("a channel cannot be handed over while {0}")]
    Busy(&'static str),
    /// A handover from another process is malformed.
    #[error("malformed handover: {0}")]
    BadHandover(&'static str),
    /// The server refused the greeting.
    #[error("the server refused: {0}")]
    Refused(Refusal),
    /// The other end does not speak this protocol, or another version of it.
    #[error("malformed reply: the peer does not speak this version of the protocol")]
    NotOurs,
    /// The server is not known to be the right one.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// Nothing is encrypted on the way to this address, which is not of this machine.
    #[error("plain TCP would send token and data over the network in the clear")]
    Exposed,
    /// A system call failed.
    #[error("cannot {what}")]
    Io {
        /// What failed.
        what: &'static str,
        /// The system's reason.
        source: Arc<io::Error>,
    },
}

/// Why a channel is closed. The first reason is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Closed {
    /// This side closed it.
    #[error("closed here")]
    Here,
    /// The other side closed it, or its process is gone.
    #[error("the other side has gone")]
    PeerGone,
    /// The other side does not read, and the bounded queue to it is full.
    #[error("the other side does not read, and the queue to it is full")]
    Overflow,
    /// A bulk transfer made no progress for [`Limits::stall`](crate::Limits::stall).
    #[error("the other side does not take or finish a bulk transfer")]
    Stalled,
    /// The other side violated the protocol.
    #[error("the other side violated the protocol: {0}")]
    Violation(#[from] Violation),
    /// The channel was handed over to another process: it stays open there, but not for this handle.
    #[error("the channel was handed over to another process")]
    HandedOver,
    /// The system failed: a socket error that is not the peer's fault.
    #[error("the system failed: {0}")]
    System(rustix::io::Errno),
}

/// The rule that the other side broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Violation {
    /// A shared ring is corrupt.
    #[error("{0}")]
    Ring(#[from] Corrupt),
    /// A message is longer than allowed.
    #[error("a message is too long")]
    MessageLength,
    /// A control message of an unknown kind or of a wrong length.
    #[error("a control message is malformed")]
    Control,
    /// Bytes on the socket that are not valid in its state.
    #[error("unexpected bytes on the socket")]
    Socket,
    /// A piece of bulk does not continue its transfer, or is too large.
    #[error("a bulk transfer is malformed")]
    Bulk,
    /// The client sent more bulk than the limits grant.
    #[error("more bulk than granted")]
    BulkQuota,
}

impl ChannelError {
    pub(crate) fn io(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { what, source: Arc::new(source) }
    }
}

impl From<io::Error> for Closed {
    fn from(e: io::Error) -> Self {
        use io::ErrorKind as K;
        if matches!(e.kind(), K::BrokenPipe | K::ConnectionReset | K::UnexpectedEof | K::NotConnected | K::TimedOut) {
            return Self::PeerGone;
        }
        Self::System(e.raw_os_error().map_or(rustix::io::Errno::IO, rustix::io::Errno::from_raw_os_error))
    }
}

impl From<Corrupt> for Closed {
    fn from(e: Corrupt) -> Self {
        Self::Violation(Violation::Ring(e))
    }
}
