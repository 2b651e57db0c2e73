//! Sending a run of numbers whose payloads the caller can make again.

use core::ops::Range;

use rackloom_node::{Duration, Instant};

use crate::backoff::Backoff;
use crate::credit::Credit;
use crate::peer_error::PeerError;
use crate::sack::Sack;

/// Sends the numbers `0..count`, as far as the peer's credit goes, and again what the peer lacks. It keeps no payload
/// and no time for each number: its size does not depend on the window, as suits data that stays in memory and
/// gateware.
///
/// Numbers below the highest that has arrived are resent once, at once; all that is unacknowledged is resent when the
/// timer fires, which backs off.
///
/// Invariants: `acked.next() <= count`, `sent <= count`, `credit <= count`; what is to be resent was sent before.
#[derive(Debug)]
pub struct RunSender {
    count: u32,
    acked: Sack,
    credit: Credit,
    /// Numbers below this have been sent.
    sent: u32,
    /// Numbers to send again, as far as the peer lacks them.
    resend: Range<u32>,
    /// Numbers below this have been resent since the timer last fired, because later ones had arrived.
    mended: u32,
    timer: Backoff,
    patience: Duration,
}

/// What the timer found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expiry {
    /// It has not fired.
    Early,
    /// Numbers are unacknowledged and will be resent.
    Resend,
    /// Nothing is unacknowledged: the peer has all, or gives no credit.
    Blocked,
}

impl RunSender {
    /// Nothing is sent. The peer takes the numbers below `credit`; the timer fires `patience` after the last frame, and
    /// backs off up to `patience_max`.
    ///
    /// # Panics
    /// If `count` is 2^31 or more.
    pub fn new(now: Instant, count: u32, credit: u32, patience: Duration, patience_max: Duration) -> Self {
        assert!(count < 1 << 31);
        Self {
            count,
            acked: Sack::new(0),
            credit: Credit::new(credit.min(count)),
            sent: 0,
            resend: 0..0,
            mended: 0,
            timer: Backoff::sent(now, patience, patience_max),
            patience,
        }
    }

    /// True when the peer has all numbers.
    pub const fn is_done(&self) -> bool {
        self.acked.next() == self.count
    }

    /// The peer has the numbers of `sack`, and takes those below `limit`.
    ///
    /// # Errors
    /// [`PeerError::AckBeyondSent`] if it has numbers that the run does not have; nothing changes then.
    pub fn handle_ack(&mut self, now: Instant, sack: Sack, limit: u32) -> Result<(), PeerError> {
        let next = sack.next();
        if next > self.count {
            return Err(PeerError::AckBeyondSent { end: next, next: self.count });
        }
        self.credit.raise(limit.min(self.count));
        if next < self.acked.next() {
            return Ok(()); // Overtaken by a newer one, which said more.
        }
        if next > self.acked.next() {
            self.handle_progress(now);
        }
        self.acked = sack;
        // The peer may say that it has what was never sent; then it need not be sent.
        self.sent = self.sent.max(next);
        let highest = (next..self.sent).rev().find(|&n| self.acked.has(n)).unwrap_or(next);
        let from = next.max(self.mended);
        if highest > from {
            let from = if self.resend.is_empty() { from } else { from.min(self.resend.start) };
            self.resend = from..self.resend.end.max(highest);
            self.mended = highest;
        }
        Ok(())
    }

    /// The peer has made progress, with this run or with what belongs to it: the timer starts over.
    pub fn handle_progress(&mut self, now: Instant) {
        self.timer.restart(now, self.patience);
    }

    /// Something that belongs to the run was sent: the timer waits from now.
    pub fn handle_sent(&mut self, now: Instant) {
        self.timer.postpone(now);
    }

    /// The number to send now, and whether it was sent before.
    pub fn poll(&mut self, now: Instant) -> Option<(u32, bool)> {
        let acked = self.acked;
        if let Some(n) = self.resend.by_ref().find(|n| !acked.has(*n)) {
            self.timer.postpone(now);
            return Some((n, true));
        }
        // No further than the peer's bitmap can tell of.
        let end = self.credit.limit().min(self.acked.next().saturating_add(Sack::BITS));
        while self.sent < end {
            let n = self.sent;
            self.sent += 1;
            if !self.acked.has(n) {
                self.timer.postpone(now);
                return Some((n, false));
            }
        }
        None
    }

    /// When [`handle_timeout`](Self::handle_timeout) is wanted.
    pub const fn deadline(&self) -> Instant {
        self.timer.deadline()
    }

    /// Prepares to send again what was not acknowledged in time.
    pub fn handle_timeout(&mut self, now: Instant) -> Expiry {
        if !self.timer.is_due(now) {
            return Expiry::Early;
        }
        self.resend = self.acked.next()..self.sent;
        self.mended = self.sent;
        self.timer.resent(now);
        if self.resend.is_empty() { Expiry::Blocked } else { Expiry::Resend }
    }

    /// # Panics
    /// If an invariant does not hold, which is a bug of this crate.
    pub fn check_invariants(&self) {
        assert!(self.acked.next() <= self.count);
        assert!(self.sent <= self.count);
        assert!(self.credit.limit() <= self.count);
        assert!(self.resend.is_empty() || self.resend.end <= self.sent);
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn sent(s: &mut RunSender, now: Instant) -> Vec<(u32, bool)> {
        let all = core::iter::from_fn(|| s.poll(now)).collect();
        s.check_invariants();
        all
    }

    #[test]
    fn it_stops_at_its_credit_and_mends_a_gap_once() {
        let now = Instant::ZERO;
        let mut s = RunSender::new(now, 6, 4, MS, MS * 8);
        assert_eq!(sent(&mut s, now), [(0, false), (1, false), (2, false), (3, false)]);
        let gap = Sack::from_bitmap(1, &core::array::from_fn(|i| u8::from(i == 0) * 0b10)); // 0 and 3.
        s.handle_ack(now, gap, 5).unwrap();
        assert_eq!(sent(&mut s, now), [(1, true), (2, true), (4, false)]);
        s.handle_ack(now, gap, 3).unwrap();
        assert_eq!(sent(&mut s, now), []);
        assert_eq!(s.handle_timeout(now), Expiry::Early);
        let later = s.deadline();
        assert_eq!(s.handle_timeout(later), Expiry::Resend);
        assert_eq!(sent(&mut s, later), [(1, true), (2, true), (4, true)]);
        s.handle_ack(later, Sack::new(5), 5).unwrap();
        assert_eq!(s.handle_timeout(s.deadline()), Expiry::Blocked);
        let beyond = PeerError::AckBeyondSent { end: 7, next: 6 };
        assert_eq!(s.handle_ack(later, Sack::new(7), 9), Err(beyond));
        s.handle_ack(later, Sack::new(5), 9).unwrap();
        assert_eq!(sent(&mut s, later), [(5, false)]);
        s.handle_ack(later, Sack::new(6), 9).unwrap();
        assert!(s.is_done());
    }
}
