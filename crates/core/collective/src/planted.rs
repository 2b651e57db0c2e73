//! Known bugs with which tests prove that they would catch them.

/// A bug to suffer from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlantedBug {
    /// What comes is taken by any group's program that takes a message of the tag.
    WrongGroup,
    /// A message counts as taken when its first bytes have come.
    EarlyCompletion,
    /// The word that a long message may come is never sent.
    LostReady,
    /// A wait is never for what is sent.
    WeakWait,
    /// Of two signals that come before their takes the second one pushes out the first.
    LostSignal,
}
