//! How much of the time that passes counts when a host waits for a card.
//!
//! Silence is evidence only if the card was asked, could answer, and the answer could be read. A host that was not
//! served itself (its thread did not run, or its driver was busy sending) has neither asked nor read. So a host waits
//! by a clock of its own, which differs from time in two ways only:
//!
//! - **Between two calls it goes on by one ping interval at most.** However late the host is served, it has then asked
//!   at least as many times, and waited as long for each answer, as if it had been in time.
//! - **While processors are short it goes slower, by [`STRETCH`].** They are short when the host is served late itself,
//!   or when its driver has seen that other nodes of the machine leave frames unread.
//!
//! Nothing that a card sends makes it go slower; a card keeps its claim on being alive only by answering. On an idle
//! machine it shows time itself: a dead card is found after exactly `Config::silence`. Under load that takes at most
//! [`STRETCH`] times as long, besides the time in which the host did not run.

use rackloom_node::{Duration, Instant};

/// The clock by which silence, stalled loads and unanswered requests are measured.
#[derive(Debug)]
pub(crate) struct Patience {
    /// Most that one call may count: the ping interval.
    step: Duration,
    /// When the host was last called.
    served_at: Instant,
    /// What the clock showed then.
    counted: Instant,
    /// Processors were short since then.
    is_short: bool,
}

impl Patience {
    /// A clock that shows zero at time zero.
    pub(crate) const fn new(step: Duration) -> Self {
        Self { step, served_at: Instant::ZERO, counted: Instant::ZERO, is_short: false }
    }

    /// The host is called. `due`: when it should have been, if it had asked for a call.
    pub(crate) fn serve(&mut self, now: Instant, due: Option<Instant>) {
        let (gap, slack) = (now - self.served_at, self.step / LATE);
        // While any card is up, a call is due within an interval of the last.
        let is_late = due.is_some_and(|at| now - at > slack) || gap > self.step + slack;
        let counts = gap.min(self.step);
        self.counted += if self.is_short || is_late { counts / STRETCH } else { counts };
        self.served_at = self.served_at.max(now);
        self.is_short = false;
    }

    /// The driver has seen nodes that wait for a processor.
    pub(crate) const fn note_starvation(&mut self) {
        self.is_short = true;
    }

    /// What the clock showed at the last call.
    pub(crate) const fn now(&self) -> Instant {
        self.counted
    }

    /// When it can show `at` at the earliest.
    pub(crate) fn reaches(&self, at: Instant) -> Instant {
        let left = at - self.counted;
        // A slow clock comes close to its aim by ever smaller steps: the last of them are taken at once.
        self.served_at + if left.is_zero() { left } else { left.max(self.step / SHORTEST) }
    }
}

/// How much slower the clock goes while processors are short: a live host gives a card up after 16 s then, not 2 s.
const STRETCH: u32 = 8;

/// A call that comes later than this part of a ping interval (10 ms when live) is late: a free processor serves a
/// timer within a fraction of a millisecond.
const LATE: u32 = 50;

/// The shortest wait is this part of a ping interval: 0.5 ms when live.
const SHORTEST: u32 = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: Duration = Duration::from_millis(500);

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn it_shows_time_while_the_host_is_served_in_time() {
        let mut patience = Patience::new(STEP);
        for ms in [1, 2, 300, 800, 800, 1300] {
            patience.serve(at(ms), Some(at(ms)));
            assert_eq!(patience.now(), at(ms));
        }
        assert_eq!(patience.reaches(at(1400)), at(1400));
        assert_eq!(patience.reaches(at(1300)), at(1300));
        assert_eq!(patience.reaches(at(1000)), at(1300), "what is over is due at once");
    }

    #[test]
    fn a_call_counts_one_interval_at_most_and_time_never_goes_back() {
        let mut patience = Patience::new(STEP);
        patience.serve(at(505), None);
        assert_eq!(patience.now(), at(500));
        patience.serve(at(60_505), None);
        let counted = at(500) + STEP / STRETCH;
        assert_eq!(patience.now(), counted);
        patience.serve(at(59_000), None);
        assert_eq!(patience.now(), counted);
        patience.serve(at(60_605), None);
        assert_eq!(patience.now(), counted + Duration::from_millis(100));
    }

    #[test]
    fn lateness_and_starving_neighbours_slow_it_down_for_one_call() {
        let mut patience = Patience::new(STEP);
        patience.serve(at(400), Some(at(380)));
        assert_eq!(patience.now(), at(50));
        patience.note_starvation();
        patience.serve(at(800), Some(at(800)));
        assert_eq!(patience.now(), at(100));
        patience.serve(at(900), Some(at(895)));
        assert_eq!(patience.now(), at(200));
    }

    #[test]
    fn a_slow_clock_arrives_in_bounded_steps_and_in_bounded_time() {
        let mut patience = Patience::new(STEP);
        let (mut now, mut calls) = (Instant::ZERO, 0);
        while patience.now() < at(2000) {
            now = patience.reaches(at(2000)).min(now + STEP);
            patience.note_starvation();
            patience.serve(now, Some(now));
            calls += 1;
        }
        assert!((at(16_000)..at(16_010)).contains(&now), "{now:?}");
        assert!(calls < 120, "{calls} calls");
    }
}
