//! Events of a host.

use std::collections::BTreeMap;

use bytes::Bytes;
use rackloom_node::Duration;
use rackloom_wire::MacAddr;

use crate::card_info::CardInfo;
use crate::error::{DownReason, OpError};

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
    /// Two cards answer under one address. Operations there have failed with [`OpError::AddressShared`], and claims do
    /// until one of the two is gone.
    AddressShared {
        /// The address.
        card: MacAddr,
    },
    /// A load goes on.
    LoadProgress {
        /// The load.
        op: OpId,
        /// Its phase.
        phase: LoadPhase,
        /// Chunks sent in this phase; of `Verify` and `Configure`, the cards that are past it.
        done: u32,
        /// Chunks to send in this phase, or cards of the load.
        total: u32,
    },
    /// A load has made its image active on this card; it may go on for others.
    Loaded {
        /// The load.
        op: OpId,
        /// The card.
        card: MacAddr,
    },
    /// An operation has ended: the only such event for it.
    Completed {
        /// The operation.
        op: OpId,
        /// Its outcome.
        result: Result<Outcome, OpError>,
    },
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
    /// The window is open, or closed.
    WindowSet,
    /// The stream has its route, or none.
    RouteSet,
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
    /// From the first frame to its activation, for each card that runs it now.
    pub times: BTreeMap<MacAddr, Duration>,
    /// Image bytes.
    pub image_bytes: u64,
    /// Data frames sent, repairs included.
    pub data_frames: u64,
    /// Data frames that repaired losses.
    pub repair_frames: u64,
    /// Bytes of this load on the host's wire, with Ethernet's overhead of 24 a frame.
    pub wire_bytes: u64,
    /// Time in each phase: begin, send, repair, verify, configure. They contain what was done for cards that the others
    /// did not wait for.
    pub phases: [Duration; 5],
}

impl LoadReport {
    /// From the first frame to the last card's activation; if there was none, to the load's end.
    pub fn total(&self) -> Duration {
        self.times.values().max().copied().unwrap_or_else(|| self.phases.iter().sum())
    }

    /// Adds the frames and times of a load that came after this one; not what became of its cards.
    pub fn add(&mut self, later: &Self) {
        let before = self.phases.iter().sum::<Duration>();
        self.times.extend(later.times.iter().map(|(card, took)| (*card, before + *took)));
        self.data_frames += later.data_frames;
        self.repair_frames += later.repair_frames;
        self.wire_bytes += later.wire_bytes;
        for (phase, more) in self.phases.iter_mut().zip(later.phases) {
            *phase += more;
        }
    }

    /// Why it failed on some card: a card's own reason rather than that of those which were called off for it.
    pub fn fault(&self) -> Option<&OpError> {
        let faults = || self.cards.values().filter_map(|r| r.as_ref().err());
        faults().find(|e| !matches!(e, OpError::Cancelled { .. })).or_else(|| faults().next())
    }
}
