//! What the registry answers when an attendant asks before it reconfigures a board.

use std::time::Duration;

/// The registry's answer to a reconfiguration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Load it, then report.
    Granted {
        /// How long that is good; `None` if the registry does not say.
        good: Option<Duration>,
    },
    /// It is configured already, as far as the registry knows.
    Unneeded,
    /// Others are on their way to other boards: ask again after this time.
    Wait {
        /// When to ask again.
        retry: Duration,
        /// What to wait for, for people.
        reason: String,
    },
    /// No, with the reason for people.
    Refused(String),
}

/// The registry gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unanswered(pub String);
