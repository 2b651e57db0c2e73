//! Why a group has not done what it was to do.

use std::fmt::Write as _;

use rackloom_collective::{Cause, Group, PlanError, Report};
use rackloom_host::CardName;

use crate::Error;

/// Why an operation of a group has failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommError {
    /// There is no program for it.
    #[error("cannot plan the operation{between}")]
    Plan {
        /// Between which cards, in words; empty: it is not about two of them.
        between: String,
        /// Why.
        #[source]
        source: PlanError,
    },
    /// A card does not run programs, or is lost.
    #[error("cannot run the operation on {card}: it needs a card with links")]
    Card {
        /// The card.
        card: CardName,
        /// What it said.
        #[source]
        source: Error,
    },
    /// A card's report is none.
    #[error("{card} gave a report that is none")]
    Report {
        /// The card.
        card: CardName,
    },
    /// A card's program has failed.
    #[error("the operation failed on {card}: {cause}{waits}")]
    Failed {
        /// The card.
        card: CardName,
        /// Why.
        cause: Cause,
        /// Which link that is about, and whom it waited for, in words.
        waits: String,
        /// All of the report.
        report: Report,
    },
    /// The rack, or its cards' memory.
    #[error(transparent)]
    Rack(#[from] Error),
}

impl CommError {
    pub(super) fn plan(cards: &[CardName], source: PlanError) -> Self {
        let between = match source {
            PlanError::NoLink { from, to } => format!(" between {} and {}", cards[from], cards[to]),
            _ => String::new(),
        };
        Self::Plan { between, source }
    }

    /// Of programs that have failed, one whose failure is no other's consequence, if there is such a one.
    pub(super) fn first(cards: &[CardName], group: &Group, failed: &[(usize, Report)]) -> Option<Self> {
        let own = failed.iter().find(|(_, report)| report.cause != Some(Cause::PeerFailed));
        let (rank, report) = own.or_else(|| failed.first())?;
        let at = |port: u8| match (0..cards.len()).find(|to| group.port(*rank, *to) == Some(port)) {
            Some(to) => format!("{} at link {port}", cards[to]),
            None => format!("link {port}"),
        };
        let mut waits = String::new();
        if report.link != 0 {
            let _ = write!(waits, ", {}", at(report.link));
        }
        let both = Report::ports(report.takes | report.puts).map(at).collect::<Vec<_>>();
        if !both.is_empty() {
            let _ = write!(waits, "; it waited for {}", both.join(", "));
            let _ = write!(waits, " ({} of {} bytes moved)", report.moved, report.total);
        }
        Some(Self::Failed { card: cards[*rank], cause: report.cause?, waits, report: *report })
    }
}
