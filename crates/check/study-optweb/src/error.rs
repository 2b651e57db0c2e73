//! Errors of studies.

use rackloom_collective::PlanError;
use rackloom_topology::SurveyError;

use crate::event::NotRun;

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
    /// An operation has no plan.
    #[error("cannot plan {operation} on {ranks} ranks")]
    Plan {
        /// The operation.
        operation: &'static str,
        /// Ranks of the group.
        ranks: usize,
        /// The reason.
        source: PlanError,
    },
    /// A plan's programs do not end.
    #[error("cannot time a plan")]
    Timing(#[from] NotRun),
    /// A row that no bench has measured.
    #[error("there are no cycles of gateware for `{row}`")]
    Unmeasured {
        /// Operation, ranks and bytes.
        row: String,
    },
    /// An arrangement has no schedule.
    #[error("cannot survey {family}")]
    Survey {
        /// The arrangement.
        family: String,
        /// The reason.
        source: SurveyError,
    },
}

/// The result of a study.
pub type Result<T, E = StudyError> = std::result::Result<T, E>;
