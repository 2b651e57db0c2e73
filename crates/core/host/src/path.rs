//! Whether frames longer than standard ones get through to a card and back.
//!
//! Host and card know what their own interfaces take, and the claim tells each of the other. What switches between them
//! take nobody says: a frame that is too long for one is dropped in silence. So a claim whose long frames are never
//! answered though short ones are is given up, by name, and the next one keeps to standard frames.

use rackloom_node::{Duration, Instant};
use rackloom_wire::BULK_STANDARD;

/// One claim's evidence.
#[derive(Debug)]
pub(crate) struct Path {
    up: Way,
    down: Way,
}

/// The evidence of one direction.
#[derive(Debug, Default)]
struct Way {
    /// A long frame has come through.
    is_proven: bool,
    /// Since when long frames are on the way, by the clock of the host's patience.
    since: Option<Instant>,
    /// Frames heard from the card since then.
    heard: u32,
}

/// How long the first long frames may be on the way: they have been sent some six times then.
const WAIT: Duration = Duration::from_secs(2);
/// Short frames that must have come meanwhile, so that it is not the card that is away.
const HEARD: u32 = 3;

impl Path {
    /// Of a claim whose frames have at most so many bytes of payload.
    pub(crate) fn new(bulk: u16) -> Self {
        let way = || Way { is_proven: bulk <= BULK_STANDARD, ..Way::default() };
        Self { up: way(), down: way() }
    }

    /// A frame of the card has come, with so many bytes of payload.
    pub(crate) const fn hear(&mut self, payload: usize) {
        self.up.heard = self.up.heard.saturating_add(1);
        self.down.heard = self.down.heard.saturating_add(1);
        if payload > BULK_STANDARD as usize {
            self.down.is_proven = true;
        }
    }

    /// The card has acknowledged a long frame.
    pub(crate) const fn prove_up(&mut self) {
        self.up.is_proven = true;
    }

    /// Whether the path must be taken for one that drops long frames. `up`, `down`: whether such are on the way.
    pub(crate) fn is_blocked(&mut self, now: Instant, up: bool, down: bool) -> bool {
        self.up.is_blocked(now, up) | self.down.is_blocked(now, down)
    }
}

impl Way {
    fn is_blocked(&mut self, now: Instant, waits: bool) -> bool {
        if self.is_proven || !waits {
            self.since = None;
            return false;
        }
        let Some(since) = self.since else {
            (self.since, self.heard) = (Some(now), 0);
            return false;
        };
        now - since >= WAIT && self.heard >= HEARD
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rackloom_wire::BULK_JUMBO;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn a_path_is_blocked_when_only_short_frames_pass_for_two_seconds() {
        let mut path = Path::new(BULK_JUMBO);
        assert!(!path.is_blocked(at(0), true, false));
        (0..3).for_each(|_| path.hear(16));
        assert!(!path.is_blocked(at(1999), true, false));
        assert!(path.is_blocked(at(2000), true, false));
    }

    #[test]
    fn silence_idleness_and_one_long_frame_prove_it_open() {
        // A card that says nothing is away.
        let mut path = Path::new(BULK_JUMBO);
        path.is_blocked(at(0), false, true);
        path.hear(16);
        assert!(!path.is_blocked(at(9000), false, true));
        // What was answered meanwhile does not count against the next.
        path.is_blocked(at(9001), false, false);
        (0..9).for_each(|_| path.hear(16));
        assert!(!path.is_blocked(at(9002), false, true));
        assert!(!path.is_blocked(at(11_001), false, true));
        let mut proven = Path::new(BULK_JUMBO);
        proven.is_blocked(at(0), true, true);
        (0..9).for_each(|_| proven.hear(8960));
        proven.prove_up();
        assert!(!proven.is_blocked(at(9000), true, true));
        // Standard frames pass everywhere.
        let mut standard = Path::new(BULK_STANDARD);
        standard.is_blocked(at(0), true, true);
        (0..9).for_each(|_| standard.hear(16));
        assert!(!standard.is_blocked(at(9000), true, true));
    }
}
