//! What comes from a peer: which payloads the owner gets and when, and what is said of them.

use alloc::collections::VecDeque;

use rackloom_node::Instant;

use crate::receiver::{AckPolicy, Receiver};
use crate::sack::{Arrival, Sack};
use crate::segment::Data;

/// The order in which a connection gives its owner what has arrived. Both ends agree on whether it is the order of
/// sending; how much each of them holds is its own business.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// As it comes: no payload waits for another.
    AnyOrder,
    /// In the order of sending.
    InOrder {
        /// Numbers beyond the first missing one whose payloads are held until it comes, at most [`Sack::BITS`]. Those
        /// further on are dropped, and the peer sends them again. With 0 the peer has to go back to the first missing
        /// one, whatever else has come (go-back-N).
        hold: u32,
    },
}

/// Payloads that have come out of a connection, first to last. It holds heap memory only where one that was missing
/// has let others out that were held behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payloads<T> {
    first: Option<T>,
    held: VecDeque<T>,
}

impl<T> Payloads<T> {
    /// None.
    pub const fn none() -> Self {
        Self { first: None, held: VecDeque::new() }
    }

    const fn one(payload: T) -> Self {
        Self { first: Some(payload), held: VecDeque::new() }
    }
}

impl<T> Iterator for Payloads<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.first.take().or_else(|| self.held.pop_front())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = usize::from(self.first.is_some()) + self.held.len();
        (len, Some(len))
    }
}

impl<T> ExactSizeIterator for Payloads<T> {}

/// The receiving side of a connection.
///
/// In order, a number that cannot be delivered yet is answered with an acknowledgement at once if its payload is held
/// and the peer takes a bitmap, which says so. Otherwise with a negative one: one for each gap, and another each time
/// that the peer asks for an acknowledgement beyond the gap.
///
/// Invariants: exactly those numbers beyond the first missing one that have arrived are held, at most as many as the
/// configuration says; a negative acknowledgement is due only while there is a gap that it speaks of.
#[derive(Debug)]
pub(crate) struct Inbox<T> {
    delivery: Delivery,
    receiver: Receiver,
    /// Entry `i` is for number `next + 1 + i`.
    held: VecDeque<Option<T>>,
    /// A negative acknowledgement of the present gap has gone out or is due.
    has_nacked: bool,
    /// The acknowledgement that is due is a negative one.
    nacks: bool,
    #[cfg(feature = "planted-bugs")]
    planted: Option<crate::PlantedBug>,
    /// The number that came out of the hold last.
    #[cfg(feature = "planted-bugs")]
    released: Option<u32>,
}

impl<T> Inbox<T> {
    /// Nothing has arrived; `first` is the first number to come, and the peer has at most `window` in flight.
    ///
    /// # Panics
    /// If `window`, or what is to be held, is more than a [`Sack`] can tell of.
    pub(crate) const fn new(first: u32, window: u32, delivery: Delivery) -> Self {
        let ahead = match delivery {
            Delivery::AnyOrder => window,
            Delivery::InOrder { hold } => hold,
        };
        Self {
            delivery,
            receiver: Receiver::new(first, ahead),
            held: VecDeque::new(),
            has_nacked: false,
            nacks: false,
            #[cfg(feature = "planted-bugs")]
            planted: None,
            #[cfg(feature = "planted-bugs")]
            released: None,
        }
    }

    /// Makes it suffer from a bug.
    #[cfg(feature = "planted-bugs")]
    pub(crate) const fn plant(&mut self, bug: crate::PlantedBug) {
        self.planted = Some(bug);
        self.receiver.plant(bug);
    }

    /// Begins anew: what is held of an earlier life is dropped.
    pub(crate) fn restart(&mut self, first: u32, window: u32) {
        #[cfg(feature = "planted-bugs")]
        let (planted, held) = (self.planted, core::mem::take(&mut self.held));
        *self = Self::new(first, window, self.delivery);
        #[cfg(feature = "planted-bugs")]
        if planted == Some(crate::PlantedBug::KeepHeldOnRestart) {
            self.held = held;
        }
    }

    /// What has arrived.
    pub(crate) const fn sack(&self) -> &Sack {
        self.receiver.sack()
    }

    /// A payload has arrived, from a peer that `asks` for an acknowledgement and may be `selective`: what the owner
    /// gets.
    pub(crate) fn handle(
        &mut self,
        now: Instant,
        data: Data<T>,
        asks: bool,
        policy: AckPolicy,
        selective: bool,
    ) -> Payloads<T> {
        let policy = if asks { AckPolicy::AT_ONCE } else { policy };
        let ahead = data.seq.wrapping_sub(self.sack().next());
        match self.delivery {
            Delivery::InOrder { hold } if ahead > 0 && ahead < 1 << 31 => {
                self.handle_early(now, data, ahead, hold, asks, selective)
            }
            _ => match self.receiver.handle(now, data.seq, policy) {
                Arrival::New => self.release(now, data.payload),
                #[cfg(feature = "planted-bugs")]
                Arrival::Duplicate if self.is_released_again(data.seq) => Payloads::one(data.payload),
                Arrival::Duplicate | Arrival::Beyond => Payloads::none(),
            },
        }
    }

    /// A new number has come, which the receiver has taken note of; in order, it is the one that was missing.
    fn release(&mut self, now: Instant, payload: T) -> Payloads<T> {
        if self.delivery == Delivery::AnyOrder {
            return Payloads::one(payload);
        }
        (self.has_nacked, self.nacks) = (false, false);
        // As many entries as the first missing number has moved on; that of the new one is empty.
        let there = self.held.iter().take_while(|h| h.is_some()).count();
        let moved = (there + 1).min(self.held.len());
        #[cfg_attr(not(feature = "planted-bugs"), expect(unused_mut, reason = "only a bug changes it"))]
        let mut held: VecDeque<T> = self.held.drain(..moved).flatten().collect();
        if !held.is_empty() {
            // The peer may be about to send again what was held.
            self.receiver.expedite(now);
            #[cfg(feature = "planted-bugs")]
            {
                self.released = Some(self.sack().next().wrapping_sub(1));
                if self.planted == Some(crate::PlantedBug::DeliverOutOfOrder) {
                    held.push_back(payload);
                    return Payloads { first: None, held };
                }
            }
        }
        Payloads { first: Some(payload), held }
    }

    /// A number has come before one that is missing, by `ahead`.
    fn handle_early(
        &mut self,
        now: Instant,
        data: Data<T>,
        ahead: u32,
        hold: u32,
        asks: bool,
        selective: bool,
    ) -> Payloads<T> {
        let is_held = ahead <= hold;
        let is_new = is_held && self.receiver.note(data.seq) == Arrival::New;
        if is_held && selective {
            self.receiver.expedite(now);
        } else if asks || !self.has_nacked {
            (self.has_nacked, self.nacks) = (true, true);
            self.receiver.expedite(now);
        }
        if !is_new {
            return Payloads::none();
        }
        if self.held.capacity() == 0 {
            self.held.reserve_exact(hold as usize);
        }
        let len = self.held.len().max(ahead as usize);
        self.held.resize_with(len, || None);
        self.held[ahead as usize - 1] = Some(data.payload);
        Payloads::none()
    }

    #[cfg(feature = "planted-bugs")]
    fn is_released_again(&mut self, seq: u32) -> bool {
        self.planted == Some(crate::PlantedBug::DeliverHeldTwice) && self.released.take_if(|r| *r == seq).is_some()
    }

    /// Makes an acknowledgement due now.
    pub(crate) const fn expedite(&mut self, now: Instant) {
        self.receiver.expedite(now);
    }

    /// When an acknowledgement is due.
    pub(crate) const fn deadline(&self) -> Option<Instant> {
        self.receiver.deadline()
    }

    /// True when an acknowledgement is due now that has to go by itself: beside a payload there is no place for a
    /// bitmap, and none for a negative one.
    pub(crate) fn acks_apart(&self, now: Instant, selective: bool) -> bool {
        let is_due = self.deadline().is_some_and(|at| at <= now);
        let has_bitmap = selective && !self.sack().is_contiguous();
        self.delivery != Delivery::AnyOrder && is_due && (self.nacks || has_bitmap)
    }

    /// What a segment to a peer that may be `selective` says of arrivals, and whether it is negative. In order every
    /// segment says something; one that goes by itself (`apart`) says all.
    pub(crate) fn ack(&mut self, now: Instant, apart: bool, selective: bool) -> Option<(Sack, bool)> {
        let (sack, is_nack) = match self.delivery {
            Delivery::AnyOrder => (self.receiver.poll_ack(now)?, false),
            Delivery::InOrder { .. } => {
                self.receiver.sent_ack();
                let is_nack = core::mem::take(&mut self.nacks);
                debug_assert!(apart || !is_nack);
                (if apart { *self.sack() } else { Sack::new(self.sack().next()) }, is_nack)
            }
        };
        Some((if selective { sack } else { Sack::new(sack.next()) }, is_nack))
    }

    /// Most heap bytes that it ever holds, without what payloads hold themselves.
    pub(crate) const fn bytes_max(&self) -> usize {
        match self.delivery {
            Delivery::AnyOrder => 0,
            Delivery::InOrder { hold } => hold as usize * size_of::<Option<T>>(),
        }
    }

    /// # Panics
    /// If an invariant does not hold, which is a bug of this crate.
    pub(crate) fn check_invariants(&self) {
        self.receiver.check_invariants();
        assert!(!self.nacks || self.has_nacked && self.deadline().is_some());
        let Delivery::InOrder { hold } = self.delivery else {
            assert!(self.held.is_empty() && !self.has_nacked);
            return;
        };
        assert!(self.held.len() <= hold as usize);
        assert!(self.held.capacity() * size_of::<Option<T>>() <= self.bytes_max());
        let first = self.sack().next().wrapping_add(1);
        assert!((0..hold).all(|i| {
            let is_held = self.held.get(i as usize).is_some_and(Option::is_some);
            is_held == self.sack().has(first.wrapping_add(i))
        }));
    }
}
