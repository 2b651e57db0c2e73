//! How much may be in flight.

/// A congestion window, counted in numbers: cut on loss and grown by a fixed step each round trip (the congestion
/// avoidance of RFC 5681), so that senders which share a link share it fairly. The cut is to a half where all in flight
/// is given up, and to seven tenths (CUBIC's, RFC 9438) where only what is missing is: a network that loses one frame
/// in a hundred whatever the load would otherwise keep the window below what the wire takes.
///
/// Invariant: `min <= size <= limit`.
#[derive(Debug, Clone)]
pub struct Window {
    size: u32,
    limit: u32,
    acked: u32,
}

/// Smallest window, where the limit allows it: three later numbers have to arrive before one counts as lost.
const SIZE_MIN: u32 = 4;

impl Window {
    /// A window that begins at its limit, 1 or more: what fits a rack's switch needs no slow start.
    ///
    /// # Panics
    /// If `limit` is 0.
    pub const fn new(limit: u32) -> Self {
        assert!(limit > 0);
        Self { size: limit, limit, acked: 0 }
    }

    /// Numbers that may be in flight, from the oldest unacknowledged to the newest sent.
    pub const fn size(&self) -> u32 {
        self.size
    }

    /// The most that it grows to.
    pub const fn limit(&self) -> u32 {
        self.limit
    }

    /// `count` numbers have arrived and none was lost.
    pub fn grow(&mut self, count: u32) {
        self.acked += count;
        if self.acked >= self.size {
            self.acked = 0;
            // A thirty-second of the limit a round trip: from half of it back to all of it in 16 round trips.
            self.size = (self.size + (self.limit / 32).max(1)).min(self.limit);
        }
    }

    /// Something was lost, and all in flight with it, as far as the sender knows.
    pub fn shrink(&mut self) {
        self.cut(self.size / 2);
    }

    /// Something was lost, and what was sent after it has arrived.
    pub fn ease(&mut self) {
        self.cut(self.size * 7 / 10);
    }

    fn cut(&mut self, size: u32) {
        self.size = size.max(SIZE_MIN.min(self.limit));
        self.acked = 0;
    }

    /// # Panics
    /// If an invariant does not hold, which is a bug of this crate.
    pub fn check_invariants(&self) {
        assert!(self.size >= SIZE_MIN.min(self.limit));
        assert!(self.size <= self.limit);
        assert!(self.acked < self.size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loss_cuts_it_and_a_window_of_arrivals_grows_it() {
        let mut w = Window::new(256);
        w.grow(256);
        assert_eq!(w.size(), 256);
        w.shrink();
        assert_eq!(w.size(), 128);
        w.grow(127);
        assert_eq!(w.size(), 128);
        w.grow(1);
        assert_eq!(w.size(), 136);
        w.ease();
        assert_eq!(w.size(), 95);
        for _ in 0..20 {
            w.shrink();
        }
        assert_eq!(w.size(), 4);
        w.check_invariants();
    }

    #[test]
    fn a_window_of_one_stays_one() {
        let mut w = Window::new(1);
        w.shrink();
        w.grow(3);
        assert_eq!(w.size(), 1);
        w.check_invariants();
    }
}
