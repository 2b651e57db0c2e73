//! Bugs on purpose. The simulation must catch each of them, or its silence proves nothing.

/// A known bug for an endpoint to suffer from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlantedBug {
    /// Requests that were in flight when the peer restarted are sent to its new life.
    AskAgain,
    /// Windows are open to everybody, whomever they are for.
    IgnorePeer,
    /// Answers that wait when the peer restarts go to its new life.
    AnswerOldLife,
    /// Credit is given back before the owner has taken the message.
    CreditAtOnce,
    /// A peer that is gone is waited for.
    NoPatience,
    /// A message that has begun goes on after the peer's restart.
    KeepPartial,
    /// A batch is written up to the first write that is refused.
    TornBatch,
    /// A peer whose message was taken has no further turn, though it has more.
    LoseTurn,
    /// A connection that begins anew has the epoch of the one that ended.
    SameEpoch,
    /// Each life of a peer may fill the inbox.
    PileUp,
}
