//! Who of those that an operation has not been done by hangs, and who only waits for another.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::roster::Roster;

/// So long before its time is over whoever waits begins to watch the others; a part of its time if that is short.
const WATCH: Duration = Duration::from_millis(500);
const WATCH_PART: u32 = 2;

/// When to begin to watch, in a wait of so long at most.
pub(crate) fn watches_from(limit: Duration) -> Duration {
    limit - WATCH.min(limit / WATCH_PART)
}

/// How long each member has waited, as this one saw it.
#[derive(Debug)]
pub(crate) struct Beats(Vec<u64>);

impl Beats {
    pub(crate) fn of(roster: &Roster) -> Self {
        let beat = |rank| roster.segment.beat(roster.place, rank).load(Ordering::Acquire);
        Self((0..roster.members.len()).map(beat).collect())
    }

    /// Whom an operation waits for that this rank waits for `whom` in: `whom`, unless that waits as well; then a member
    /// that neither waits nor has done it.
    pub(crate) fn culprit(&self, roster: &Roster, whom: usize, operation: u64) -> usize {
        let now = Self::of(roster);
        let hangs = |rank: &usize| {
            let done = roster.segment.done(roster.place, *rank).load(Ordering::Acquire);
            *rank != roster.rank && done <= operation && now.0[*rank] == self.0[*rank]
        };
        std::iter::once(whom).chain(0..roster.members.len()).find(hangs).unwrap_or(whom)
    }
}
