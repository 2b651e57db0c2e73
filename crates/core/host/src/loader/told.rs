//! What a load tells whoever waits for it: how far it is, and how it went.

use rackloom_node::Instant;
use rackloom_wire::MacAddr;

use super::Loader;
use super::member::{Member, State};
use crate::error::OpError;
use crate::event::{LoadPhase, LoadReport};

impl Loader {
    /// Image chunks sent in this pass, and in all of it; of a phase in which cards work, those that are past it, and
    /// all.
    pub(crate) fn progress(&self) -> (LoadPhase, u32, u32) {
        if matches!(self.phase, LoadPhase::Verify | LoadPhase::Configure) {
            let past = self.members.values().filter(|m| m.is_past(self.phase)).count();
            return (self.phase, past as u32, self.members.len() as u32);
        }
        // Between passes the reports of the next one come in.
        let sending = matches!(self.phase, LoadPhase::Send | LoadPhase::Repair);
        let left = if sending { self.todo.left } else { 0 };
        (self.phase, self.pass_total - left, self.pass_total)
    }

    pub(crate) fn report(mut self, now: Instant) -> LoadReport {
        self.enter(now, self.phase);
        let waited = self.phases.iter().sum();
        let times = self.members.iter().filter_map(|(mac, m)| Some((*mac, m.took?))).collect();
        let card = |(mac, m): (MacAddr, Member)| match m.state {
            State::Active => (mac, Ok(())),
            State::Written(restart) => (mac, Err(OpError::AwaitsRestart { card: m.name, restart })),
            State::Failed(why) => (mac, Err(why)),
            _ => (mac, Err(OpError::Deadline { card: m.name, waited, seen: None })),
        };
        LoadReport {
            cards: self.members.into_iter().map(card).collect(),
            times,
            image_bytes: self.image.len() as u64,
            data_frames: self.data_frames,
            repair_frames: self.repair_frames,
            wire_bytes: self.wire_bytes,
            phases: self.phases,
        }
    }
}
