//! Errors of studies.

use rackloom_bridge::{Failure, NotTaken};
use rackloom_host::OpError;
use rackloom_node::Instant;

/// Why a study cannot be finished. None of these is a result: a claim that does not hold is reported, not an error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// No such study.
    #[error("unknown study `{name}`: expected one of {}", crate::names::NAMES.join(", "))]
    Unknown {
        /// The unknown name.
        name: String,
    },
    /// A card cannot be created.
    #[error("cannot create a card")]
    Card(#[from] rackloom_card::ConfigError),
    /// An operation of the cards' owner failed although nothing should have disturbed it.
    #[error("an operation failed")]
    Op(#[from] OpError),
    /// A request to another node failed.
    #[error("a request failed")]
    Request(#[from] Failure),
    /// A request could not begin.
    #[error("a request could not begin")]
    NotTaken(#[from] NotTaken),
    /// Nothing more happened although something should have.
    #[error("no progress at {at:?}, waiting for {what}")]
    Stuck {
        /// What was expected to happen.
        what: &'static str,
        /// When the study gave up, virtual time.
        at: Instant,
    },
    /// Something came out other than it must.
    #[error("a result is wrong: {what}")]
    Wrong {
        /// What, and where.
        what: String,
    },
}

/// The result of a study.
pub type Result<T, E = StudyError> = std::result::Result<T, E>;

/// An error if `holds` is false: `what` says what is wrong.
pub(crate) fn check(holds: bool, what: impl FnOnce() -> String) -> Result<()> {
    if holds { Ok(()) } else { Err(StudyError::Wrong { what: what() }) }
}
