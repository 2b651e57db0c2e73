//! What can go wrong, each with its name.

use std::io;
use std::sync::Arc;

use crate::hello::Refusal;
use crate::ring::Corrupt;

/// Why a call failed. Only [`Self::Closed`] means that the channel is over.
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
    /// The kind belongs to the channel itself.
    #[error("message kind {0:#x} is reserved; use one below {max:#x}", max = crate::control::RESERVED)]
    ReservedKind(u32),
    /// The server grants this client no more bulk memory. Release some, or ask for less.
    #[error("{asked} bytes of bulk are more than the server grants this client")]
    Quota {
        /// What was asked for, in bytes.
        asked: u64,
    },
    /// A message's reference to bulk names none of this client's.
    #[error("bulk reference {id} ({offset}, {len} bytes) names no bulk of this client")]
    BadReference {
        /// Arena or transfer.
        id: u64,
        /// First byte.
        offset: u64,
        /// Bytes.
        len: u64,
    },
    /// A handler called something that waits.
    #[error("a message handler must not wait for messages")]
    Reentrant,
    /// This process is a copy, made by fork, of the one that connected.
    #[error("this channel was opened before fork; open another in the child")]
    Forked,
    /// The time is over. The channel goes on.
    #[error("nothing came in time")]
    Timeout,
    /// A channel can be handed over to another process only while nothing is under way. It goes on as it was.
    #[error("a channel cannot be handed over while {0}")]
    Busy(&'static str),
    /// What another process has handed over is no channel.
    #[error("what was handed over is no channel: {0}")]
    BadHandover(&'static str),
    /// The server refused the greeting.
    #[error("the server refused: {0}")]
    Refused(Refusal),
    /// The other end does not speak as a channel does.
    #[error("what answers there is no channel of this version")]
    NotOurs,
    /// The operating system refused.
    #[error("cannot {what}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// What the system says.
        source: Arc<io::Error>,
    },
}

/// Why a channel is closed; the first reason stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Closed {
    /// This side closed it.
    #[error("closed here")]
    Here,
    /// The other side closed it, or its process is gone.
    #[error("the other side has gone")]
    PeerGone,
    /// The other side did not take what was sent to it: the bounded queue is full.
    #[error("the other side does not read, and the queue to it is full")]
    Overflow,
    /// A bulk transfer made no progress for the time that the limits allow.
    #[error("the other side does not take or finish a bulk transfer")]
    Stalled,
    /// The other side broke the rules.
    #[error("the other side broke the rules: {0}")]
    Violation(#[from] Violation),
    /// The channel was handed over to another process: it goes on there, and only this handle may not use it any more.
    #[error("the channel was handed over to another process")]
    HandedOver,
    /// The system failed us: a socket error that names no peer's fault.
    #[error("the system failed: {0}")]
    System(rustix::io::Errno),
}

/// Which rule the other side broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Violation {
    /// Shared ring.
    #[error("{0}")]
    Ring(#[from] Corrupt),
    /// A message longer than allowed.
    #[error("a message is too long")]
    MessageLength,
    /// A reserved kind that is none, or with another length.
    #[error("a control message is malformed")]
    Control,
    /// Bytes on the socket that belong to no state.
    #[error("unexpected bytes on the socket")]
    Socket,
    /// A piece of bulk that does not continue its transfer, or is too large.
    #[error("a bulk transfer is malformed")]
    Bulk,
    /// More bulk than the limits grant.
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
