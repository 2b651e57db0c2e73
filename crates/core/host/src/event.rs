//! Events of a host.

use std::collections::BTreeMap;

use bytes::Bytes;
use rackloom_node::Duration;
use rackloom_wire::{ErrorCode, MacAddr};

use crate::card_info::CardInfo;

/// One operation. Numbers rise; none is used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpId(pub u64);

/// Something that the owner should know of.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A card has appeared.
    CardUp(CardInfo),
    /// A card's image, claim or state has changed.
    CardChanged(CardInfo),
    /// A card is gone; its operations have failed with [`OpError::Vanished`] just before.
    CardDown {
        /// The card.
        card: MacAddr,
        /// The evidence.
        reason: DownReason,
    },
    /// The claim on a card is lost though the card lives; its operations have failed with [`OpError::ClaimLost`].
    ClaimLost {
        /// The card.
        card: MacAddr,
    },
    /// A load goes on.
    LoadProgress {
        /// The load.
        op: OpId,
        /// Its phase.
        phase: LoadPhase,
        /// Chunks sent in this phase.
        done: u32,
        /// Chunks to send in this phase.
        total: u32,
    },
    /// An operation has ended: the only such event for it.
    Completed {
        /// The operation.
        op: OpId,
        /// Its outcome.
        result: Result<Outcome, OpError>,
    },
}

/// How a card's absence is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DownReason {
    /// It said goodbye.
    Goodbye,
    /// It has restarted: its memory, image and claim are gone. It announces itself anew.
    Restarted,
    /// It was silent too long.
    Silent,
}

/// What an operation gave.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The card is claimed.
    Claimed {
        /// The epoch granted.
        epoch: u16,
    },
    /// The card is given back.
    Released,
    /// The bytes are in the card's memory.
    Written,
    /// These were read.
    Data(Bytes),
    /// A kernel was executed.
    Launched(LaunchReport),
    /// A load has ended on all its cards, well or not.
    Loaded(LoadReport),
    /// The card's counters, in the order of `Counter::NAMES`.
    Counters(Vec<u64>),
    /// The active image's manifest.
    Manifest(Bytes),
}

/// One execution of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchReport {
    /// What the kernel returned.
    pub value: u64,
    /// Role clock cycles it took.
    pub cycles: u64,
    /// Card time when it started, nanoseconds since the card's boot.
    pub started_ns: u64,
    /// Card time when it ended.
    pub finished_ns: u64,
    /// The bytes of the output region.
    pub output: Bytes,
}

/// What a load is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LoadPhase {
    /// Telling each card what will come.
    Begin,
    /// Sending the image to all.
    Send,
    /// Sending again what some lack.
    Repair,
    /// Cards check the digest and prepare the role.
    Verify,
    /// Cards write their configuration port.
    Configure,
}

/// How a load went.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadReport {
    /// What became of it on each card.
    pub cards: BTreeMap<MacAddr, Result<(), OpError>>,
    /// Image bytes.
    pub image_bytes: u64,
    /// Data frames sent, repairs included.
    pub data_frames: u64,
    /// Data frames that repaired losses.
    pub repair_frames: u64,
    /// Bytes of this load on the host's wire, with Ethernet's overhead of 24 a frame.
    pub wire_bytes: u64,
    /// Time in each phase: begin, send, repair, verify, configure.
    pub phases: [Duration; 5],
}

impl LoadReport {
    /// From the first frame to the last card's activation.
    pub fn total(&self) -> Duration {
        self.phases.iter().sum()
    }

    /// Why it failed on some card: a card's own reason rather than that of those which were called off for it.
    pub fn fault(&self) -> Option<&OpError> {
        let faults = || self.cards.values().filter_map(|r| r.as_ref().err());
        faults().find(|e| !matches!(e, OpError::Cancelled { .. })).or_else(|| faults().next())
    }
}

/// Why an operation failed. Each names its card.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpError {
    /// No such card is known.
    #[error("card {card} is not on the network")]
    UnknownCard {
        /// The card.
        card: MacAddr,
    },
    /// The operation needs a claim that this host does not hold.
    #[error("card {card} is not claimed by this host")]
    NotClaimed {
        /// The card.
        card: MacAddr,
    },
    /// Another host holds the card.
    #[error("card {card} is claimed by {holder} for at least {lease_ms} ms more")]
    Claimed {
        /// The card.
        card: MacAddr,
        /// Who holds it.
        holder: MacAddr,
        /// What is left of the lease.
        lease_ms: u64,
    },
    /// The claim ended while the operation was under way.
    #[error("the claim on card {card} was lost")]
    ClaimLost {
        /// The card.
        card: MacAddr,
    },
    /// The card is gone.
    #[error("card {card} vanished ({})", match reason { DownReason::Goodbye => "it said goodbye", DownReason::Restarted => "it restarted", DownReason::Silent => "it stopped answering" })]
    Vanished {
        /// The card.
        card: MacAddr,
        /// The evidence.
        reason: DownReason,
    },
    /// The time allowed is over.
    #[error("card {card} did not finish in the time allowed")]
    Deadline {
        /// The card.
        card: MacAddr,
    },
    /// The card refused.
    #[error("card {card} refused: {}", code.meaning())]
    Refused {
        /// The card.
        card: MacAddr,
        /// The reason.
        code: ErrorCode,
        /// A number that goes with the code.
        detail: u64,
    },
    /// The kernel ended badly.
    #[error("kernel on card {card} failed after {cycles} cycles: {}", code.meaning())]
    Kernel {
        /// The card.
        card: MacAddr,
        /// The reason.
        code: ErrorCode,
        /// Role clock cycles it had taken.
        cycles: u64,
    },
    /// A load failed on the card, which serves its old role still.
    #[error("card {card} did not take the image: {}{}{text}", code.meaning(), if text.is_empty() { "" } else { ": " })]
    Load {
        /// The card.
        card: MacAddr,
        /// The reason.
        code: ErrorCode,
        /// The card's own words.
        text: String,
    },
    /// The operation was called off by this host.
    #[error("the operation on card {card} was called off")]
    Cancelled {
        /// The card.
        card: MacAddr,
    },
}

impl OpError {
    /// The card that it is about.
    pub const fn card(&self) -> MacAddr {
        match self {
            Self::UnknownCard { card }
            | Self::NotClaimed { card }
            | Self::Claimed { card, .. }
            | Self::ClaimLost { card }
            | Self::Vanished { card, .. }
            | Self::Deadline { card }
            | Self::Refused { card, .. }
            | Self::Kernel { card, .. }
            | Self::Load { card, .. }
            | Self::Cancelled { card } => *card,
        }
    }

    /// True when the same work may succeed on another card, or here later.
    pub const fn is_card_loss(&self) -> bool {
        match self {
            Self::UnknownCard { .. }
            | Self::NotClaimed { .. }
            | Self::Claimed { .. }
            | Self::ClaimLost { .. }
            | Self::Vanished { .. }
            | Self::Deadline { .. } => true,
            Self::Refused { .. } | Self::Kernel { .. } | Self::Load { .. } | Self::Cancelled { .. } => false,
        }
    }
}
