//! What a sequencer has counted.

/// Frames and faults of all links of a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LinkCounters {
    /// Frames that came.
    pub rx: u64,
    /// Frames that were sent.
    pub tx: u64,
    /// Payloads sent again.
    pub resent: u64,
    /// Frames that were no link's, or malformed.
    pub malformed: u64,
    /// Frames of another life of either end.
    pub stale: u64,
    /// Messages that no command wanted, or that broke a rule.
    pub stray: u64,
    /// Neighbours that were taken for dead.
    pub dead: u64,
}
