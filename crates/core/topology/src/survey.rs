//! All that is to be known of an arrangement.

use crate::bound::bound;
use crate::check::{Checked, ScheduleError, check};
use crate::family::{Family, FamilyError};
use crate::graph::Graph;
use crate::schedule::{Order, Schedule};

/// An arrangement, a schedule in which each card sends a block to each other, and what was proven of it.
#[derive(Debug)]
pub struct Survey {
    /// Its name.
    pub family: Family,
    /// Its cards and links.
    pub graph: Graph,
    /// The schedule.
    pub schedule: Schedule,
    /// What the checker found of it.
    pub checked: Checked,
    /// Slots that any schedule needs at least, whatever its paths.
    pub bound: f64,
}

/// Why there is no survey.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SurveyError {
    /// There is no such arrangement.
    #[error(transparent)]
    Family(#[from] FamilyError),
    /// The schedule does not hold, which is a bug of this crate.
    #[error("the schedule is wrong")]
    Schedule(#[from] ScheduleError),
}

impl Survey {
    /// Makes an arrangement and its schedule, and checks that.
    ///
    /// # Errors
    /// See [`SurveyError`].
    pub fn new(family: &Family, order: Order) -> Result<Self, SurveyError> {
        let graph = family.graph()?;
        let paths = family.paths(&graph)?;
        let bound = bound(&graph, &paths);
        let schedule = Schedule::new(&graph, paths, order);
        let checked = check(&graph, &schedule)?;
        Ok(Self { family: family.clone(), graph, schedule, checked, bound })
    }

    /// Links that a card's blocks fill, on average over the schedule: each card has `cards - 1` blocks for others, and
    /// of its links so many carry one in each slot, as if there were no others' blocks to pass on.
    pub fn rate(&self) -> f64 {
        self.graph.cards().saturating_sub(1) as f64 / self.checked.slots.max(1) as f64
    }

    /// The same if each link were always full: links of a card by the mean path.
    pub fn full_rate(&self) -> f64 {
        let mean = self.schedule.paths().mean();
        self.graph.links() as f64 / self.graph.cards() as f64 / if mean > 0.0 { mean } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn survey(text: &str) -> Survey {
        Survey::new(&text.parse().unwrap(), Order::ByLink).unwrap()
    }

    #[test]
    fn a_grid_of_one_size_is_full_and_another_is_not() {
        let square = survey("hyperx:5x5");
        assert_eq!(square.checked.slots, 5);
        assert!((square.rate() - square.full_rate()).abs() < 1e-9);
        let paper = survey("hyperx:8x4");
        assert_eq!((paper.checked.slots, paper.bound), (8, 8.0));
        assert!(paper.rate() < 0.75 * paper.full_rate(), "the shorter side holds all up");
    }

    #[test]
    fn one_card_has_nothing_to_do() {
        let one = survey("hyperx:1");
        assert_eq!((one.checked.slots, one.checked.kept, one.schedule.is_empty()), (0, 0, true));
        assert!(one.rate().abs() < 1e-9 && one.full_rate().abs() < 1e-9);
    }
}
