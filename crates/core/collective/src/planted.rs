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
}
