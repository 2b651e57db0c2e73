//! A bug on purpose. The simulator must catch it, or its silence proves nothing.

/// A known bug for a host to suffer from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlantedBug {
    /// A host with keys takes frames in a card's name whatever their tag, and without one.
    IgnoreTag,
    /// A host that encrypts goes on without that if a card does not.
    GoOnInClear,
}
