//! Bugs on purpose. The simulation must catch each of them, or its silence proves nothing.

/// A known bug for a part of this crate to suffer from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlantedBug {
    /// The sender leaves out number 0 when its numbers wrap.
    WrapOffByOne,
    /// The receiver takes the number that it completed last for new once more.
    DeliverDuplicate,
    /// Frames of an earlier life of the peer are taken.
    AcceptStaleEpoch,
    /// The bitmap is not shifted when a gap closes: the number after the first missing one counts as received.
    ShiftSack,
    /// The timer is not started again after an acknowledgement.
    LoseTimer,
    /// The sender does not stop at the limit of its credit.
    IgnoreCredit,
    /// A stranger takes the place of a peer that is in use.
    EvictEstablished,
    /// The receiver takes the number that came out of its hold last for new once more.
    DeliverHeldTwice,
    /// What is held is delivered before the payload that was missing.
    DeliverOutOfOrder,
    /// The sender takes a negative acknowledgement for any other.
    IgnoreNack,
    /// What is held stays when the peer begins a new life.
    KeepHeldOnRestart,
    /// Every segment of another life is answered at once.
    AnswerForEver,
}

impl PlantedBug {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::WrapOffByOne,
        Self::DeliverDuplicate,
        Self::AcceptStaleEpoch,
        Self::ShiftSack,
        Self::LoseTimer,
        Self::IgnoreCredit,
        Self::EvictEstablished,
        Self::DeliverHeldTwice,
        Self::DeliverOutOfOrder,
        Self::IgnoreNack,
        Self::KeepHeldOnRestart,
        Self::AnswerForEver,
    ];
}
