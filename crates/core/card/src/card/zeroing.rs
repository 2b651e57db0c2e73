//! Zeroing memory: it takes its time, and whoever claims the card or gives it back waits for it. Meanwhile nobody has
//! the card, and it serves whatever needs no claim.

use rackloom_node::Instant;
use rackloom_wire::{BEAT, Counter, FLAG_ENCRYPTED, ROLE_PRIVATE};

use super::Card;
use crate::CardEvent;
use crate::shell::time_for;

impl Card {
    /// Memory has to be zeroed, for whoever has it next.
    pub(super) fn begin_zeroing(&mut self, now: Instant) {
        let took = time_for(self.ddr.len() - ROLE_PRIVATE, self.shell.config.scrub_rate);
        if took.is_zero() {
            self.scrub();
        } else {
            // What is being zeroed is nobody's, and need not be zeroed twice.
            self.zeroed_at.get_or_insert(now + took);
        }
    }

    /// Memory is zeroed when its time has come, and those who wait for that are answered.
    pub(super) fn end_zeroing(&mut self, now: Instant) {
        if self.zeroed_at.is_none_or(|at| at > now) {
            return;
        }
        self.zeroed_at = None;
        self.scrub();
        if let Some(leaver) = self.session.take_leaver() {
            self.send_released(&leaver);
        }
        self.grant_next(now);
    }

    /// Zeroes what hosts may touch. The role's own memory stays: the role goes on serving the next claim.
    fn scrub(&mut self) {
        let mut private = vec![0; usize::try_from(ROLE_PRIVATE).expect("1 MiB")];
        let Some(()) = self.shell.access(self.ddr.read(0, &mut private)) else { return };
        let Some(()) = self.shell.access(self.ddr.zero()) else { return };
        if private.iter().any(|&b| b != 0) {
            self.shell.access(self.ddr.write(0, &private));
        }
    }

    /// Whoever waits for the card gets it, if memory is not being zeroed.
    pub(super) fn grant_next(&mut self, now: Instant) {
        if self.zeroed_at.is_some() {
            return;
        }
        // While it waited its key may have been revoked.
        let next = self.session.take_next().filter(|(head, _)| self.may_own(head.src));
        let Some((head, body)) = next else { return };
        // A tag takes some of a frame's room.
        let most = self.shell.config.bulk - if self.guard.is_some() { BEAT } else { 0 };
        let claim = self.session.grant(now, &head, &body, most);
        self.begin_session(&claim, head.flags & FLAG_ENCRYPTED != 0);
        self.shell.counters.inc(Counter::Claims);
        self.shell.event(CardEvent::Claimed { owner: claim.owner, epoch: claim.epoch });
        self.tell_change();
        self.send_grant(head.seq);
    }
}
