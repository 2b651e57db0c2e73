//! Loads over a path that drops long frames: where an image went out in long ones and not one has come, it goes out
//! again in standard ones, under the second of the load's numbers.

use rackloom_node::Instant;
use rackloom_wire::BULK_STANDARD;

use super::member::State;
use super::{Chunks, Loader};
use crate::event::LoadPhase;

/// An image of fewer chunks may be lost whole by chance.
const CHUNKS_MIN: u32 = 4;

impl Loader {
    /// Whether all that the load still waits for lack all of the image, though it was sent to them in long frames.
    pub(super) fn must_shrink(&self) -> bool {
        let all = self.chunks;
        let mut waiting = self.live().filter(|m| !m.is_past(LoadPhase::Verify)).peekable();
        self.chunk > usize::from(BULK_STANDARD)
            && all >= CHUNKS_MIN
            && waiting.peek().is_some()
            && waiting.all(|m| m.answered == self.poll && m.lacks == all && (self.tour == 0 || m.was_sent_all(all)))
            && self.party().all(|m| !m.is_past(LoadPhase::Verify))
    }

    /// Begins the load anew with standard frames.
    pub(super) fn shrink(&mut self, now: Instant) {
        self.chunk = usize::from(BULK_STANDARD);
        self.chunks = u32::try_from(self.image.len().div_ceil(self.chunk)).expect("an image of at most 256 MiB");
        self.seq = self.second_seq;
        self.todo = Chunks::all(self.chunks);
        self.pass_total = self.chunks;
        for m in self.members.values_mut().filter(|m| matches!(m.state, State::Invited | State::Ready)) {
            *m = m.anew();
        }
        self.enter(now, LoadPhase::Begin);
        self.ask(now);
    }
}
