//! The host as a node.

mod commands;
mod gate;
mod liveness;
mod receive;
mod scheduling;
mod state;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rackloom_node::{Frame, Instant, Node, Output, Port, Rng};
use rackloom_transport::Pacer;
use rackloom_wire::MacAddr;

use crate::card_info::CardInfo;
use crate::config::Config;
use crate::error::CardName;
use crate::event::{Event, OpId};
use crate::guard::Forged;
use crate::loader::Loader;
use crate::patience::Patience;
use crate::peer::{Peer, PeerState};
use state::{Go, Place, Source};

/// A host. Its methods are of four kinds:
///
/// - **Getters** take `&self` and change nothing: [`mac`](Self::mac), [`cards`](Self::cards), [`card`](Self::card),
///   [`claim_epoch`](Self::claim_epoch), [`pending`](Self::pending), [`ignored`](Self::ignored),
///   [`forged`](Self::forged).
/// - **Commands** begin an operation and return its [`OpId`], or act at once. Of cards: [`solicit`](Self::solicit),
///   [`claim`](Self::claim), [`release`](Self::release), [`counters`](Self::counters), [`manifest`](Self::manifest),
///   [`load`](Self::load). Under a claim: [`write`](Self::write), [`read`](Self::read), [`launch`](Self::launch),
///   [`go`](Self::go). Of operations: [`set_deadline`](Self::set_deadline), [`cancel`](Self::cancel).
/// - **Handlers** take what comes from outside: [`handle_frame`](Node::handle_frame) and
///   [`handle_timeout`](Node::handle_timeout).
/// - **Polling** says what to do: [`poll`](Node::poll) gives frames and [`Event`]s,
///   [`next_deadline`](Node::next_deadline) says when to call `handle_timeout`.
///
/// After each command and each handler, call `poll` until it returns `None`: the law of [`Node`]. A command that cannot
/// be carried out fails by its event like any other. The crate's documentation says in what order operations begin.
#[derive(Debug)]
pub struct Host {
    pub(crate) config: Config,
    rng: Rng,
    /// Group id of this host's claims, for Go frames.
    group: u16,
    peers: BTreeMap<MacAddr, Peer>,
    loads: BTreeMap<OpId, Loader>,
    ops: BTreeMap<OpId, Place>,
    deadlines: BTreeSet<(Instant, OpId)>,
    /// Ends of the host's own patience with requests, by its clock.
    limits: BTreeSet<(Instant, OpId)>,
    patience: Patience,
    gos: Vec<Go>,
    /// Small frames that go before all others: questions and acknowledgements.
    control: VecDeque<Frame>,
    /// Those that may have bulk frames to send, each once, served in turn.
    ready: VecDeque<Source>,
    events: VecDeque<Event>,
    pacer: Pacer,
    next_op: u64,
    next_seq: u32,
    /// When the host may next ask all cards whether a card that has started again is one card.
    doubt_at: Instant,
    ignored: u64,
    forged: Forged,
    /// The newest counter of a claim or release.
    claims: u64,
}

/// Draws the first request number apart from nonces and groups.
const SEQUENCE: u64 = 0x5e9;

/// Control frames kept while the wire is full. What is dropped beyond is asked or acknowledged again in time.
const CONTROL_MAX: usize = 4096;

impl Host {
    /// A host that knows no card yet.
    ///
    /// # Panics
    /// If `config.bulk` is not a multiple of 64 in 64..=8960.
    pub fn new(config: Config) -> Self {
        assert!(config.bulk > 0 && config.bulk.is_multiple_of(64) && config.bulk <= rackloom_wire::BULK_JUMBO);
        let mut rng = Rng::new(config.seed);
        Self {
            group: 1 + rng.below(u64::from(u16::MAX)) as u16,
            rng,
            peers: BTreeMap::new(),
            loads: BTreeMap::new(),
            ops: BTreeMap::new(),
            deadlines: BTreeSet::new(),
            limits: BTreeSet::new(),
            patience: Patience::new(config.ping_interval),
            gos: Vec::new(),
            control: VecDeque::new(),
            ready: VecDeque::new(),
            events: VecDeque::new(),
            pacer: Pacer::new(config.tx_rate),
            next_op: 1,
            // Random: no answer to a former process of this address is taken for one to this host.
            next_seq: Rng::new(config.seed ^ SEQUENCE).next_u64() as u32,
            doubt_at: Instant::ZERO,
            ignored: 0,
            forged: Forged::default(),
            claims: 0,
            config,
        }
    }

    /// The host's own address.
    pub const fn mac(&self) -> MacAddr {
        self.config.mac
    }

    /// The cards that are up, by address.
    pub fn cards(&self) -> impl Iterator<Item = &CardInfo> {
        self.peers.values().filter(|p| p.state == PeerState::Up).map(|p| &p.info)
    }

    /// What is known of a card that is up.
    pub fn card(&self, card: MacAddr) -> Option<&CardInfo> {
        self.peers.get(&card).filter(|p| p.state == PeerState::Up).map(|p| &p.info)
    }

    /// The epoch of this host's claim on a card, if it holds one.
    pub fn claim_epoch(&self, card: MacAddr) -> Option<u16> {
        self.peers.get(&card)?.session.as_ref().map(|s| s.ends.epoch)
    }

    /// The addresses under which two cards answer.
    pub fn shared_addresses(&self, now: Instant) -> impl Iterator<Item = MacAddr> {
        self.peers.iter().filter(move |(_, p)| p.boots.are_shared(now)).map(|(card, _)| *card)
    }

    /// Number of operations begun and not completed.
    pub fn pending(&self) -> usize {
        self.ops.len()
    }

    /// Number of frames that were malformed, not for this host, from an unknown card, that came in on another port than
    /// port 0, or that acknowledged what was never sent.
    pub const fn ignored(&self) -> u64 {
        self.ignored
    }

    /// What messages call a card.
    pub(crate) fn name(&self, card: MacAddr) -> CardName {
        CardName { mac: card, unit: self.peers.get(&card).map(|p| p.info.unit) }
    }

    fn seq(&mut self) -> u32 {
        let seq = self.next_seq;
        self.next_seq = self.next_seq.wrapping_add(1);
        seq
    }

    fn send(&mut self, frame: Frame) {
        if self.control.len() < CONTROL_MAX {
            self.control.push_back(frame);
        }
    }

    const fn ignore(&mut self) {
        self.ignored += 1;
    }
}

impl Node for Host {
    type Event = Event;

    fn handle_frame(&mut self, now: Instant, port: Port, frame: Frame) {
        self.patience.serve(now);
        match port {
            0 => self.receive(now, &frame),
            _ => self.ignore(),
        }
    }

    fn handle_starvation(&mut self) {
        self.patience.note_starvation();
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.serve_deadlines(now);
    }

    fn poll(&mut self, now: Instant) -> Option<Output<Event>> {
        self.next_output(now)
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.deadline()
    }
}
