//! What can go wrong for a live program.

use std::time::Duration;

use rackloom_host::OpError;
use rackloom_live::NetError;

use crate::array_work::ArrayError;

/// Why something did not work. [`help`](Error::help) says what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The arrays do not fit the kernel.
    #[error(transparent)]
    Array(#[from] ArrayError),
    /// A job has found no card that works for it for too long.
    #[error("no card worked on the job for {waited:?}; {left} of {tiles} tiles are left")]
    NoCards {
        /// How long none did.
        waited: Duration,
        /// Tiles not computed.
        left: usize,
        /// Tiles in all.
        tiles: usize,
        /// Why the last card left, if any did.
        #[source]
        last: Option<OpError>,
    },
    /// A job was not finished in the time it had.
    #[error("the job was not finished in {allowed:?}; {left} of {tiles} tiles are left")]
    JobDeadline {
        /// The time it had.
        allowed: Duration,
        /// Tiles not computed.
        left: usize,
        /// Tiles in all.
        tiles: usize,
    },
    /// The job was called off.
    #[error("the job was called off")]
    JobCancelled,
    /// The segment cannot be attached to.
    #[error(transparent)]
    Net(NetError),
    /// An operation on a card failed.
    #[error(transparent)]
    Op(#[from] OpError),
    /// The host does not run any more: its network is gone.
    #[error("the connection to the rack is gone")]
    Stopped,
    /// The operating system gives no thread.
    #[error("cannot start the host's thread")]
    Thread(#[source] std::io::Error),
}

impl Error {
    /// What a person can do about it, if anything general can be said.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            Self::Array(_) => Some("`rackloom info CARD` and `rackloom image show IMAGE` list each kernel's arrays"),
            Self::NoCards { .. } => {
                Some("see which cards there are with `rackloom ls`; add one with `rackloom card add`")
            }
            Self::JobDeadline { .. } => Some("allow more time, or add cards while the job runs"),
            Self::JobCancelled => None,
            Self::Net(NetError::Raw(_)) => Some("raw sockets need root or CAP_NET_RAW, and an interface that is up"),
            Self::Net(_) => Some("start a rack with `rackloom up`, or name another segment with --net"),
            Self::Op(e) => op_help(e),
            Self::Stopped => Some("the process that ran `rackloom up` has ended, or the interface went away"),
            Self::Thread(_) => Some("the limit of processes or of memory may be reached; see `ulimit -a`"),
        }
    }

    /// True when time ran out, as opposed to a refusal or a loss.
    pub const fn is_timeout(&self) -> bool {
        matches!(self, Self::JobDeadline { .. } | Self::NoCards { .. } | Self::Op(OpError::Deadline { .. }))
    }
}

const fn op_help(e: &OpError) -> Option<&'static str> {
    match e {
        OpError::UnknownCard { .. } => Some("`rackloom ls` lists the cards that answer"),
        OpError::NotClaimed { .. } => Some("claim the card first"),
        OpError::Claimed { .. } => Some("wait until its holder gives it back, or choose another card with --card"),
        OpError::ClaimLost { .. } => {
            Some("this host was silent for longer than its lease, or another took the card over")
        }
        OpError::Vanished { .. } => Some("`rackloom ls --watch` shows cards come and go"),
        OpError::Deadline { .. } => {
            Some("the card may be busy with a long kernel; `rackloom info CARD` shows its state")
        }
        OpError::Kernel { .. } => {
            Some("check the kernel's arguments; a trap is an access outside its memory or a division by zero")
        }
        OpError::Load { .. } => Some("check the file with `rackloom image verify`; the card still serves its old role"),
        OpError::Refused { .. } | OpError::Cancelled { .. } => None,
    }
}
