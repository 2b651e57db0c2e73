//! How fast a port sends.

use std::time::{Duration, Instant as StdInstant};

use rackloom_node::{Frame, Instant};
use rackloom_transport::Pacer;

use crate::wire::RETRY;

/// A port's rate, and what it has sent at it.
#[derive(Debug)]
pub(crate) struct Pace {
    pacer: Pacer,
    start: StdInstant,
}

impl Pace {
    /// A port that sends `rate` bits a second, counted as on Ethernet.
    pub(crate) fn new(rate: u64) -> Self {
        Self { pacer: Pacer::catching_up(Some(rate), BURST, SLACK), start: StdInstant::now() }
    }

    /// How many of these frames, from the first on, may go now.
    pub(crate) fn admits(&self, now: StdInstant, frames: &[Frame]) -> usize {
        let (mut pacer, now) = (self.pacer.clone(), self.time(now));
        let may_go = |frame: &&Frame| {
            let is_open = pacer.is_open(now);
            pacer.sent(now, frame.len());
            is_open
        };
        frames.iter().take_while(may_go).count()
    }

    /// These frames go now.
    pub(crate) fn sent(&mut self, now: StdInstant, frames: &[Frame]) {
        let now = self.time(now);
        frames.iter().for_each(|frame| self.pacer.sent(now, frame.len()));
    }

    /// When the next frame may go.
    pub(crate) fn opens_at(&self) -> StdInstant {
        let at = self.pacer.opens_at().unwrap_or(Instant::ZERO);
        self.start + Duration::from_nanos(at.as_nanos())
    }

    fn time(&self, now: StdInstant) -> Instant {
        let nanos = now.saturating_duration_since(self.start).as_nanos();
        Instant::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

/// What one wake-up may send ahead of time: some eight frames at 1 Gb/s.
const BURST: Duration = Duration::from_micros(100);
/// How late whoever sends may be woken without that costing any of the rate.
const SLACK: Duration = RETRY.saturating_mul(2);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_admitted_is_the_rate() {
        let mut pace = Pace::new(1_000_000_000);
        let frames = vec![Frame::from_static(&[0; 1226]); 4000]; // 10 us each on the wire.
        let at = |micros| pace.start + Duration::from_micros(micros);
        let times = [at(10_000), at(10_000), at(11_000), at(60_000)];
        let mut went = Vec::new();
        for now in times {
            let n = pace.admits(now, &frames);
            pace.sent(now, &frames[..n]);
            went.push(n);
        }
        // The slack of 4 ms and the burst; no time has passed; a millisecond; the slack again.
        assert_eq!(went, [411, 0, 100, 411]);
        assert!(pace.opens_at() > times[3]);
        assert_eq!(pace.admits(pace.opens_at(), &frames), 1);
    }
}
