//! Whom a load waits for. A card that holds the others up is left behind, and gets a tour of its own when they are
//! done: one that is silent, slow or lies costs the others a small part of the load's time, and one that only had bad
//! luck still gets the image.
//!
//! Loads for all or none have nobody to leave behind: they wait for each card.

use rackloom_node::Duration;

use super::member::{Member, State};
use super::{Commit, Loader, port_time};
use crate::event::LoadPhase;

/// The part of the time since the load's begin for which most may wait for the rest: 3 %.
const GRACE_PART: u32 = 32;
/// They wait at least so many times the shortest time after which something is sent again: two lost frames in a row
/// leave nobody behind.
const GRACE_WAITS: u32 = 3;

impl Loader {
    /// The members of this tour that have not failed.
    pub(super) fn party(&self) -> impl Iterator<Item = &Member> {
        self.members.values().filter(|m| m.tour == self.tour && !matches!(m.state, State::Failed(_)))
    }

    /// Those of them whose part is not over.
    pub(super) fn live(&self) -> impl Iterator<Item = &Member> {
        self.party().filter(|m| !m.is_over())
    }

    /// The slowest rate of the party, bits a second on the wire.
    pub(super) fn slowest(&self) -> Option<u64> {
        self.live().filter_map(|m| m.rate).min()
    }

    /// Puts off those whose stated rate would hold up the others: less than half of what is usual here, or a few that
    /// are slower than the others at all.
    pub(super) fn leave_slow(&mut self) {
        let mut rates: Vec<_> = self.party().filter_map(|m| m.rate).collect();
        rates.sort_unstable();
        let Some(&usual) = rates.get(rates.len() / 2) else { return };
        let few = rates.len() / 8;
        let slower = usual - usual / 20;
        let bound = if rates.iter().filter(|rate| **rate < slower).count() <= few { slower } else { usual / 2 };
        self.leave(|m| m.rate.is_some_and(|rate| rate < bound));
    }

    /// When half of the party is past the phase, the rest has this long. Until when, then.
    pub(super) fn watch_half(&mut self) {
        if self.half_at.is_some() || self.commit == Commit::AllOrNone {
            return;
        }
        let (past, all) = self.party().fold((0, 0), |(p, n), m| (p + usize::from(m.is_past(self.phase)), n + 1));
        let waits = matches!(self.phase, LoadPhase::Begin | LoadPhase::Verify | LoadPhase::Configure);
        if waits && 2 * past >= all && past < all {
            self.half_at = Some(self.patience);
        }
    }

    /// How much longer than half of the party the rest may take in this phase.
    pub(super) fn grace(&self) -> Duration {
        let half = self.half_at.unwrap_or(self.patience);
        let usual = ((half - self.begun_by_patience) / GRACE_PART).max(self.wait_min * GRACE_WAITS);
        match self.phase {
            // Who is late here is invited further while the image goes out.
            LoadPhase::Begin => (half - self.phase_by_patience) * 2 + self.wait_min / 4,
            LoadPhase::Configure => {
                let ports = self.live().map(|m| port_time(self.image.len(), m.config_rate));
                usual + ports.max().unwrap_or_default()
            }
            _ => usual,
        }
    }

    /// Chunks that one card may have repaired while the others wait: twice what is usual, 3 % of the image, or what is
    /// sent in the shortest time after which something is sent again.
    pub(super) fn repair_limit(&self) -> u32 {
        let mut lacks: Vec<_> = self
            .party()
            .filter(|m| m.is_past(LoadPhase::Verify) || m.answered == self.poll)
            .map(|m| if m.is_past(LoadPhase::Verify) { 0 } else { m.lacks })
            .collect();
        lacks.sort_unstable();
        let usual = lacks.get(lacks.len().saturating_sub(1) / 2).copied().unwrap_or(0);
        let total = u64::from(self.chunks);
        let sending = self.phases[LoadPhase::Send as usize].as_nanos().max(1);
        let quick = (u128::from(total) * self.wait_min.as_nanos() / sending).min(u128::from(u32::MAX)) as u64;
        u64::from(usual).saturating_mul(2).max(total / u64::from(GRACE_PART)).max(quick).min(total) as u32
    }

    /// Puts these off until the others are done, unless nobody would remain.
    pub(super) fn leave(&mut self, late: impl Fn(&Member) -> bool) {
        let is_late = |m: &Member| m.tour == self.tour && !m.is_over() && late(m);
        if self.commit == Commit::AllOrNone || self.party().all(is_late) {
            return;
        }
        let tour = self.tour;
        for m in self.members.values_mut().filter(|m| m.tour == tour && !m.is_over() && late(m)) {
            m.tour = tour + 1;
        }
    }
}
