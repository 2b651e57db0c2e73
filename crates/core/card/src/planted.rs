//! Bugs on purpose. The simulator must catch each of them, or its silence proves nothing.

/// A known bug for a card to suffer from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlantedBug {
    /// A launch that comes again is executed again.
    DuplicateLaunch,
    /// Writes of the owner are taken whatever their epoch.
    IgnoreEpoch,
    /// An image is accepted without a check of its digest.
    SkipDigest,
    /// The write that follows a closed gap is taken for received.
    LoseWrite,
}

impl PlantedBug {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::DuplicateLaunch, Self::IgnoreEpoch, Self::SkipDigest, Self::LoseWrite];
}
