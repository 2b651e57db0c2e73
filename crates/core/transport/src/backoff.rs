//! A timer that waits longer each time, for single questions whose round trip nobody measures. Windows use the measured
//! timeout of [`Rtt`](crate::Rtt).

use rackloom_node::{Duration, Instant};

/// When to ask again for something that is not answered: the wait doubles with each attempt, up to a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    at: Instant,
    wait: Duration,
    wait_max: Duration,
}

impl Backoff {
    /// A timer for what was sent just now: due in `first`, which later doubles up to `wait_max`.
    pub fn sent(now: Instant, first: Duration, wait_max: Duration) -> Self {
        Self { at: now + first, wait: first, wait_max }
    }

    /// A timer for what has yet to be sent: due at once, and in `first` after that.
    pub fn due(now: Instant, first: Duration, wait_max: Duration) -> Self {
        Self { at: now, wait: first / 2, wait_max }
    }

    /// True when it is time to send.
    pub fn is_due(&self, now: Instant) -> bool {
        self.at <= now
    }

    /// When it is time to send.
    pub const fn deadline(&self) -> Instant {
        self.at
    }

    /// It was sent again: the wait doubles.
    pub fn resent(&mut self, now: Instant) {
        self.wait = (self.wait * 2).min(self.wait_max);
        self.at = now + self.wait;
    }

    /// Waits once more as long as last time: the peer has shown life, or the wire has not taken the frame yet.
    pub fn postpone(&mut self, now: Instant) {
        self.at = now + self.wait;
    }

    /// Makes it due now.
    pub const fn expedite(&mut self, now: Instant) {
        self.at = now;
    }

    /// The peer has made progress: starts over with the wait `first`.
    pub fn restart(&mut self, now: Instant, first: Duration) {
        self.wait = first;
        self.at = now + first;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_doubles_up_to_its_bound_and_starts_over() {
        let ms = Duration::from_millis;
        let now = Instant::ZERO;
        let mut timer = Backoff::due(now, ms(2), ms(5));
        assert!(timer.is_due(now));
        for wait in [2, 4, 5, 5] {
            timer.resent(now);
            assert_eq!(timer.deadline(), now + ms(wait));
        }
        timer.restart(now, ms(2));
        timer.postpone(now + ms(1));
        assert_eq!(timer.deadline(), now + ms(3));
        assert_eq!(Backoff::sent(now, ms(2), ms(5)).deadline(), now + ms(2));
    }
}
