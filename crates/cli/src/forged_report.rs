//! The report of frames that posed as somebody else's, in results and in errors.

use schemars::JsonSchema;
use serde::Serialize;

/// Frames that were dropped while a command ran because they cannot be from whom they say, or not as they came.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub(crate) struct ForgedReport {
    /// Dropped by this host: in a card's name, and without a tag.
    pub(crate) untagged: u64,
    /// The same with a wrong tag.
    pub(crate) wrong: u64,
    /// The same with a counter that had come before.
    pub(crate) replayed: u64,
    /// What each card has dropped, as it says itself. Cards that did not say are left out.
    pub(crate) cards: Vec<ForgedAtCard>,
}

/// What a card has dropped while a command ran.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct ForgedAtCard {
    /// What commands call it.
    pub(crate) name: String,
    /// Frames without a tag that must have one.
    pub(crate) untagged: u64,
    /// Frames from hosts that the card has no key or no claim of.
    pub(crate) unknown: u64,
    /// Frames with a wrong tag.
    pub(crate) wrong: u64,
    /// Frames that had come before.
    pub(crate) replayed: u64,
    /// Frames that were cut short.
    pub(crate) truncated: u64,
    /// Frames of a kind that is unknown, or that only cards send.
    pub(crate) kind: u64,
}
