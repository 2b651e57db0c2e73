//! Errors of studies.

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
    /// An option is invalid.
    #[error("invalid option `{option}`: expected {why}")]
    Option {
        /// The option.
        option: &'static str,
        /// What it must be.
        why: String,
    },
    /// A card cannot be created.
    #[error("cannot create a card")]
    Card(#[from] rackloom_card::ConfigError),
    /// An image cannot be built.
    #[error("cannot build the image")]
    Image(#[from] rackloom_rolec::RolecError),
    /// An operation failed although nothing should have disturbed it.
    #[error("an operation failed")]
    Op(#[from] OpError),
    /// Nothing more happened although something should have.
    #[error("the rack made no progress at {at:?}, waiting for {what}")]
    Stuck {
        /// What was expected to happen.
        what: &'static str,
        /// When the study gave up, virtual time.
        at: Instant,
    },
    /// What a card computed is not what the host computes.
    #[error("a result is wrong: {what}")]
    Wrong {
        /// What, and where.
        what: String,
    },
}

/// The result of a study.
pub type Result<T, E = StudyError> = std::result::Result<T, E>;
