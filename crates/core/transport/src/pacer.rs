//! Sending frames no faster than a rate.

use rackloom_node::{Duration, Instant};

/// Bytes of Ethernet around each frame: preamble 8, check sequence 4, gap 12.
pub const WIRE_OVERHEAD: usize = 24;

/// A schedule for frames on one wire: each takes its time on the wire, and the schedule runs at most a burst ahead.
///
/// The burst is what one wake-up may send: it makes a deadline serve some ten frames instead of one. Whoever wakes late
/// has lost the time since, unless the schedule may [catch up](Self::catching_up).
#[derive(Debug, Clone)]
pub struct Pacer {
    /// Bits a second; `None`: no limit.
    rate: Option<u64>,
    burst: Duration,
    slack: Duration,
    /// When the wire has sent all that was let go, in nanoseconds times 2^10, so that rounding does not add up.
    free_at: u128,
}

/// How far ahead of time the schedule may run: some 16 full frames at 10 Gb/s, well under a switch's queue.
const BURST: Duration = Duration::from_micros(20);
const SCALE: u128 = 1 << 10;

impl Pacer {
    /// A schedule at `rate` bits a second, counted with [`WIRE_OVERHEAD`]; `None`: no limit.
    pub const fn new(rate: Option<u64>) -> Self {
        Self { rate, burst: BURST, slack: Duration::ZERO, free_at: 0 }
    }

    /// As [`new`](Self::new), for who is woken now and then only: it may be `burst` ahead of time, and so far behind
    /// as `slack` it makes up for the time in which it did not run.
    pub const fn catching_up(rate: Option<u64>, burst: Duration, slack: Duration) -> Self {
        Self { rate, burst, slack, free_at: 0 }
    }

    /// True when a frame may go now.
    pub fn is_open(&self, now: Instant) -> bool {
        self.opens_at().is_none_or(|t| t <= now)
    }

    /// When the wire has sent all that was let go.
    pub fn free_at(&self) -> Instant {
        Instant::from_nanos(u64::try_from(self.free_at / SCALE).unwrap_or(u64::MAX))
    }

    /// When the next frame may go; `None`: any time.
    pub fn opens_at(&self) -> Option<Instant> {
        self.rate?;
        Some(Instant::from_nanos(self.free_at().as_nanos().saturating_sub(self.burst.as_nanos() as u64)))
    }

    /// A frame of `frame` bytes goes now.
    pub fn sent(&mut self, now: Instant, frame: usize) {
        let Some(rate) = self.rate else { return };
        let bits = (frame + WIRE_OVERHEAD) as u128 * 8;
        let from = now.as_nanos().saturating_sub(self.slack.as_nanos() as u64);
        let start = self.free_at.max(u128::from(from) * SCALE);
        self.free_at = start + bits * 1_000_000_000 * SCALE / u128::from(rate.max(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_wakes_late_catches_up_within_the_slack() {
        let millis = |n: u64| Instant::from_nanos(n * 1_000_000);
        let mut pacer = Pacer::catching_up(Some(8_000_000_000), Duration::from_micros(10), Duration::from_millis(2));
        let mut sent = |now| {
            let frames = core::iter::from_fn(|| pacer.is_open(now).then(|| pacer.sent(now, 976))).count();
            frames as u64 * 1000
        };
        // A gigabyte a second: a million bytes for each millisecond that has passed, two million at most.
        sent(millis(10));
        assert_eq!(sent(millis(11)), 1_000_000);
        assert_eq!(sent(millis(13)), 2_000_000);
        assert_eq!(sent(millis(19)), 2_011_000, "and a burst");
        assert_eq!(sent(millis(19)), 0);
    }

    #[test]
    fn keeps_the_rate_over_a_million_frames() {
        let mut pacer = Pacer::new(Some(10_000_000_000));
        let mut now = Instant::ZERO;
        for _ in 0..1_000_000 {
            if !pacer.is_open(now) {
                now = pacer.opens_at().unwrap();
            }
            pacer.sent(now, 1504);
        }
        // 1528 bytes on the wire take 1222.4 ns.
        let end = now + BURST;
        assert!((end.as_secs_f64() - 1.2224).abs() < 1e-5, "{end:?}");
    }
}
