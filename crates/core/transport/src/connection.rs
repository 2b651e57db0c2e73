//! Payloads to and from one peer, each delivered once, in order if both ends want that.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use rackloom_node::{Duration, Instant};

use crate::answers::Answers;
use crate::backoff::Backoff;
use crate::credit::Credit;
use crate::epoch::{Epochs, Verdict};
use crate::inbox::{Delivery, Inbox, Payloads};
use crate::peer_error::PeerError;
use crate::receiver::AckPolicy;
use crate::rtt::Rtt;
use crate::sack::Sack;
use crate::segment::{Ack, Data, Segment};
use crate::sender::Sender;
use crate::seq::is_before;

/// Of payloads that follow each other one in so many asks for its acknowledgement, where
/// [`ConnectionConfig::asks_seldom`]; a power of two. Often enough that a peer tells again soon of a gap if the word of
/// it was lost.
pub const ASK_EVERY: u32 = 8;

/// What both ends of a connection agree on, and the sizes of this end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionConfig {
    /// The first number of each life. Both ends agree on it.
    pub first: u32,
    /// Most numbers in flight, 1 to 256. Both ends agree on it.
    pub window: u32,
    /// Payloads that the owner can hold and has not consumed, 1 or more.
    pub credit: u32,
    /// The credit that each end begins with, until the other has said more: 1 to [`credit`](Self::credit). Both ends
    /// agree on it.
    pub opening: u32,
    /// Payloads that wait to be sent, at most.
    pub queue_max: usize,
    /// In which order payloads are delivered, and how many are held for that.
    pub delivery: Delivery,
    /// This end takes selective acknowledgements: it sends again only what they say is missing. One that does not goes
    /// back to the first number missing. In any order both ends are selective.
    pub selective: bool,
    /// When arrivals are acknowledged.
    pub ack: AckPolicy,
    /// The last payload that is queued does not ask for its acknowledgement, as others follow it: one does that is
    /// alone in flight, and each whose number is a multiple of [`ASK_EVERY`]. What goes the other way takes
    /// acknowledgements along, so few segments go for them alone; the last payload's comes after [`AckPolicy::delay`].
    pub asks_seldom: bool,
    /// Shortest time before something unanswered is sent again.
    pub rto_min: Duration,
    /// Longest such time. If it is the shortest as well, no round trip is measured, and every wait is that long.
    pub rto_max: Duration,
}

/// What a segment gave.
#[derive(Debug, PartialEq, Eq)]
pub struct Received<T> {
    /// Payloads that are delivered now, each for the first time. The owner takes them, and says so with
    /// [`consume`](Connection::consume) once it has room again.
    pub payloads: Payloads<T>,
    /// Numbers have begun anew, since the peer has begun a new life or knew a later one of ours. What it sent before
    /// and the owner has not consumed counts as consumed.
    pub restarted: bool,
    /// It is of another life of either end, and had no other effect.
    pub is_stale: bool,
    /// What was in flight until then: each may or may not have arrived.
    pub lost: Vec<T>,
}

/// The two directions between this node and one peer.
///
/// Law: after each call that changes it, call [`poll`](Self::poll) until it returns `None` and send each segment; then
/// sleep until [`deadline`](Self::deadline). A caller whose wire is full may leave off polling and go on later.
///
/// Between the present lives of both ends each payload is delivered exactly once, in the order that
/// [`ConnectionConfig::delivery`] says; one that was in flight when the peer restarted has been delivered at most once.
#[derive(Debug)]
pub struct Connection<T> {
    config: ConnectionConfig,
    epochs: Epochs,
    rtt: Rtt,
    queue: VecDeque<T>,
    sender: Sender<T>,
    /// How far the peer lets us go.
    credit: Credit,
    inbox: Inbox<T>,
    /// The peer takes selective acknowledgements, as it said last.
    peer_selective: bool,
    /// How far we let the peer go, and the limit announced to it.
    granted: Credit,
    announced: u32,
    /// The peer has to learn our epochs.
    hello_due: bool,
    answers: Answers,
    /// Until the peer is established: when to call it again.
    hello: Backoff,
    /// While the peer gives no credit: when to ask for some. The segment that raised it may have been lost.
    probe: Option<Backoff>,
    /// Payloads sent again.
    resent: u64,
    #[cfg(feature = "planted-bugs")]
    planted: Option<crate::PlantedBug>,
}

impl<T> Connection<T> {
    /// A connection under `epoch`, which is newer than that of any earlier connection to the same peer: a counter of
    /// the node will do. It speaks when it has something to send, or is spoken to.
    ///
    /// # Panics
    /// If `epoch` is 0, `config.window` is not in 1..=256, `config.credit` is not in 1..2^31, `config.opening` is not
    /// in 1..=`config.credit`, more than 256 payloads are to be held, or an end that delivers in any order is not
    /// selective.
    pub fn new(now: Instant, config: ConnectionConfig, epoch: u32) -> Self {
        assert!(config.credit > 0 && config.credit < 1 << 31);
        assert!(config.selective || config.delivery != Delivery::AnyOrder);
        assert!((1..=config.credit).contains(&config.opening));
        let limit = config.first.wrapping_add(config.credit);
        Self {
            epochs: Epochs::new(epoch),
            rtt: Rtt::new(config.rto_min, config.rto_max),
            queue: VecDeque::new(),
            sender: Sender::new(config.first, config.window),
            credit: Credit::new(config.first.wrapping_add(config.opening)),
            inbox: Inbox::new(config.first, config.window, config.delivery),
            peer_selective: false,
            granted: Credit::new(limit),
            announced: limit,
            hello_due: false,
            answers: Answers::new(),
            hello: Backoff::due(now, config.rto_min * 2, config.rto_max),
            probe: None,
            resent: 0,
            config,
            #[cfg(feature = "planted-bugs")]
            planted: None,
        }
    }

    /// Makes it suffer from a bug, through peers' restarts.
    #[cfg(feature = "planted-bugs")]
    pub const fn plant(&mut self, bug: crate::PlantedBug) {
        self.planted = Some(bug);
        self.epochs.plant(bug);
        self.sender.plant(bug);
        self.inbox.plant(bug);
    }

    /// True when the peer has named our present epoch, so it hears us.
    pub const fn is_established(&self) -> bool {
        self.epochs.is_established()
    }

    /// True when a segment with these epochs belongs to the present lives of both ends.
    pub const fn is_current(&self, src: u32, dst: u32) -> bool {
        self.epochs.is_established() && src == self.epochs.remote() && dst == self.epochs.local()
    }

    /// True when everything that was given to [`push`](Self::push) is acknowledged.
    pub fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.sender.is_idle()
    }

    /// How many payloads were sent again since the connection was made, each as often as it was.
    pub const fn resent(&self) -> u64 {
        self.resent
    }

    /// Numbers in flight.
    pub fn in_flight(&self) -> usize {
        self.sender.in_flight()
    }

    /// Payloads that the queue has room for.
    pub fn queue_room(&self) -> usize {
        self.config.queue_max - self.queue.len()
    }

    /// Drops payloads that wait to be sent, unless `keeps`: those that a new life of the peer is no longer to have.
    pub fn retain_queued(&mut self, keeps: impl FnMut(&T) -> bool) {
        self.queue.retain(keeps);
    }

    /// True when this number has arrived, in the present lives of both ends.
    pub const fn has(&self, seq: u32) -> bool {
        self.inbox.sack().has(seq)
    }

    /// Queues a payload.
    ///
    /// # Errors
    /// The payload itself, if the queue is full.
    pub fn push(&mut self, payload: T) -> Result<(), T> {
        if self.queue.len() >= self.config.queue_max {
            return Err(payload);
        }
        self.queue.push_back(payload);
        Ok(())
    }

    /// The owner has room again for `count` payloads that it was given.
    pub fn consume(&mut self, now: Instant, count: u32) {
        self.granted.raise(self.granted.limit().wrapping_add(count));
        // Small steps can wait for the next acknowledgement; a peer that waits for credit cannot.
        let news = self.granted.limit().wrapping_sub(self.announced);
        if news >= (self.config.credit / 2).max(1) && self.is_established() {
            self.inbox.expedite(now);
        }
    }

    /// A segment has come from the peer.
    ///
    /// # Errors
    /// [`PeerError`] if it acknowledges what was never sent or goes beyond its credit: the segment has no effect. If it
    /// is the first one of a new life of the peer, it has that effect only, and the error goes unsaid.
    pub fn handle(&mut self, now: Instant, segment: Segment<T>) -> Result<Received<T>, PeerError> {
        let mut received = Received { payloads: Payloads::none(), restarted: false, is_stale: false, lost: Vec::new() };
        match self.epochs.handle(segment.src, segment.dst) {
            Verdict::Current => {
                self.answers.renew();
                received.payloads = self.take(now, segment)?;
            }
            Verdict::Restarted => {
                received.restarted = true;
                received.lost = self.restart();
                self.answers.renew();
                self.hello_due = true;
                // The owner must learn of what is lost in any case.
                received.payloads = self.take(now, segment).unwrap_or(Payloads::none());
            }
            Verdict::Behind => {
                received.restarted = true;
                received.lost = self.restart();
                self.answer(now);
            }
            Verdict::Stale | Verdict::Unheard => {
                received.is_stale = true;
                self.answer(now);
            }
        }
        Ok(received)
    }

    /// A segment of other lives is answered, within bounds.
    fn answer(&mut self, now: Instant) {
        #[cfg(feature = "planted-bugs")]
        if self.planted == Some(crate::PlantedBug::AnswerForEver) {
            self.hello_due = true;
            return;
        }
        if self.answers.take(now, self.config.rto_min) {
            self.hello_due = true;
        }
    }

    /// Takes what a segment of the peer's present life carries.
    fn take(&mut self, now: Instant, segment: Segment<T>) -> Result<Payloads<T>, PeerError> {
        if let Some(data) = &segment.data
            && !is_before(data.seq, self.granted.limit())
        {
            return Err(PeerError::BeyondCredit { seq: data.seq, limit: self.granted.limit() });
        }
        if let Some(ack) = segment.ack {
            let sack = if self.config.selective { ack.sack } else { Sack::new(ack.sack.next()) };
            if ack.is_nack {
                self.sender.handle_nack(now, &sack, &mut self.rtt, |_| {})?;
            } else {
                self.sender.handle_ack(now, &sack, &mut self.rtt, |_| {})?;
            }
            if self.credit.raise(ack.limit) {
                self.probe = None;
            }
        }
        self.peer_selective = segment.selective;
        let Some(data) = segment.data else {
            if segment.asks {
                self.inbox.expedite(now);
            }
            return Ok(Payloads::none());
        };
        Ok(self.inbox.handle(now, data, segment.asks, self.config.ack, segment.selective))
    }

    /// Numbers begin anew: what was in flight.
    fn restart(&mut self) -> Vec<T> {
        let (first, window) = (self.config.first, self.config.window);
        let old = core::mem::replace(&mut self.sender, Sender::new(first, window));
        self.inbox.restart(first, window);
        let limit = first.wrapping_add(self.config.credit);
        self.credit = Credit::new(first.wrapping_add(self.config.opening));
        (self.granted, self.announced) = (Credit::new(limit), limit);
        self.rtt = Rtt::new(self.config.rto_min, self.config.rto_max);
        self.probe = None;
        #[cfg(feature = "planted-bugs")]
        if let Some(bug) = self.planted {
            self.plant(bug);
        }
        match self.config.delivery {
            Delivery::AnyOrder => old.into_unacked().collect(),
            Delivery::InOrder { .. } => old.into_flight().collect(),
        }
    }

    /// True when the next payload waits for the peer's credit, and nothing in flight will bring news of it.
    fn is_blocked(&self) -> bool {
        !self.queue.is_empty() && self.sender.is_idle() && !self.may_send()
    }

    fn may_send(&self) -> bool {
        #[cfg(feature = "planted-bugs")]
        if self.planted == Some(crate::PlantedBug::IgnoreCredit) {
            return true;
        }
        self.credit.allows(self.sender.next())
    }

    /// When [`handle_timeout`](Self::handle_timeout) is wanted.
    pub fn deadline(&self) -> Option<Instant> {
        let hello = (!self.is_established() && !self.queue.is_empty()).then(|| self.hello.deadline());
        let probe = self.probe.filter(|_| self.is_blocked()).map(|p| p.deadline());
        [hello, probe, self.sender.deadline(), self.inbox.deadline()].into_iter().flatten().min()
    }

    /// The deadline has come. Harmless when called early.
    pub fn handle_timeout(&mut self, now: Instant) {
        if self.config.delivery != Delivery::AnyOrder {
            self.sender.handle_timeout_in_order(now, &mut self.rtt);
        } else if self.sender.handle_timeout(now, self.rtt.timeout()) {
            self.rtt.back_off();
        }
    }

    /// Most heap bytes that it ever holds, without what payloads hold themselves.
    pub fn bytes_max(&self) -> usize {
        let queue = self.config.queue_max.next_power_of_two().max(4) * size_of::<T>();
        self.sender.bytes_max() + self.inbox.bytes_max() + queue
    }

    /// # Panics
    /// If an invariant does not hold, which is a bug of this crate.
    pub fn check_invariants(&self) {
        self.sender.check_invariants();
        self.inbox.check_invariants();
        assert!(self.queue.len() <= self.config.queue_max);
        assert!(!is_before(self.granted.limit(), self.announced));
        assert!(self.is_established() || self.sender.is_idle());
        // All that has arrived was within its credit.
        assert!(!is_before(self.granted.limit(), self.inbox.sack().end()));
    }
}

impl<T: Clone> Connection<T> {
    /// The next segment to send now.
    pub fn poll(&mut self, now: Instant) -> Option<Segment<T>> {
        if !self.is_established() {
            let calls = !self.queue.is_empty() && self.hello.is_due(now);
            if calls {
                self.hello.resent(now);
            }
            let says = calls || core::mem::take(&mut self.hello_due);
            self.hello_due = false;
            return says.then(|| self.segment(now, calls, None));
        }
        if self.inbox.acks_apart(now, self.peer_selective) {
            return Some(self.segment(now, false, None));
        }
        let timeout = self.rtt.timeout();
        if let Some(r) = self.sender.poll_resend(now, timeout) {
            let (data, asks) = (Data { seq: r.seq, payload: r.payload.clone() }, r.is_last);
            self.resent += 1;
            return Some(self.segment(now, asks, Some(data)));
        }
        if self.sender.has_room()
            && self.may_send()
            && let Some(payload) = self.queue.pop_front()
        {
            let seq = self.sender.send(now, timeout, payload.clone());
            let asks = match self.config.asks_seldom {
                true => self.sender.in_flight() == 1 || seq.is_multiple_of(ASK_EVERY),
                false => self.queue.is_empty(),
            };
            // Where we stop sending, the peer must not wait for more before it acknowledges.
            let asks = asks || !self.sender.has_room() || !self.may_send();
            return Some(self.segment(now, asks, Some(Data { seq, payload })));
        }
        if self.is_blocked() {
            let wait = (self.config.rto_min * 2).min(self.config.rto_max);
            let probe = self.probe.get_or_insert_with(|| Backoff::sent(now, wait, self.config.rto_max));
            if probe.is_due(now) {
                probe.resent(now);
                return Some(self.segment(now, true, None));
            }
        }
        let acks = self.inbox.deadline().is_some_and(|at| at <= now);
        (acks || self.hello_due).then(|| self.segment(now, false, None))
    }

    /// A segment, which takes along an acknowledgement that is due, and in order one in any case.
    fn segment(&mut self, now: Instant, asks: bool, data: Option<Data<T>>) -> Segment<T> {
        self.hello_due = false;
        let (dst, limit) = (self.epochs.remote(), self.granted.limit());
        let mut ack = None;
        if dst != 0 {
            let acked = self.inbox.ack(now, data.is_none() && !asks, self.peer_selective);
            ack = acked.map(|(sack, is_nack)| Ack { sack, limit, is_nack });
        }
        if ack.is_some() {
            self.announced = limit;
        }
        Segment { src: self.epochs.local(), dst, asks, selective: self.config.selective, ack, data }
    }
}
