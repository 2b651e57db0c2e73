//! Errors of the facade.

use std::time::Duration;

use rackloom_bridge::Failure;
use rackloom_host::OpError;
use rackloom_live::{Net, NetError};
use rackloom_pager::PagerError;
use rackloom_wire::bridge::BridgeStatus;
use rackloom_wire::{ErrorCode, MacAddr};

use crate::array_work::ArrayError;

/// Why an operation failed. [`help`](Error::help) says what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The arrays do not fit the kernel.
    #[error(transparent)]
    Array(#[from] ArrayError),
    /// No card has worked on a job for too long.
    #[error("no card worked on the job for {waited:?}; {left} of {tiles} tiles are left")]
    NoCards {
        /// For how long no card worked on it.
        waited: Duration,
        /// Tiles not yet computed.
        left: usize,
        /// Tiles in all.
        tiles: usize,
        /// Why the last card left, if any did.
        #[source]
        last: Option<OpError>,
    },
    /// A job did not finish in time.
    #[error("the job was not finished in {allowed:?}; {left} of {tiles} tiles are left")]
    JobDeadline {
        /// The time allowed.
        allowed: Duration,
        /// Tiles not yet computed.
        left: usize,
        /// Tiles in all.
        tiles: usize,
    },
    /// The job was cancelled.
    #[error("the job was cancelled")]
    JobCancelled,
    /// The system maps no memory that is elsewhere.
    #[error("cannot map a node's memory")]
    Map(#[from] PagerError),
    /// Cannot attach to the network segment.
    #[error(transparent)]
    Net(#[from] NetError),
    /// An operation on a card failed.
    #[error(transparent)]
    Op(#[from] OpError),
    /// The host has no keys, and the cards are on an interface, where anybody may be.
    #[error("this host has no keys for cards on {net}, and without keys it claims none there")]
    Open {
        /// The network.
        net: Net,
    },
    /// An operation on a node of the bridge failed.
    #[error("operation on the memory or a stream of {peer} failed")]
    Remote {
        /// The node.
        peer: MacAddr,
        /// Why.
        #[source]
        source: RmaError,
    },
    /// The host has stopped: it lost its network.
    #[error("the connection to the rack was lost")]
    Stopped,
    /// The bridge's frames have no tags, and the nodes are on an interface, where anybody may be.
    #[error("frames between nodes of the bridge have no tags, and anybody may be on {net}")]
    Untagged {
        /// The network.
        net: Net,
    },
    /// The operating system refuses a thread.
    #[error("cannot start the host's thread")]
    Thread(#[source] std::io::Error),
}

/// Why an operation on a node of the bridge failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RmaError {
    /// It was refused, or it is not known whether it was carried out.
    #[error(transparent)]
    Failed(Failure),
    /// Empty, too long, or at an address that the operation cannot have.
    #[error("invalid range, address or stream")]
    Invalid,
    /// This process has opened the stream already.
    #[error("the stream is open already")]
    Taken,
    /// The peer has started anew or is gone since: messages that were on their way may or may not have arrived.
    #[error("the peer restarted or is gone: messages may be lost")]
    MessagesLost,
    /// This node has too many peers in use.
    #[error("too many peers in use")]
    Peers,
}

impl RmaError {
    const fn help(self) -> Option<&'static str> {
        match self {
            Self::Failed(Failure::Refused(BridgeStatus::NoWindow)) => {
                Some("the card's owner opens windows, with `rackloom rma open` or `Rack::set_window`")
            }
            Self::Failed(Failure::Unreachable) => {
                Some("the peer is gone, or has opened no window for this node: it does not answer strangers")
            }
            _ => None,
        }
    }
}

impl Error {
    /// What a person can do about it, if anything can be said in general.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            Self::Array(ArrayError::NoExchange { .. }) => {
                Some("leave out `--exchange cards`: any kernel's arrays can pass through the host")
            }
            Self::Array(ArrayError::ExchangeRoom { .. }) => {
                Some("use more cards, or `--exchange host`, whose tiles need less memory")
            }
            Self::Array(_) => Some("`rackloom info CARD` and `rackloom image show IMAGE` list each kernel's arrays"),
            Self::NoCards { .. } => Some("list the cards with `rackloom ls`; add one with `rackloom card add`"),
            Self::JobDeadline { .. } => Some("allow more time, or add cards while the job runs"),
            // What can be done stands in the cause.
            Self::JobCancelled | Self::Map(_) => None,
            Self::Net(NetError::Raw(_)) => Some("raw sockets need root or CAP_NET_RAW, and an interface that is up"),
            Self::Net(_) => Some("start a rack with `rackloom up`, or name another segment with --net"),
            Self::Op(e) => op_help(e),
            Self::Open { .. } => Some(
                "give this host's keys with --key FILE, from the machine of the rack; or say with --insecure-open that whoever is on \
                 the network may take the cards over and forge results (programs of the C libraries: RACKLOOM_INSECURE_OPEN=1)",
            ),
            Self::Untagged { .. } => Some(
                "use a virtual segment; or say with --insecure-open that whoever is on the network may pose as a node, and \
                 read and write what is open (programs of the C libraries: RACKLOOM_INSECURE_OPEN=1)",
            ),
            Self::Remote { source, .. } => source.help(),
            Self::Stopped => Some("the process that ran `rackloom up` has ended, or the interface has gone"),
            Self::Thread(_) => Some("a limit on processes or memory may be reached; see `ulimit -a`"),
        }
    }

    /// True when time ran out, as opposed to a refusal or a loss.
    pub const fn is_timeout(&self) -> bool {
        matches!(
            self,
            Self::JobDeadline { .. }
                | Self::NoCards { .. }
                | Self::Op(OpError::Deadline { .. } | OpError::Stalled { .. })
        )
    }
}

const fn op_help(e: &OpError) -> Option<&'static str> {
    match e {
        OpError::UnknownCard { .. } => Some("`rackloom ls` lists the cards that answer"),
        OpError::NotClaimed { .. } => Some("claim the card first"),
        OpError::Claimed { .. } => Some("wait until that host releases it, or choose another card with --card"),
        OpError::ClaimLost { .. } => {
            Some("this host was silent for longer than its lease, or another host took the card over")
        }
        OpError::AddressShared { .. } => Some(
            "take one of the two away or give it another address; racks that were started with the same --seed have \
             the same addresses",
        ),
        OpError::Vanished { .. } => Some("`rackloom ls --watch` shows cards as they come and go"),
        OpError::Deadline { .. } => {
            Some("the card may be busy with a long kernel; `rackloom info CARD` shows its state")
        }
        OpError::Stalled { .. } | OpError::Fruitless { .. } => Some(
            "restart the card if this happens again; it still serves its old role unless it had committed the new one",
        ),
        OpError::Path { .. } => Some(
            "do the same again: this host now sends the card standard frames; or give all of the path the same MTU",
        ),
        OpError::Unencrypted { .. } => {
            Some("choose other cards with --card, or omit --encrypt: then whoever hears the network reads all of it")
        }
        OpError::NoKey { .. } => Some("ask the operator of its rack for this host's keys, by `rackloom key host`"),
        OpError::KeyIgnored { generation: Some(_), .. } => {
            Some("ask the rack's operator for this host's keys of that generation, by `rackloom key host`")
        }
        OpError::Refused { code: ErrorCode::KeyRevoked, .. } => {
            Some("ask the rack's operator for the host's next keys: `rackloom key host` with --host N.GENERATION")
        }
        OpError::KeyIgnored { .. } => Some(
            "`rackloom info` counts claims with a wrong tag as auth_wrong; if it counts none, the card has no key, or is \
                 a stranger who poses as it: omit --key only if you know which",
        ),
        OpError::Absurd { .. } => Some("check that card; the others do not wait for it"),
        OpError::OutOfStep { .. } => Some("claim the card again; if this happens again, restart it"),
        OpError::Kernel { .. } => {
            Some("check the kernel's arguments; accesses outside its memory and divisions by zero cause traps")
        }
        OpError::Load { code: ErrorCode::ImageSignature, .. } => Some(
            "`rackloom image show` tells who signed it; have it signed, by one who may sign for the card, with a version \
             that is not below the newest it has run: `rackloom image sign`. The card still serves its old role",
        ),
        OpError::NotAllowed { .. } => Some(
            "`rackloom image show` tells who signed it; have it signed by one whom the policy names for the card: \
             `rackloom image sign`",
        ),
        OpError::Load { .. } => Some("check the file with `rackloom image verify`; the card still serves its old role"),
        OpError::AwaitsRestart { .. } => {
            Some("`rackloom ls --watch` shows when the card is back; `rackloom load` then finds the image there")
        }
        OpError::Refused { code: ErrorCode::Unsupported, .. } => Some(
            "gateware opens windows of memory to nodes that are named (`--for ADDRESS`), and its roles reach no other node: \
             name one, or use model cards, or `--exchange host`",
        ),
        OpError::Peer { .. } => {
            Some("`rackloom ls` shows which cards are left; with `--exchange host` the others take over")
        }
        OpError::Refused { .. } | OpError::Cancelled { .. } => None,
    }
}
