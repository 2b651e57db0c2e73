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
    /// The driver has seen starvation since the last timeout.
    is_noted: bool,
    /// It had seen some by then: processors are short until the next timeout.
    is_short: bool,
}

impl Patience {
    /// A clock that shows zero at time zero.
    pub(crate) const fn new(step: Duration) -> Self {
        Self { step, served_at: Instant::ZERO, counted: Instant::ZERO, is_noted: false, is_short: false }
    }

    /// The host is called with a frame or a command.
    pub(crate) fn serve(&mut self, now: Instant) {
        self.count(now, false);
    }

    /// The host is called because it has asked for it. `due`: when a card needed its attention first.
    pub(crate) fn serve_timeout(&mut self, now: Instant, due: Option<Instant>) {
        // A driver says at timeouts what it has seen. Frames of other cards come in between and end no starvation.
        self.is_short = std::mem::take(&mut self.is_noted);
        self.count(now, due.is_some_and(|at| now - at > self.step / LATE));
    }

    fn count(&mut self, now: Instant, is_late: bool) {
        let gap = now - self.served_at;
        // While any card is up, a call is due within an interval of the last.
        let is_late = is_late || gap > self.step + self.step / LATE;
        let counts = gap.min(self.step);
        self.counted += if self.is_short || is_late { counts / STRETCH } else { counts };
        self.served_at = self.served_at.max(now);
    }

    /// The driver has seen nodes that wait for a processor.
    pub(crate) const fn note_starvation(&mut self) {
        self.is_noted = true;
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
            patience.serve_timeout(at(ms), Some(at(ms)));
            assert_eq!(patience.now(), at(ms));
        }
        assert_eq!(patience.reaches(at(1400)), at(1400));
        assert_eq!(patience.reaches(at(1300)), at(1300));
        assert_eq!(patience.reaches(at(1000)), at(1300), "what is over is due at once");
    }

    #[test]
    fn a_call_counts_one_interval_at_most_and_time_never_goes_back() {
        let mut patience = Patience::new(STEP);
        patience.serve(at(505));
        assert_eq!(patience.now(), at(500));
        patience.serve(at(60_505));
        let counted = at(500) + STEP / STRETCH;
        assert_eq!(patience.now(), counted);
        patience.serve(at(59_000));
        assert_eq!(patience.now(), counted);
        patience.serve(at(60_605));
        assert_eq!(patience.now(), counted + Duration::from_millis(100));
    }

    #[test]
    fn lateness_slows_it_down_for_one_call_and_starvation_until_the_next_timeout() {
        let mut patience = Patience::new(STEP);
        patience.serve_timeout(at(400), Some(at(380)));
        assert_eq!(patience.now(), at(50));
        patience.note_starvation();
        patience.serve_timeout(at(800), Some(at(800)));
        assert_eq!(patience.now(), at(100));
        patience.serve(at(1200));
        assert_eq!(patience.now(), at(150));
        patience.serve_timeout(at(1300), Some(at(1295)));
        assert_eq!(patience.now(), at(250));
        patience.serve(at(1400));
        assert_eq!(patience.now(), at(350));
    }

    #[test]
    fn a_slow_clock_arrives_in_bounded_steps_and_in_bounded_time() {
        let mut patience = Patience::new(STEP);
        let (mut now, mut calls) = (Instant::ZERO, 0);
        while patience.now() < at(2000) {
            now = patience.reaches(at(2000)).min(now + STEP);
            patience.note_starvation();
            patience.serve_timeout(now, Some(now));
            calls += 1;
        }
        assert!((at(16_000)..at(16_010)).contains(&now), "{now:?}");
        assert!(calls < 120, "{calls} calls");
    }
}
