//! How a card starts anew: its memory has failed, or its device boots.

use rackloom_node::Instant;
use rackloom_wire::AnnounceReason;

use super::{Card, Power};
use crate::bridge::Bridge;
use crate::collectives::Collectives;
use crate::guard::Guard;
use crate::launches::Launches;
use crate::loader::Loader;
use crate::memory::Memory;
use crate::results::Results;
use crate::session::Session;
use crate::{CardEvent, ReleaseReason};

impl Card {
    /// DDR has answered with an error, or not at all: of what was written or computed since, nothing is certain. So the
    /// card starts again, as the gateware's rl_restart does it: claim, role and launches are gone, and nothing waits to
    /// be said.
    pub(super) fn restart(&mut self, now: Instant) {
        self.shell.event(CardEvent::MemoryFailed);
        self.begin_anew(now);
        self.awaits_memory = !self.ddr.answers();
        self.switch_on(now, AnnounceReason::MemoryFailed);
    }

    /// The device boots from its configuration flash. A device that boots refreshes no memory, so what that holds then
    /// is not certain; here it stays, which is the worse for whoever claims the card next.
    pub(super) fn reboot(&mut self, now: Instant) {
        let Some(flash) = &mut self.flash else { return };
        flash.boot();
        let until = now + flash.boot_time();
        self.shell.event(CardEvent::Rebooted);
        self.begin_anew(now);
        self.power = Power::Booting { until };
    }

    /// Nothing is left of the life before but what is in memory and flash.
    fn begin_anew(&mut self, now: Instant) {
        self.shell.restart();
        if let Some(claim) = self.session.claim() {
            let (owner, epoch) = (claim.owner, claim.epoch);
            self.shell.event(CardEvent::Released { owner, epoch, reason: ReleaseReason::Restarted });
        }
        self.session = Session::new(&mut self.shell);
        self.guard.iter_mut().for_each(Guard::restart);
        Bridge::end_of(&mut self.bridge);
        Collectives::end_of(&mut self.collectives, now);
        self.loader = Loader::new();
        self.memory = Memory::new();
        self.launches = Launches::new();
        self.results = Results::new();
        self.role = None;
        self.zeroed_at = None;
    }
}
