//! The sending side of a window: numbers, what is in flight, and what has to be sent again.

use alloc::collections::VecDeque;

use rackloom_node::{Duration, Instant};

use crate::peer_error::PeerError;
use crate::rtt::Rtt;
use crate::sack::Sack;
use crate::seq::is_before;
use crate::window::Window;

/// Numbers payloads and keeps each until the peer acknowledges it.
///
/// Law: send while [`poll_resend`](Self::poll_resend) gives something and then, while [`has_room`](Self::has_room),
/// what is new; sleep until [`deadline`](Self::deadline). Timeouts come from the path's [`Rtt`], which its users share:
/// when [`handle_timeout`](Self::handle_timeout) returns true, the caller backs it off.
///
/// A number counts as lost when three later ones have arrived and, if it was sent again, a round trip has passed since,
/// or when the timer fires. It is resent under the same number, so the receiver can tell it from a new one. A peer that
/// drops what comes behind a gap says so ([`handle_nack`](Self::handle_nack)), and then all that is unacknowledged
/// counts as lost: the sender goes back.
///
/// Invariants: in flight are at most [`Window::limit`] numbers; the oldest of them is unacknowledged; a timer runs
/// exactly while something is in flight.
#[derive(Debug)]
pub struct Sender<T> {
    window: Window,
    /// Number of `flight[0]`, or of the next payload.
    base: u32,
    flight: VecDeque<InFlight<T>>,
    /// Entries of `flight` that are acknowledged, and wait for older ones.
    acked: usize,
    /// Entries of `flight` marked to be sent again.
    marked: usize,
    timer: Option<Instant>,
    /// When the sender last went back, if `base` has not moved since.
    went_back: Option<Instant>,
    /// The next number when the window was last cut for an overtaken one. What was sent before that and is found lost
    /// later was lost at the same time, and costs nothing more (RFC 6675's recovery point).
    eased_at: u32,
    #[cfg(feature = "planted-bugs")]
    planted: Option<crate::PlantedBug>,
}

#[derive(Debug)]
struct InFlight<T> {
    payload: T,
    sent_at: Instant,
    /// Sent once only, so its acknowledgement measures a round trip.
    is_first: bool,
    is_acked: bool,
    is_marked: bool,
}

/// What an acknowledgement gave.
struct News {
    /// Numbers acknowledged for the first time.
    count: u32,
    /// Entries of the flight that at least three of them were sent after.
    overtaken: usize,
}

/// A payload to send again.
#[derive(Debug, PartialEq, Eq)]
pub struct Resend<'a, T> {
    /// Its number, the same as before.
    pub seq: u32,
    /// The payload.
    pub payload: &'a T,
    /// True when nothing else waits to be resent.
    pub is_last: bool,
}

impl<T> Sender<T> {
    /// Nothing is sent; `first` is the first number, `window` the most numbers in flight.
    ///
    /// # Panics
    /// If `window` is not in 1..=256, the numbers that a [`Sack`] can tell of.
    pub const fn new(first: u32, window: u32) -> Self {
        assert!(window <= Sack::BITS);
        Self {
            window: Window::new(window),
            base: first,
            flight: VecDeque::new(),
            acked: 0,
            marked: 0,
            timer: None,
            went_back: None,
            eased_at: first,
            #[cfg(feature = "planted-bugs")]
            planted: None,
        }
    }

    /// Makes it suffer from a bug.
    #[cfg(feature = "planted-bugs")]
    pub const fn plant(&mut self, bug: crate::PlantedBug) {
        self.planted = Some(bug);
    }

    /// True when the window has room for a new payload. What is acknowledged beyond a gap makes room (RFC 6675): new
    /// numbers must go on, for it is they that tell whether a resent one was lost as well.
    pub fn has_room(&self) -> bool {
        let unacked = self.flight.len() - self.acked;
        unacked < self.window.size() as usize && self.flight.len() < self.window.limit() as usize
    }

    /// True when every payload sent is acknowledged.
    pub fn is_idle(&self) -> bool {
        self.flight.is_empty()
    }

    /// Numbers in flight: from the oldest unacknowledged to the newest sent.
    pub fn in_flight(&self) -> usize {
        self.flight.len()
    }

    /// The number that the next new payload gets.
    pub fn next(&self) -> u32 {
        self.number(self.flight.len())
    }

    /// The congestion window.
    pub const fn window(&self) -> &Window {
        &self.window
    }

    /// The payload in flight under this number.
    pub fn payload(&self, seq: u32) -> Option<&T> {
        self.flight.get(seq.wrapping_sub(self.base) as usize).map(|f| &f.payload)
    }

    /// Ends, and hands over what is in flight, oldest first. Any of it may or may not have arrived.
    pub fn into_unacked(self) -> impl Iterator<Item = T> {
        self.flight.into_iter().filter(|f| !f.is_acked).map(|f| f.payload)
    }

    /// Ends, and hands over all that is in flight, oldest first: a peer that delivers in order may have acknowledged
    /// what it only held.
    pub fn into_flight(self) -> impl Iterator<Item = T> {
        self.flight.into_iter().map(|f| f.payload)
    }

    /// Sends a new payload now: its number. `timeout` is the time to wait for its acknowledgement.
    ///
    /// # Panics
    /// If the window has no room.
    pub fn send(&mut self, now: Instant, timeout: Duration, payload: T) -> u32 {
        assert!(self.has_room());
        let seq = self.next();
        self.timer.get_or_insert(now + timeout);
        self.flight.push_back(InFlight { payload, sent_at: now, is_first: true, is_acked: false, is_marked: false });
        seq
    }

    /// The next payload to send again, now.
    pub fn poll_resend(&mut self, now: Instant, timeout: Duration) -> Option<Resend<'_, T>> {
        if self.marked == 0 {
            return None;
        }
        let at = self.flight.iter().position(|f| f.is_marked).expect("as many as are counted");
        self.marked -= 1;
        self.timer.get_or_insert(now + timeout);
        let seq = self.number(at);
        let is_last = self.marked == 0;
        let f = &mut self.flight[at];
        (f.is_marked, f.is_first, f.sent_at) = (false, false, now);
        Some(Resend { seq, payload: &f.payload, is_last })
    }

    /// The peer says what has arrived: how many numbers that is news of. Each of their payloads goes to `acked` once.
    ///
    /// # Errors
    /// [`PeerError::AckBeyondSent`] if it says so of a number that was never sent; nothing changes then.
    pub fn handle_ack(
        &mut self,
        now: Instant,
        sack: &Sack,
        rtt: &mut Rtt,
        acked: impl FnMut(&T),
    ) -> Result<u32, PeerError> {
        let Some(news) = self.acknowledge(now, sack, rtt, acked)? else { return Ok(0) };
        if news.count == 0 {
            return Ok(0);
        }
        match self.mark_overtaken(now, news.overtaken, rtt.smoothed()) {
            Some(last) if !is_before(last, self.eased_at) => {
                self.window.ease();
                self.eased_at = self.next();
            }
            Some(_) => {}
            None => self.window.grow(news.count),
        }
        Ok(news.count)
    }

    /// The same with the word that the peer drops what is in flight behind the first number missing: all that is
    /// unacknowledged is marked, and the window shrinks once.
    ///
    /// If the sender has gone back to this number already and no later than [`Rtt::patience`] ago, what the peer saw
    /// was sent before that, and the word counts as an acknowledgement only. A number further on is a new gap: what
    /// came before it has arrived since.
    ///
    /// # Errors
    /// As of [`handle_ack`](Self::handle_ack).
    pub fn handle_nack(
        &mut self,
        now: Instant,
        sack: &Sack,
        rtt: &mut Rtt,
        acked: impl FnMut(&T),
    ) -> Result<u32, PeerError> {
        #[cfg(feature = "planted-bugs")]
        if self.planted == Some(crate::PlantedBug::IgnoreNack) {
            return self.handle_ack(now, sack, rtt, acked);
        }
        let Some(news) = self.acknowledge(now, sack, rtt, acked)? else { return Ok(0) };
        let is_known = self.went_back.is_some_and(|at| now - at < rtt.patience());
        if self.flight.is_empty() || is_known {
            self.window.grow(news.count);
        } else {
            self.go_back(now, rtt.timeout());
        }
        Ok(news.count)
    }

    /// Takes note of what has arrived; `None` if that was overtaken by a newer word, which said more.
    fn acknowledge(
        &mut self,
        now: Instant,
        sack: &Sack,
        rtt: &mut Rtt,
        mut acked: impl FnMut(&T),
    ) -> Result<Option<News>, PeerError> {
        let (end, next) = (sack.end(), self.next());
        if is_before(next, end) {
            return Err(PeerError::AckBeyondSent { end, next });
        }
        if is_before(sack.next(), self.base) {
            return Ok(None);
        }
        let mut news = News { count: 0, overtaken: 0 };
        // Nothing of it is at the end or beyond.
        let covered = end.wrapping_sub(self.base) as usize;
        for i in 0..covered.min(self.flight.len()) {
            let seq = self.number(i);
            let f = &mut self.flight[i];
            if f.is_acked || !sack.has(seq) {
                continue;
            }
            f.is_acked = true;
            self.marked -= usize::from(core::mem::replace(&mut f.is_marked, false));
            if f.is_first {
                rtt.sample(now - f.sent_at);
            }
            acked(&f.payload);
            self.acked += 1;
            news.count += 1;
            news.overtaken = i.saturating_sub(2);
        }
        if news.count == 0 {
            return Ok(Some(news));
        }
        rtt.progress();
        while self.flight.front().is_some_and(|f| f.is_acked) {
            self.base = self.number(1);
            self.flight.pop_front();
            self.acked -= 1;
            self.went_back = None;
            news.overtaken = news.overtaken.saturating_sub(1);
        }
        self.timer = (!self.flight.is_empty()).then(|| now + rtt.timeout());
        #[cfg(feature = "planted-bugs")]
        if self.planted == Some(crate::PlantedBug::LoseTimer) {
            self.timer = None;
        }
        Ok(Some(news))
    }

    /// Marks what three later arrivals have overtaken, unless it was sent again so lately that it may still be on its
    /// way. The newest number marked.
    fn mark_overtaken(&mut self, now: Instant, overtaken: usize, patience: Duration) -> Option<u32> {
        let mut last = None;
        for (i, f) in self.flight.iter_mut().enumerate().take(overtaken) {
            if !f.is_acked && !f.is_marked && (f.is_first || now - f.sent_at >= patience) {
                f.is_marked = true;
                self.marked += 1;
                last = Some(i);
            }
        }
        last.map(|i| self.number(i))
    }

    /// When [`handle_timeout`](Self::handle_timeout) is wanted.
    pub const fn deadline(&self) -> Option<Instant> {
        self.timer
    }

    /// Marks what has waited `timeout` for its acknowledgement. True if the timer has fired.
    pub fn handle_timeout(&mut self, now: Instant, timeout: Duration) -> bool {
        if self.timer.is_none_or(|t| t > now) {
            return false;
        }
        for f in self.flight.iter_mut().filter(|f| !f.is_acked && !f.is_marked && now - f.sent_at >= timeout) {
            f.is_marked = true;
            self.marked += 1;
        }
        self.window.shrink();
        self.timer = Some(now + timeout * 2);
        true
    }

    /// The same for a peer that may have dropped all that came behind a gap: what is unacknowledged is marked however
    /// lately it was sent, as when the peer says so. Backs `rtt` off.
    pub fn handle_timeout_in_order(&mut self, now: Instant, rtt: &mut Rtt) -> bool {
        if self.timer.is_none_or(|t| t > now) {
            return false;
        }
        rtt.back_off();
        self.go_back(now, rtt.timeout());
        true
    }

    /// Marks all that is unacknowledged.
    fn go_back(&mut self, now: Instant, timeout: Duration) {
        for f in self.flight.iter_mut().filter(|f| !f.is_acked) {
            f.is_marked = true;
        }
        self.marked = self.flight.len() - self.acked;
        self.window.shrink();
        self.went_back = Some(now);
        self.timer = Some(now + timeout);
    }

    /// The number of the entry at `at`.
    fn number(&self, at: usize) -> u32 {
        let seq = self.base.wrapping_add(at as u32);
        #[cfg(feature = "planted-bugs")]
        if self.planted == Some(crate::PlantedBug::WrapOffByOne) && seq < self.base {
            return seq.wrapping_add(1);
        }
        seq
    }

    /// Most heap bytes that it ever holds, without what payloads hold themselves.
    pub fn bytes_max(&self) -> usize {
        // The queue doubles as it grows.
        (self.window.limit() as usize).next_power_of_two().max(4) * size_of::<InFlight<T>>()
    }

    /// # Panics
    /// If an invariant does not hold, which is a bug of this crate.
    pub fn check_invariants(&self) {
        self.window.check_invariants();
        assert!(self.flight.len() <= self.window.limit() as usize);
        assert!(self.flight.capacity() * size_of::<InFlight<T>>() <= self.bytes_max());
        assert!(self.flight.front().is_none_or(|f| !f.is_acked));
        assert_eq!(self.acked, self.flight.iter().filter(|f| f.is_acked).count());
        assert_eq!(self.marked, self.flight.iter().filter(|f| f.is_marked).count());
        assert!(self.flight.iter().all(|f| !(f.is_marked && f.is_acked)));
        assert_eq!(self.timer.is_some(), !self.flight.is_empty());
        assert!(self.went_back.is_none() || !self.flight.is_empty());
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    const TIMEOUT: Duration = Duration::from_millis(1);

    fn at(us: u64) -> Instant {
        Instant::from_nanos(us * 1000)
    }

    fn rtt() -> Rtt {
        let mut rtt = Rtt::new(TIMEOUT, TIMEOUT * 64);
        rtt.sample(Duration::from_micros(10));
        rtt
    }

    fn sender(first: u32, count: u32) -> Sender<u32> {
        let mut s = Sender::new(first, 256);
        for i in 0..count {
            assert_eq!(s.send(at(0), TIMEOUT, i), first.wrapping_add(i));
        }
        s
    }

    fn sack(first: u32, arrived: &[u32]) -> Sack {
        let mut sack = Sack::new(first);
        for n in arrived {
            sack.insert(first.wrapping_add(*n));
        }
        sack
    }

    fn resent(s: &mut Sender<u32>, now: Instant) -> Vec<(u32, bool)> {
        core::iter::from_fn(|| s.poll_resend(now, TIMEOUT).map(|r| (*r.payload, r.is_last))).collect()
    }

    #[test]
    fn what_three_later_numbers_overtake_is_sent_again_across_the_wrap() {
        let first = u32::MAX - 1;
        let (mut s, mut rtt, mut got) = (sender(first, 6), rtt(), Vec::new());
        assert_eq!(s.handle_ack(at(20), &sack(first, &[0, 2, 3]), &mut rtt, |p| got.push(*p)), Ok(3));
        assert_eq!(resent(&mut s, at(20)), [], "two later ones may have overtaken it");
        assert_eq!(s.handle_ack(at(21), &sack(first, &[0, 2, 3, 4]), &mut rtt, |p| got.push(*p)), Ok(1));
        assert_eq!(resent(&mut s, at(21)), [(1, true)]);
        assert_eq!(s.handle_ack(at(22), &sack(first, &[0, 2, 3, 4, 5]), &mut rtt, |p| got.push(*p)), Ok(1));
        assert_eq!(resent(&mut s, at(22)), [], "it may still be on its way");
        s.check_invariants();
        assert_eq!(s.handle_ack(at(40), &sack(first, &[0, 1, 2, 3, 4, 5]), &mut rtt, |p| got.push(*p)), Ok(1));
        assert_eq!(got, [0, 2, 3, 4, 5, 1]);
        assert!(s.is_idle() && s.deadline().is_none());
        s.check_invariants();
    }

    #[test]
    fn what_is_lost_at_one_time_cuts_the_window_once() {
        let (mut s, mut rtt) = (sender(1, 40), rtt());
        let mut hear = |s: &mut Sender<u32>, us, arrived: &[u32]| {
            s.handle_ack(at(us), &sack(1, arrived), &mut rtt, |_| {}).unwrap();
            s.check_invariants();
            (s.window().size(), resent(s, at(us)).len())
        };
        assert_eq!(hear(&mut s, 10, &[1, 2, 3]), (179, 1), "the first is lost");
        assert_eq!(hear(&mut s, 11, &[1, 2, 3, 5, 6, 7]), (179, 1), "another was in flight with it");
        let later = s.send(at(12), TIMEOUT, 40) - 1;
        (0..3).for_each(|n| _ = s.send(at(12), TIMEOUT, 41 + n));
        let all: Vec<u32> = (0..later).collect();
        assert_eq!(hear(&mut s, 20, &all), (179, 0));
        let beyond: Vec<u32> = all.into_iter().chain([later + 1, later + 2, later + 3]).collect();
        assert_eq!(hear(&mut s, 22, &beyond), (125, 1), "one that was sent after the cut");
    }

    #[test]
    fn the_timer_sends_all_that_is_late_and_the_window_shrinks() {
        let mut s = sender(1, 256);
        assert!(!s.has_room());
        assert!(!s.handle_timeout(at(999), TIMEOUT));
        assert!(s.handle_timeout(at(1000), TIMEOUT));
        assert_eq!(s.window().size(), 128);
        assert_eq!(resent(&mut s, at(1000)).len(), 256);
        assert_eq!(s.deadline(), Some(at(3000)));
        s.check_invariants();
    }

    #[test]
    fn an_acknowledgement_of_what_was_never_sent_is_the_peers_error() {
        let (mut s, mut rtt) = (sender(1, 3), rtt());
        let mut none = |sack: &Sack| s.handle_ack(at(9), sack, &mut rtt, |_| panic!("nothing is acknowledged"));
        assert_eq!(none(&Sack::new(5)), Err(PeerError::AckBeyondSent { end: 5, next: 4 }));
        assert_eq!(none(&sack(1, &[1, 3])), Err(PeerError::AckBeyondSent { end: 5, next: 4 }));
        assert_eq!(none(&Sack::new(0)), Ok(0), "an overtaken one is no error");
        assert_eq!(s.in_flight(), 3);
    }

    #[test]
    fn payloads_in_flight_are_found_by_number_and_handed_back() {
        let (mut s, mut rtt) = (sender(7, 4), rtt());
        assert_eq!((s.payload(9), s.payload(11), s.payload(6)), (Some(&2), None, None));
        s.handle_ack(at(9), &sack(7, &[0, 2]), &mut rtt, |_| {}).unwrap();
        assert_eq!(s.into_unacked().collect::<Vec<_>>(), [1, 3]);
    }
}
