//! A node of the bridge: its windows, its peers, and the requests between them.

use std::collections::{BTreeSet, VecDeque};

use bytes::Bytes;
use rackloom_node::Instant;
use rackloom_transport::{Connection, Peers, PeersFull};
use rackloom_wire::MacAddr;
use rackloom_wire::bridge::CHANNEL_STREAMS;

use crate::codec::{Key, encode};
use crate::config::EndpointConfig;
use crate::counters::EndpointCounters;
use crate::link::Link;
use crate::message::Message;
use crate::transactions::{Failure, Ticket};
use crate::window::Windows;

/// What an endpoint tells its owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndpointEvent {
    /// A request is over: the bytes read, the old value of an atomic operation, or nothing for a write.
    Done {
        /// The request.
        ticket: Ticket,
        /// What came of it.
        result: Result<Bytes, Failure>,
    },
    /// A peer to which stream messages were on their way has started anew or gone: each may or may not have arrived.
    StreamsLost {
        /// The peer.
        peer: MacAddr,
    },
}

/// Why a request or a message is not taken now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotTaken {
    /// As many are under way to this peer as may be: once one is over, the next can begin.
    #[error("as many requests are under way to this peer as may be")]
    Full,
    /// There are too many peers in use.
    #[error("too many peers in use")]
    Peers,
    /// It has no bytes, too many, or an address that the operation cannot have.
    #[error("invalid request")]
    Invalid,
}

/// A node of the bridge, as a state machine: card and host alike.
///
/// Law: after each call that changes it, call [`poll`](Self::poll) until it returns `None` and send each frame, and
/// [`next_event`](Self::next_event) until it returns `None`; then sleep until [`deadline`](Self::deadline).
///
/// A request is carried out once, in the order in which this node made its requests of that peer; if it fails with
/// [`Failure::Restarted`] or [`Failure::Unreachable`], once or not at all. Messages of streams arrive once and in order
/// between two lives of the nodes.
#[derive(Debug)]
pub struct Endpoint {
    pub(crate) config: EndpointConfig,
    pub(crate) windows: Windows,
    pub(crate) peers: Peers<Key, Link>,
    /// Connections that may have something to send, in turn; each is in it once at most.
    ready: VecDeque<Key>,
    deadlines: BTreeSet<(Instant, Key)>,
    /// Connections that have messages of streams for the owner, in turn.
    pub(crate) inboxes: VecDeque<Key>,
    pub(crate) events: VecDeque<EndpointEvent>,
    pub(crate) counters: EndpointCounters,
    pub(crate) tickets: u64,
    epoch: u32,
    /// Since the last timeout the driver has seen that peers on this machine wait for a processor.
    is_starved: bool,
    #[cfg(feature = "planted-bugs")]
    pub(crate) planted: Option<crate::PlantedBug>,
}

impl Endpoint {
    /// A node without windows that knows nobody.
    ///
    /// # Panics
    /// If something of `config` is out of its range.
    pub fn new(config: EndpointConfig) -> Self {
        config.check();
        Self {
            windows: Windows::default(),
            peers: Peers::new(config.peers),
            ready: VecDeque::new(),
            deadlines: BTreeSet::new(),
            inboxes: VecDeque::new(),
            events: VecDeque::new(),
            counters: EndpointCounters::default(),
            tickets: 0,
            epoch: config.epoch,
            is_starved: false,
            config,
            #[cfg(feature = "planted-bugs")]
            planted: None,
        }
    }

    /// Makes it suffer from a bug.
    #[cfg(feature = "planted-bugs")]
    pub const fn plant(&mut self, bug: crate::PlantedBug) {
        self.planted = Some(bug);
    }

    /// Its configuration.
    pub const fn config(&self) -> &EndpointConfig {
        &self.config
    }

    /// What it counted.
    pub const fn counters(&self) -> &EndpointCounters {
        &self.counters
    }

    /// Its windows.
    pub const fn windows(&mut self) -> &mut Windows {
        &mut self.windows
    }

    /// Ends all: windows, connections, requests, messages that nobody has taken. Peers that speak on learn that this
    /// is a new life as soon as a window is open to them again.
    pub fn reset(&mut self) {
        self.windows.clear();
        let keys: Vec<_> = self.peers.iter().map(|(key, _)| *key).collect();
        for key in keys {
            self.drop_link(key);
        }
    }

    /// A peer has proved that it hears us, and needs a place that strangers cannot take. False if there is none: then
    /// it is as if it had said nothing, and it will say so again.
    pub(crate) fn keep(&mut self, now: Instant, key: Key) -> bool {
        match self.peers.establish_unless(now, &key, Link::is_in_use) {
            Ok(None) => {}
            Ok(Some((evicted, link))) => self.bury(evicted, link),
            Err(PeersFull) => {
                // Nothing of it was taken, and the next connection may go by the same epoch.
                self.drop_link(key);
                return false;
            }
        }
        if let Some(link) = self.peers.get_mut(&key) {
            link.kept = Some(now);
        }
        true
    }

    /// Peers on this machine wait for a processor: that they are silent says little. Comes before a timeout, as in
    /// [`Node`](rackloom_node::Node).
    pub const fn handle_starvation(&mut self) {
        self.is_starved = true;
    }

    /// The deadline has come. Harmless when called early.
    pub fn handle_timeout(&mut self, now: Instant) {
        let is_starved = core::mem::take(&mut self.is_starved);
        while let Some(&(at, key)) = self.deadlines.first() {
            if at > now {
                break;
            }
            self.deadlines.pop_first();
            let link = self.peers.get_mut(&key).expect("deadlines are of links");
            link.deadline = None;
            #[cfg(feature = "planted-bugs")]
            if self.planted == Some(crate::PlantedBug::NoPatience) {
                link.gives_up = now + self.config.patience;
            }
            if link.is_waiting() && now >= link.gives_up {
                let grace = self.config.rto_max.min(self.config.patience);
                if now - at < grace && !is_starved {
                    self.restart_link(now, key);
                    continue;
                }
                // We are late ourselves, and what the peer has said may wait to be read; or it had no chance to speak.
                link.gives_up = now + grace;
            }
            link.connection.handle_timeout(now);
            // It has no deadline until it has had its turn to send: what is due now may have to wait for the wire.
            if !link.is_ready {
                link.is_ready = true;
                self.ready.push_back(key);
            }
        }
    }

    /// The next frame to send now. Peers take turns.
    pub fn poll(&mut self, now: Instant) -> Option<Bytes> {
        while let Some(key) = self.ready.pop_front() {
            let Some(link) = self.peers.get_mut(&key) else { continue };
            let resent = link.connection.resent();
            if let Some(segment) = link.connection.poll(now) {
                self.counters.tx += 1;
                self.counters.resent += link.connection.resent() - resent;
                self.ready.push_back(key);
                return Some(encode(self.config.mac, key, &segment));
            }
            link.is_ready = false;
            // Most deadlines are put off again and again; one that is early wakes us up, and does no harm.
            let wanted = link.wants();
            if wanted.is_some_and(|at| link.deadline.is_none_or(|before| at < before)) {
                if let Some(before) = link.deadline {
                    self.deadlines.remove(&(before, key));
                }
                self.deadlines.extend(wanted.map(|at| (at, key)));
                link.deadline = wanted;
            }
        }
        None
    }

    /// The next event.
    pub fn next_event(&mut self) -> Option<EndpointEvent> {
        self.events.pop_front()
    }

    /// When [`handle_timeout`](Self::handle_timeout) is wanted: at the latest when something is due, maybe earlier.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadlines.first().map(|(at, _)| *at)
    }

    /// Connections that it keeps: those of peers that have proved that they hear it, and of strangers.
    pub fn len(&self) -> usize {
        self.peers.len()
    }

    /// True when it knows nobody.
    pub fn is_empty(&self) -> bool {
        self.peers.is_empty()
    }

    /// Bytes that messages of streams hold until their owner takes them.
    pub fn bytes(&self) -> usize {
        self.peers.iter().map(|(_, link)| link.inbox.bytes()).sum()
    }

    /// # Panics
    /// If an invariant does not hold, which is a bug of this crate.
    pub fn check_invariants(&self) {
        self.peers.check_invariants();
        for (key, link) in self.peers.iter() {
            link.connection.check_invariants();
            assert_eq!(link.is_ready, self.ready.contains(key));
            assert_eq!(link.has_inbox_turn, self.inboxes.contains(key));
            assert_eq!(link.has_inbox_turn, link.inbox.front().is_some());
            assert!(link.deadline.is_none_or(|at| self.deadlines.contains(&(at, *key))));
        }
        assert_eq!(self.deadlines.len(), self.peers.iter().filter(|(_, link)| link.deadline.is_some()).count());
    }

    /// The connection of our own choice: it has proved its use, whoever else crowds in.
    pub(crate) fn open(&mut self, now: Instant, key: Key) -> Result<(), NotTaken> {
        if !self.may_be_peer(key.peer) {
            return Err(NotTaken::Invalid);
        }
        let is_kept = match self.peers.get(&key) {
            Some(link) => link.kept.is_some(),
            None => {
                self.admit(now, key);
                false
            }
        };
        if is_kept || self.keep(now, key) { Ok(()) } else { Err(NotTaken::Peers) }
    }

    /// Whether there can be a node with this address, other than this one.
    pub(crate) fn may_be_peer(&self, mac: MacAddr) -> bool {
        !mac.is_multicast() && !mac.is_zero() && mac != self.config.mac
    }

    /// A connection of the present epoch, which connections share until one of them ends that had begun.
    fn connection(&self, now: Instant, channel: u16) -> Connection<Message> {
        Connection::new(now, self.config.connection(channel), self.epoch)
    }

    /// A connection has ended: the next to that peer is a later life, unless this one never began.
    const fn end_epoch(&mut self, has_begun: bool) {
        #[cfg(feature = "planted-bugs")]
        if matches!(self.planted, Some(crate::PlantedBug::SameEpoch)) {
            return;
        }
        if has_begun {
            // 0 is no epoch.
            self.epoch = if self.epoch == u32::MAX { 1 } else { self.epoch + 1 };
        }
    }

    pub(crate) fn admit(&mut self, now: Instant, key: Key) {
        let connection = self.connection(now, key.channel);
        if let Some((evicted, link)) = self.peers.admit(now, key, Link::new(now, connection)) {
            self.bury(evicted, link);
        }
    }

    /// After each change of a link: it may have something to send, and something to wait for.
    pub(crate) fn settle(&mut self, key: Key) {
        let Some(link) = self.peers.get_mut(&key) else { return };
        if !link.is_ready {
            link.is_ready = true;
            self.ready.push_back(key);
        }
        if link.deadline.is_none() {
            link.deadline = link.wants();
            self.deadlines.extend(link.deadline.map(|at| (at, key)));
        }
    }

    /// A peer has broken the rules: its connection ends, and its place is free unless the owner has yet to take
    /// messages that it was right to send.
    pub(crate) fn cut_off(&mut self, now: Instant, key: Key) {
        if self.peers.get(&key).is_some_and(|link| link.inbox.front().is_some()) {
            self.restart_link(now, key);
        } else {
            self.drop_link(key);
        }
    }

    /// Ends a connection. What is whole in its inbox stays for the owner; the next connection is a later life.
    fn restart_link(&mut self, now: Instant, key: Key) {
        let Some(has_begun) = self.peers.get(&key).map(|link| link.has_begun) else { return };
        self.end_epoch(has_begun);
        let connection = self.connection(now, key.channel);
        let Some(link) = self.peers.get_mut(&key) else { return };
        let old = core::mem::replace(&mut link.connection, connection);
        link.has_begun = false;
        link.inbox.restart();
        let lost = link.transactions.abandon(|_| true);
        if key.channel == CHANNEL_STREAMS && !old.is_idle() {
            self.events.push_back(EndpointEvent::StreamsLost { peer: key.peer });
        }
        self.fail(lost, Failure::Unreachable);
        self.settle(key);
    }

    pub(crate) fn drop_link(&mut self, key: Key) {
        if let Some(link) = self.peers.remove(&key) {
            self.bury(key, link);
        }
    }

    /// What a link that was removed leaves behind.
    fn bury(&mut self, key: Key, mut link: Link) {
        self.end_epoch(link.has_begun);
        if key.channel == CHANNEL_STREAMS && !link.connection.is_idle() {
            self.events.push_back(EndpointEvent::StreamsLost { peer: key.peer });
        }
        if let Some(at) = link.deadline {
            self.deadlines.remove(&(at, key));
        }
        if link.is_ready {
            self.ready.retain(|k| *k != key);
        }
        if link.has_inbox_turn {
            self.inboxes.retain(|k| *k != key);
        }
        let lost = link.transactions.abandon(|_| true);
        self.fail(lost, Failure::Unreachable);
    }

    pub(crate) fn fail(&mut self, tickets: Vec<Ticket>, failure: Failure) {
        self.events.extend(tickets.into_iter().map(|ticket| EndpointEvent::Done { ticket, result: Err(failure) }));
    }
}
