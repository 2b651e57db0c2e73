//! Why a group has not done what it was to do.

use std::fmt::Write as _;

use rackloom_collective::{Cause, Group, PATIENCE_LIVE_S, PlanError, Report};
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
    /// Buffers of this size do not fit.
    #[error("the operation needs {needs} bytes of each card's memory, and one has {has}")]
    Memory {
        /// Bytes up to the end of the buffers.
        needs: u64,
        /// Bytes of the card that has least.
        has: u64,
    },
    /// A card's program has failed.
    #[error("{card}{waits}: {why}")]
    Failed {
        /// The card.
        card: CardName,
        /// Why.
        cause: Cause,
        /// Whom it waited for, in words that follow the card's name.
        waits: String,
        /// The cause, and how far the message had come, in words.
        why: String,
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
            PlanError::Apart { from, to } => format!(" between {} and {}", cards[from], cards[to]),
            _ => String::new(),
        };
        Self::Plan { between, source }
    }

    /// Of programs that have failed, one whose failure is no other's consequence, if there is such a one.
    pub(super) fn first(cards: &[CardName], group: &Group, failed: &[(usize, Report)]) -> Option<Self> {
        let own = failed.iter().find(|(_, report)| report.cause != Some(Cause::PeerFailed));
        let (rank, report) = own.or_else(|| failed.first())?;
        let (cause, card) = (report.cause?, cards[*rank]);
        let at = |port: u8| match (0..cards.len()).find(|to| group.port(*rank, *to) == Some(port)) {
            Some(to) => format!("{} over port {port}", cards[to]),
            None => format!("somebody over port {port}"),
        };
        // The link that the cause is about; without one, all that it waited for.
        let ports: Vec<_> = match report.link {
            0 => Report::ports(report.takes | report.puts).map(at).collect(),
            link => vec![at(link)],
        };
        let waits = match ports.is_empty() {
            true => " cannot go on".to_owned(),
            false => format!(" waits for {}", ports.join(" and ")),
        };
        let mut why = match cause {
            Cause::LinkDead => format!("nothing came for {PATIENCE_LIVE_S} s"),
            cause => cause.to_string(),
        };
        if report.total > 0 {
            let _ = write!(why, " ({} of {} bytes were through)", report.moved, report.total);
        }
        Some(Self::Failed { card, cause, waits, why, report: *report })
    }
}

#[cfg(test)]
mod tests {
    use rackloom_wire::MacAddr;

    use super::*;

    #[test]
    fn an_error_says_who_waits_for_whom_over_which_port() {
        let card = |unit: u8| CardName { mac: MacAddr([2, 0, 0, 0, 0, unit]), unit: Some(unit.into()) };
        let cards = [card(0), card(1), card(2)];
        let row = |ports: [u8; 3]| ports.map(|port| (port > 0).then_some(port)).to_vec();
        let group = Group::new(vec![row([0, 1, 2]), row([1, 0, 2]), row([1, 2, 0])]);
        let says = |failed: &[(usize, Report)]| CommError::first(&cards, &group, failed).map(|e| e.to_string());
        let follows = Report { cause: Some(Cause::PeerFailed), link: 1, takes: 2, ..Report::default() };
        let dead = Report { cause: Some(Cause::LinkDead), link: 2, takes: 4, moved: 4096, total: 65536, ..follows };
        assert_eq!(
            says(&[(0, follows), (1, dead)]).unwrap(),
            "card1 (02:00:00:00:00:01) waits for card2 (02:00:00:00:00:02) over port 2: nothing came for 2 s (4096 of \
             65536 bytes were through)"
        );
        let late = Report { cause: Some(Cause::Timeout), takes: 6, ..Report::default() };
        assert_eq!(
            says(&[(0, late)]).unwrap(),
            "card0 (02:00:00:00:00:00) waits for card1 (02:00:00:00:00:01) over port 1 and card2 (02:00:00:00:00:02) \
             over port 2: its time is over"
        );
        let wrong = Report { cause: Some(Cause::BadAddress), ..Report::default() };
        assert!(says(&[(2, wrong)]).unwrap().starts_with("card2 (02:00:00:00:00:02) cannot go on: a command"));
        assert_eq!(says(&[]), None);
    }
}
