//! Why a study cannot be finished.

use rackloom_host::OpError;
use rackloom_node::Instant;

/// Why a study cannot be finished. None of these is a result: a claim that does not hold is reported, not an error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// No such study.
    #[error("there is no study `{name}`; there are {}", crate::names::NAMES.join(", "))]
    Unknown {
        /// What was asked for.
        name: String,
    },
    /// An option makes no sense.
    #[error("the option `{option}` is out of its range: {why}")]
    Option {
        /// Which.
        option: &'static str,
        /// What it must be.
        why: String,
    },
    /// A card cannot be made.
    #[error("a card cannot be made")]
    Card(#[from] rackloom_card::ConfigError),
    /// An image cannot be built.
    #[error("the image cannot be built")]
    Image(#[from] rackloom_rolec::RolecError),
    /// An operation failed that nothing should have disturbed.
    #[error("an operation failed")]
    Op(#[from] OpError),
    /// Nothing more happened though something should have.
    #[error("the rack stood still at {at:?} while waiting for {what}")]
    Stuck {
        /// What was awaited.
        what: &'static str,
        /// When patience ended, virtual time.
        at: Instant,
    },
    /// What a card computed is not what the host computes.
    #[error("a result is wrong: {what}")]
    Wrong {
        /// What, and where.
        what: String,
    },
}

/// What studies return.
pub type Result<T, E = StudyError> = std::result::Result<T, E>;
