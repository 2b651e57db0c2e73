//! The receiving side of a window: what has arrived, and when to say so.

use rackloom_node::{Duration, Instant};

use crate::sack::{Arrival, Sack};

/// Tells new numbers from repeated ones, and decides when to acknowledge.
///
/// Payloads are taken in any order, each once; no number waits for another. A number in order is acknowledged after a
/// count or a delay; one out of order, repeated or beyond the window at once, so that the sender learns of losses and
/// of lost acknowledgements.
///
/// Invariant: numbers are unacknowledged only while an acknowledgement is due at some time.
#[derive(Debug)]
pub struct Receiver {
    sack: Sack,
    window: u32,
    /// Numbers that have arrived since the last acknowledgement.
    unacked: u32,
    ack_at: Option<Instant>,
    #[cfg(feature = "planted-bugs")]
    planted: Option<crate::PlantedBug>,
}

/// When numbers that arrive in order are acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AckPolicy {
    /// After this many at the latest.
    pub every: u32,
    /// After this time at the latest.
    pub delay: Duration,
}

impl AckPolicy {
    /// At once: the sender waits for it.
    pub const AT_ONCE: Self = Self { every: 1, delay: Duration::ZERO };
}

impl Receiver {
    /// Nothing has arrived; `first` is the first number to come, `window` the numbers taken beyond the first missing
    /// one: as many as the sender has in flight, or more; 0 to take only that one.
    ///
    /// # Panics
    /// If `window` is more than 256, the numbers that a [`Sack`] can tell of.
    pub const fn new(first: u32, window: u32) -> Self {
        assert!(window <= Sack::BITS);
        Self {
            sack: Sack::new(first),
            window,
            unacked: 0,
            ack_at: None,
            #[cfg(feature = "planted-bugs")]
            planted: None,
        }
    }

    /// Makes it suffer from a bug.
    #[cfg(feature = "planted-bugs")]
    pub const fn plant(&mut self, bug: crate::PlantedBug) {
        self.planted = Some(bug);
    }

    /// What has arrived.
    pub const fn sack(&self) -> &Sack {
        &self.sack
    }

    /// A number has arrived. The caller takes the payload if it is [`Arrival::New`], and drops it otherwise.
    pub fn handle(&mut self, now: Instant, seq: u32, policy: AckPolicy) -> Arrival {
        let ahead = seq.wrapping_sub(self.sack.next());
        #[cfg(feature = "planted-bugs")]
        let closes_gap = ahead == 0 && !self.sack.is_contiguous();
        let arrival = if ahead > self.window && ahead < 1 << 31 { Arrival::Beyond } else { self.sack.insert(seq) };
        if arrival == Arrival::Beyond {
            // It tells a sender that has lost count where the window is.
            self.ack_at = Some(now);
            return arrival;
        }
        #[cfg(feature = "planted-bugs")]
        if closes_gap && self.planted == Some(crate::PlantedBug::ShiftSack) {
            self.sack.insert(self.sack.next().wrapping_add(1));
        }
        self.unacked = self.unacked.saturating_add(1);
        let at_once = ahead != 0 || self.unacked >= policy.every;
        let due = if at_once { now } else { now + policy.delay };
        self.ack_at = Some(self.ack_at.map_or(due, |at| at.min(due)));
        #[cfg(feature = "planted-bugs")]
        if arrival == Arrival::Duplicate
            && self.planted == Some(crate::PlantedBug::DeliverDuplicate)
            && seq.wrapping_add(1) == self.sack.next()
        {
            return Arrival::New;
        }
        arrival
    }

    /// A number has arrived whose acknowledgement is the caller's care.
    pub(crate) const fn note(&mut self, seq: u32) -> Arrival {
        self.sack.insert(seq)
    }

    /// Makes an acknowledgement due now: the peer asks for one, or has something else to learn from it.
    pub const fn expedite(&mut self, now: Instant) {
        self.ack_at = Some(now);
    }

    /// The acknowledgement to send now, if one is due. [`sent_ack`](Self::sent_ack) is for those that go unasked.
    pub fn poll_ack(&mut self, now: Instant) -> Option<Sack> {
        self.ack_at.filter(|at| *at <= now)?;
        self.sent_ack();
        Some(self.sack)
    }

    /// An acknowledgement went out, with other things: none is due now.
    pub const fn sent_ack(&mut self) {
        self.unacked = 0;
        self.ack_at = None;
    }

    /// When [`poll_ack`](Self::poll_ack) will have something.
    pub const fn deadline(&self) -> Option<Instant> {
        self.ack_at
    }

    /// # Panics
    /// If an invariant does not hold, which is a bug of this crate.
    pub fn check_invariants(&self) {
        assert!(self.unacked == 0 || self.ack_at.is_some());
        assert!(self.sack.end().wrapping_sub(self.sack.next()) <= self.window + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: AckPolicy = AckPolicy { every: 3, delay: Duration::from_micros(20) };
    const NOW: Instant = Instant::ZERO;

    #[test]
    fn in_order_it_waits_for_the_count_or_the_delay() {
        let mut r = Receiver::new(1, 256);
        assert_eq!(r.handle(NOW, 1, POLICY), Arrival::New);
        assert_eq!(r.deadline(), Some(NOW + POLICY.delay));
        assert_eq!(r.poll_ack(NOW), None);
        r.handle(NOW, 2, POLICY);
        r.handle(NOW, 3, POLICY);
        assert_eq!(r.poll_ack(NOW).map(|s| s.next()), Some(4));
        assert_eq!((r.poll_ack(NOW), r.deadline()), (None, None));
        r.handle(NOW, 4, AckPolicy::AT_ONCE);
        assert_eq!(r.poll_ack(NOW).map(|s| s.next()), Some(5));
        r.check_invariants();
    }

    #[test]
    fn whatever_is_odd_is_acknowledged_at_once() {
        let mut r = Receiver::new(u32::MAX, 10);
        for (seq, arrival) in [
            (0, Arrival::New),
            (0, Arrival::Duplicate),
            (9, Arrival::New),
            (10, Arrival::Beyond),
            (u32::MAX - 1, Arrival::Duplicate),
        ] {
            assert_eq!(r.handle(NOW, seq, POLICY), arrival, "{seq}");
            assert!(r.poll_ack(NOW).is_some(), "{seq}");
            r.check_invariants();
        }
        assert_eq!(r.sack().next(), u32::MAX);
    }
}
