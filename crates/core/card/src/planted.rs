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
    /// A card with a key takes frames whatever their tag, and without one.
    IgnoreTag,
    /// A card with a key does not encrypt, whoever asks.
    NeverEncrypt,
    /// A host whose key is revoked keeps the claim that it has.
    KeepRevoked,
    /// A key that is revoked counts as before.
    ServeRevoked,
    /// A card that is given other keys no longer knows which claims it has taken under those that it had.
    ForgetClaims,
    /// A card with signers runs any image.
    SkipSignature,
    /// What has run makes nothing older.
    ForgetVersion,
}

impl PlantedBug {
    /// Those that a card without a key or signers may suffer from.
    pub const ALL: [Self; 4] = [Self::DuplicateLaunch, Self::IgnoreEpoch, Self::SkipDigest, Self::LoseWrite];
}
