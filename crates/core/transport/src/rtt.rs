//! How long to wait for an answer: RFC 6298's retransmission timeout. It paces windows ([`Sender`](crate::Sender),
//! [`Requests`](crate::Requests)), whose round trips are measured; single questions use [`Backoff`](crate::Backoff).

use rackloom_node::Duration;

/// Round-trip time estimate and retransmission timeout after RFC 6298: one for each path, shared by all that use it.
#[derive(Debug, Clone)]
pub struct Rtt {
    smoothed: Option<Duration>,
    variation: Duration,
    backoff: u32,
    min: Duration,
    max: Duration,
}

impl Rtt {
    /// No estimate yet; timeouts stay between `min` and `max`.
    pub const fn new(min: Duration, max: Duration) -> Self {
        Self { smoothed: None, variation: Duration::ZERO, backoff: 0, min, max }
    }

    /// Takes a measured round trip of something that was sent once only (Karn's rule), and ends the back-off.
    pub fn sample(&mut self, rtt: Duration) {
        self.backoff = 0;
        match self.smoothed {
            None => {
                self.smoothed = Some(rtt);
                self.variation = rtt / 2;
            }
            Some(s) => {
                self.variation = (self.variation * 3 + s.abs_diff(rtt)) / 4;
                self.smoothed = Some((s * 7 + rtt) / 8);
            }
        }
    }

    /// Nothing came in time: doubles the timeout.
    pub const fn back_off(&mut self) {
        if self.backoff < 16 {
            self.backoff += 1;
        }
    }

    /// Something came that is no sample: ends the back-off.
    pub const fn progress(&mut self) {
        self.backoff = 0;
    }

    /// The smoothed round trip, or the shortest timeout before the first sample.
    pub fn smoothed(&self) -> Duration {
        self.smoothed.unwrap_or(self.min)
    }

    /// How long something that was sent again may be on its way before word of its loss is believed: a smoothed round
    /// trip, or a quarter of the timeout where that is fixed (`min == max`), since gateware does without an estimate.
    pub fn patience(&self) -> Duration {
        if self.min == self.max { self.min / 4 } else { self.smoothed() }
    }

    /// The time to wait for an answer before sending again.
    pub fn timeout(&self) -> Duration {
        let base = self.smoothed.map_or(self.min * 2, |s| s + self.variation * 4).max(self.min);
        base.saturating_mul(1 << self.backoff).min(self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_samples_and_doubles() {
        let ms = Duration::from_millis;
        let mut rtt = Rtt::new(ms(1), ms(100));
        assert_eq!(rtt.timeout(), ms(2));
        rtt.sample(ms(10));
        assert_eq!(rtt.timeout(), ms(30));
        for _ in 0..50 {
            rtt.sample(ms(10));
        }
        assert!(rtt.timeout() < ms(11), "{:?}", rtt.timeout());
        rtt.back_off();
        rtt.back_off();
        assert!(rtt.timeout() >= ms(40));
        for _ in 0..99 {
            rtt.back_off();
        }
        assert_eq!(rtt.timeout(), ms(100));
        rtt.progress();
        assert!(rtt.timeout() < ms(11));
    }

    #[test]
    fn a_fixed_timeout_takes_no_notice_of_samples() {
        let ms = Duration::from_millis;
        let mut rtt = Rtt::new(ms(8), ms(8));
        for sample in [1, 100] {
            assert_eq!((rtt.timeout(), rtt.patience()), (ms(8), ms(2)));
            rtt.back_off();
            assert_eq!(rtt.timeout(), ms(8));
            rtt.sample(ms(sample));
        }
        let mut measured = Rtt::new(ms(8), ms(9));
        measured.sample(ms(1));
        assert_eq!(measured.patience(), ms(1));
    }
}
