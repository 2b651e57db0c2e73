//! What a card tells whoever owns it: for observers and for the oracles of the simulator.

use rackloom_sign::Release;
use rackloom_wire::{ErrorCode, MacAddr};

/// Something that happened inside the card. Nothing outside depends on it: hosts learn what they need from frames.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CardEvent {
    /// A claim was granted, with this epoch.
    Claimed {
        /// The owner.
        owner: MacAddr,
        /// The claim's epoch.
        epoch: u16,
    },
    /// The claim of this epoch has ended.
    Released {
        /// The owner that was.
        owner: MacAddr,
        /// The epoch that is over.
        epoch: u16,
        /// Why.
        reason: ReleaseReason,
    },
    /// A load's image is there, checked and prepared.
    Staged {
        /// Its digest.
        digest: [u8; 32],
    },
    /// An image is active from now on.
    Activated {
        /// Its digest.
        digest: [u8; 32],
    },
    /// An image is in the configuration flash and awaits a restart.
    Flashed {
        /// Its digest.
        digest: [u8; 32],
    },
    /// The card runs a newer version of a signed role than ever before, or will after its restart: its board has to
    /// keep that.
    Raised(Release),
    /// The device has left what it ran, to boot from its configuration flash.
    Rebooted,
    /// A load has failed; the old role goes on.
    LoadFailed {
        /// The reason.
        code: ErrorCode,
        /// The reason for people.
        text: String,
    },
    /// A kernel has started.
    LaunchStarted {
        /// The claim's epoch.
        epoch: u16,
        /// The launch's number.
        seq: u32,
        /// The kernel's number.
        kernel: u16,
    },
    /// A launch has ended, whether it ever started or not.
    LaunchEnded {
        /// The claim's epoch.
        epoch: u16,
        /// The launch's number.
        seq: u32,
        /// How it ended.
        status: ErrorCode,
    },
    /// The role reports a word, whose meaning is its own.
    RoleEvent {
        /// The word.
        word: u64,
    },
    /// The role wanted to send what no port of its may carry: a stream without a port, a source address that is not
    /// the port's, a control frame, or no Ethernet frame.
    MessageRefused {
        /// Number of the stream.
        stream: u8,
    },
    /// A node that the role's messages were on their way to has started anew or gone: each may or may not have arrived.
    StreamsLost {
        /// The node.
        peer: MacAddr,
    },
    /// DDR has answered with an error, or not at all, and the card has started again.
    MemoryFailed,
    /// A write reached DDR.
    Written {
        /// The claim's epoch.
        epoch: u16,
        /// The write's number.
        seq: u32,
        /// Where.
        addr: u64,
        /// How many bytes.
        length: u32,
    },
}

/// Why a claim has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReleaseReason {
    /// The owner gave the card back.
    Released,
    /// The owner was silent for longer than its lease.
    Expired,
    /// The owner claimed the card anew.
    TakenOver,
    /// The card has started again.
    Restarted,
    /// The owner's key was revoked.
    Revoked,
}
