//! Who is late in a job, and what is done about it: a tile that takes far longer on its card than tiles usually do is
//! given to another card as well, once there is nothing else to do. The first to be done counts. A card that is silent
//! or slow thus costs a job about the time of a tile.

use std::collections::BTreeMap;

use rackloom_node::{Duration, Instant};
use rackloom_wire::MacAddr;

use super::tiles::{Busy, Working};
use super::{Job, Member};

/// How many times longer than usual a tile may take before it is given to a second card.
const LATE: u32 = 2;

impl Job {
    /// When the job has to be called if no event comes before.
    pub fn next_deadline(&self) -> Option<Instant> {
        if self.ended {
            return None;
        }
        let load = self.claimed_at.map(|at| at + self.claim_grace);
        let is_free = |w: &Working| w.slots.iter().any(|s| s.busy.is_none());
        let idle: Vec<_> = self.working().filter(|(_, w)| is_free(w)).map(|(card, _)| card).collect();
        let late = self.usual().filter(|_| self.todo.is_empty() && !idle.is_empty()).and_then(|usual| {
            let others = |card| idle.iter().any(|free| *free != card);
            let late = self.alone().filter(|(card, _)| others(*card));
            late.map(|(_, busy)| busy.since + usual * LATE).min()
        });
        [load, late].into_iter().flatten().min()
    }

    /// A tile that is late on another card, and that no second card computes yet: the one that was begun first.
    pub(super) fn straggling(&self, now: Instant, card: MacAddr) -> Option<usize> {
        let usual = self.usual()?;
        let late = self.alone().filter(|(other, busy)| *other != card && busy.since + usual * LATE <= now);
        late.min_by_key(|(_, busy)| busy.since).map(|(_, busy)| busy.tile)
    }

    /// Whether some card computes this tile.
    pub(super) fn is_under_way(&self, tile: usize) -> bool {
        self.busy().any(|(_, busy)| busy.tile == tile)
    }

    /// How long a tile takes: what the middle one of the cards needed for its last.
    fn usual(&self) -> Option<Duration> {
        let mut times: Vec<_> = self.working().filter_map(|(_, w)| w.took).collect();
        times.sort_unstable();
        times.get(times.len() / 2).copied()
    }

    /// Tiles that one card alone computes, and those cards.
    fn alone(&self) -> impl Iterator<Item = (MacAddr, &Busy)> {
        let mut cards = BTreeMap::new();
        self.busy().for_each(|(_, busy)| *cards.entry(busy.tile).or_insert(0) += 1);
        self.busy().filter(move |(_, busy)| !self.finished[busy.tile] && cards[&busy.tile] == 1)
    }

    fn busy(&self) -> impl Iterator<Item = (MacAddr, &Busy)> {
        self.working().flat_map(|(card, w)| w.slots.iter().filter_map(move |s| Some((card, s.busy.as_ref()?))))
    }

    fn working(&self) -> impl Iterator<Item = (MacAddr, &Working)> {
        self.members.iter().filter_map(|(card, m)| match m {
            Member::Working(w) => Some((*card, w)),
            _ => None,
        })
    }
}
