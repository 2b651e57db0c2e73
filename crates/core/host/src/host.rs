//! The host as a node: its commands, and who sends next. What arrives is handled in [`receive`].

mod receive;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bytes::Bytes;
use rackloom_node::{Duration, Frame, Instant, Node, Output, Port, Rng};
use rackloom_wire::{
    CARDS, ErrorCode, Head, IMAGE_BYTES_MAX, IntoBytes, Kind, LAUNCH_ARGS, MacAddr, ROLE_PRIVATE, Scrub, Solicit, U32,
};

use crate::card_info::CardInfo;
use crate::config::{ClaimOptions, Config};
use crate::event::{DownReason, Event, LoadPhase, OpError, OpId, Outcome};
use crate::launcher::Launch;
use crate::liveness::Patience;
use crate::loader::Loader;
use crate::pacer::Pacer;
use crate::peer::{Peer, PeerState};
use crate::request::{Ask, Request};
use crate::session::Session;

/// A host. See the crate's documentation for the order of operations, and [`Node`] for the law of driving it.
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
    ignored: u64,
}

/// Where an operation is.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// `None`: a load.
    card: Option<MacAddr>,
    deadline: Option<Instant>,
    /// In `limits`.
    limit: Option<Instant>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Card(MacAddr),
    Load(OpId),
}

/// A Go that some held launch may not have heard.
#[derive(Debug)]
struct Go {
    number: u32,
    again_at: Instant,
    wait: Duration,
}

/// Control frames kept while the wire is full. What is dropped beyond is asked or acknowledged again in time.
const CONTROL_MAX: usize = 4096;
/// Most chunks one card may have under way towards the host: the acknowledgement's bitmap holds 256.
const SHARE_MAX: u32 = 128;
/// Largest read, and largest output region of a launch.
const TRANSFER_MAX: u64 = 1 << 32;

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
            next_seq: 1,
            ignored: 0,
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

    /// Operations begun and not completed.
    pub fn pending(&self) -> usize {
        self.ops.len()
    }

    /// Frames that were not for this host, malformed, or from cards it does not know.
    pub const fn ignored(&self) -> u64 {
        self.ignored
    }

    /// Asks all cards to announce themselves; they answer spread over `window`.
    pub fn solicit(&mut self, _now: Instant, window: Duration) {
        let body = Solicit { window_us: U32::new(window.as_micros() as u32), reserved: U32::ZERO };
        let seq = self.seq();
        let head = Head { dst: CARDS, src: self.mac(), kind: Kind::DiscoverySolicit, flags: 0, epoch: 0, seq, addr: 0 };
        self.send(head.frame(&[body.as_bytes()]));
    }

    /// Claims a card. One claim of a card at a time: with two on the way, the answer of the older could come last and
    /// undo the newer.
    pub fn claim(&mut self, now: Instant, card: MacAddr, options: ClaimOptions) -> OpId {
        let claims = |r: &Request| matches!(r.ask, Ask::Claim { .. });
        if self.peers.get(&card).is_some_and(|p| p.requests.iter().any(claims)) {
            return self.failed(OpError::Refused { card, code: ErrorCode::Busy, detail: 0 });
        }
        let (nonce, group) = (self.rng.next_u64(), self.group);
        let epoch = self.peers.get(&card).map_or(0, |p| p.last_epoch);
        self.request(now, card, Ask::Claim { nonce, options, group, epoch })
    }

    /// Gives a card back; with [`Scrub::Zero`] its memory is zeroed before anyone else can claim it. Operations under
    /// way on it fail with [`OpError::Cancelled`].
    pub fn release(&mut self, now: Instant, card: MacAddr, scrub: Scrub) -> OpId {
        let Some(session) = self.peers.get_mut(&card).and_then(|p| p.session.take()) else {
            return self.failed(OpError::NotClaimed { card });
        };
        let epoch = session.ends.epoch;
        self.end_session(now, card, session, &OpError::Cancelled { card });
        self.request(now, card, Ask::Release { epoch, scrub })
    }

    /// Asks for a card's counters. Needs no claim.
    pub fn counters(&mut self, now: Instant, card: MacAddr) -> OpId {
        self.request(now, card, Ask::Counters { got: Vec::new() })
    }

    /// Asks for the manifest of a card's active image. Needs no claim.
    pub fn manifest(&mut self, now: Instant, card: MacAddr) -> OpId {
        self.request(now, card, Ask::Manifest { got: Vec::new() })
    }

    /// Loads an image into these cards, all at once. Each must be claimed and not be in another load. With
    /// `all_or_none` no card activates it unless every card has verified it.
    pub fn load(&mut self, now: Instant, cards: &[MacAddr], image: Bytes, all_or_none: bool) -> OpId {
        let first = cards.first().copied().unwrap_or_default();
        if image.is_empty() || image.len() as u64 > IMAGE_BYTES_MAX {
            let (code, detail) = (ErrorCode::ImageTooLarge, IMAGE_BYTES_MAX);
            return self.failed(OpError::Refused { card: first, code, detail });
        }
        let mut members = Vec::new();
        for card in cards {
            if self.loads.values().any(|l| l.has(*card)) {
                return self.failed(OpError::Refused { card: *card, code: ErrorCode::Busy, detail: 0 });
            }
            match self.peers.get(card).map(|p| (p, p.session.as_ref())) {
                Some((p, Some(s))) => members.push((&p.info, s.ends.epoch)),
                _ => return self.failed(OpError::NotClaimed { card: *card }),
            }
        }
        if members.is_empty() {
            return self.failed(OpError::UnknownCard { card: first });
        }
        let seq = self.next_seq;
        self.next_seq = self.next_seq.wrapping_add(1);
        let group = loop {
            let group = 1 + self.rng.below(u64::from(u16::MAX)) as u16;
            if group != self.group && self.loads.values().all(|l| l.group != group) {
                break group;
            }
        };
        let op = OpId(self.next_op);
        self.next_op += 1;
        self.patience.serve(now, None);
        let loader = Loader::new(op, now, self.patience.now(), &self.config, group, seq, image, &members, all_or_none);
        self.ops.insert(op, Place { card: None, deadline: None, limit: None });
        self.loads.insert(op, loader);
        self.ready.push_back(Source::Load(op));
        op
    }

    /// Writes bytes to a claimed card's memory.
    pub fn write(&mut self, _now: Instant, card: MacAddr, addr: u64, data: Bytes) -> OpId {
        // The card checks this too, but a refusal of a write can be lost where its acknowledgement is not.
        if let Some(why) = self.out_of_memory(card, addr, data.len() as u64) {
            return self.failed(why);
        }
        match self.begin(card) {
            Err(op) => op,
            Ok((op, session)) => {
                if data.is_empty() {
                    self.complete(op, Ok(Outcome::Written));
                } else {
                    session.writer.push(op, addr, data);
                    self.touch(card);
                }
                op
            }
        }
    }

    /// Reads bytes of a claimed card's memory, at most 4 GiB.
    pub fn read(&mut self, _now: Instant, card: MacAddr, addr: u64, len: u64) -> OpId {
        if len > TRANSFER_MAX {
            return self.failed(OpError::Refused { card, code: ErrorCode::BadRequest, detail: TRANSFER_MAX });
        }
        if let Some(why) = self.out_of_memory(card, addr, len) {
            return self.failed(why);
        }
        match self.begin(card) {
            Err(op) => op,
            Ok((op, session)) => {
                if len == 0 {
                    self.complete(op, Ok(Outcome::Data(Bytes::new())));
                } else {
                    session.reader.push(op, addr, len as usize);
                    self.touch(card);
                }
                op
            }
        }
    }

    /// Launches a kernel on a claimed card: executed once or, if the operation fails with a card's loss, at most once.
    pub fn launch(&mut self, _now: Instant, card: MacAddr, launch: Launch) -> OpId {
        if launch.args.len() > LAUNCH_ARGS as usize || launch.output.1 > TRANSFER_MAX {
            return self.failed(OpError::Refused {
                card,
                code: ErrorCode::BadArguments,
                detail: u64::from(LAUNCH_ARGS),
            });
        }
        match self.begin(card) {
            Err(op) => op,
            Ok((op, session)) => {
                session.launcher.push(op, launch);
                self.touch(card);
                op
            }
        }
    }

    /// Starts the launches that are held for `number`, on all cards at once.
    pub fn go(&mut self, now: Instant, number: u32) {
        let wait = self.config.rto_min;
        self.gos.push(Go { number, again_at: now + wait, wait });
        self.send_go(number);
    }

    /// Lets an operation fail with [`OpError::Deadline`] if it has not completed by then, in place of the time that
    /// `Config::control_timeout` gives it.
    pub fn set_deadline(&mut self, op: OpId, at: Instant) {
        if let Some(place) = self.ops.get_mut(&op) {
            if let Some(limit) = place.limit.take() {
                self.limits.remove(&(limit, op));
            }
            if let Some(old) = place.deadline.replace(at) {
                self.deadlines.remove(&(old, op));
            }
            self.deadlines.insert((at, op));
        }
    }

    /// Calls an operation off: it completes with [`OpError::Cancelled`]. A launch that the card has accepted is
    /// cancelled there.
    pub fn cancel(&mut self, now: Instant, op: OpId) {
        let Some(place) = self.ops.get(&op) else { return };
        let card = place.card.unwrap_or_default();
        self.give_up(now, op, OpError::Cancelled { card });
    }

    /// Why a range is not inside the memory that a host may address on this card.
    fn out_of_memory(&self, card: MacAddr, addr: u64, len: u64) -> Option<OpError> {
        let memory = self.card(card)?.memory;
        let inside = addr >= ROLE_PRIVATE && addr.checked_add(len).is_some_and(|end| end <= memory);
        (!inside && len > 0).then_some(OpError::Refused { card, code: ErrorCode::BadAddress, detail: memory })
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

    fn send_go(&mut self, number: u32) {
        let (dst, src, epoch) = (MacAddr::group(self.group), self.mac(), self.group);
        self.send(Head { dst, src, kind: Kind::ExecGo, flags: 0, epoch, seq: number, addr: 0 }.frame(&[]));
    }

    fn new_op(&mut self, card: Option<MacAddr>) -> OpId {
        let op = OpId(self.next_op);
        self.next_op += 1;
        self.ops.insert(op, Place { card, deadline: None, limit: None });
        op
    }

    fn failed(&mut self, why: OpError) -> OpId {
        let op = self.new_op(Some(why.card()));
        self.complete(op, Err(why));
        op
    }

    fn begin(&mut self, card: MacAddr) -> Result<(OpId, &mut Session), OpId> {
        if self.peers.get(&card).is_none_or(|p| p.session.is_none()) {
            return Err(self.failed(OpError::NotClaimed { card }));
        }
        let op = self.new_op(Some(card));
        let session = self.peers.get_mut(&card).and_then(|p| p.session.as_mut()).expect("just seen");
        Ok((op, session))
    }

    fn request(&mut self, now: Instant, card: MacAddr, ask: Ask) -> OpId {
        if self.peers.get(&card).is_none_or(|p| p.state == PeerState::Down) {
            return self.failed(OpError::UnknownCard { card });
        }
        let (op, seq) = (self.new_op(Some(card)), self.seq());
        self.patience.serve(now, None);
        let limit = self.patience.now() + self.config.control_timeout;
        self.limits.insert((limit, op));
        self.ops.get_mut(&op).expect("just made").limit = Some(limit);
        let wait = self.config.rto_min * 2;
        self.peers.get_mut(&card).expect("just seen").requests.push(Request::new(op, seq, ask, now, wait));
        self.ask_due(now, card);
        op
    }

    fn complete(&mut self, op: OpId, result: Result<Outcome, OpError>) {
        // An operation completes once; whatever comes after is late news.
        if let Some(place) = self.ops.remove(&op) {
            if let Some(at) = place.deadline {
                self.deadlines.remove(&(at, op));
            }
            if let Some(at) = place.limit {
                self.limits.remove(&(at, op));
            }
            self.events.push_back(Event::Completed { op, result });
        }
    }

    /// An operation ends before its time, by its owner's wish or its deadline.
    fn give_up(&mut self, now: Instant, op: OpId, why: OpError) {
        let Some(Place { card, .. }) = self.ops.get(&op).copied() else { return };
        match card {
            None => {
                if let Some(mut loader) = self.loads.remove(&op) {
                    let frame = loader.abort();
                    self.send(frame);
                    self.complete(op, Ok(Outcome::Loaded(loader.report(now))));
                }
            }
            Some(card) => {
                let peer = self.peers.get_mut(&card);
                if let Some(peer) = peer {
                    peer.requests.retain(|r| r.op != op);
                    if let Some(session) = peer.session.as_mut() {
                        session.forget(op);
                    }
                }
                self.complete(op, Err(why));
                self.touch(card);
            }
        }
    }

    /// The card may have something to send.
    fn touch(&mut self, card: MacAddr) {
        if let Some(peer) = self.peers.get_mut(&card).filter(|p| !p.is_ready && p.session.is_some()) {
            peer.is_ready = true;
            self.ready.push_back(Source::Card(card));
        }
    }

    fn touch_load(&mut self, op: OpId) {
        if !self.ready.contains(&Source::Load(op)) {
            self.ready.push_back(Source::Load(op));
        }
    }

    /// Chunks that each card may have under way towards this host, so that all together fit the queue before it.
    fn share(&self) -> u32 {
        let receiving = self.peers.values().filter(|p| p.session.as_ref().is_some_and(Session::is_receiving)).count();
        let chunks = self.config.inbound_bytes / u32::from(self.config.bulk);
        (chunks / receiving.max(1) as u32).clamp(1, SHARE_MAX)
    }

    /// Asks what is due to be asked of a card.
    fn ask_due(&mut self, now: Instant, card: MacAddr) {
        let (mac, most) = (self.mac(), self.config.rto_max);
        let Some(peer) = self.peers.get_mut(&card) else { return };
        let due: Vec<_> =
            peer.requests.iter_mut().filter(|r| r.is_due(now)).map(|r| r.frame(now, mac, card, most)).collect();
        for frame in due {
            self.send(frame);
        }
    }

    /// Looks after a card: alive or not, lease, questions, retransmissions.
    fn watch(&mut self, now: Instant, card: MacAddr) {
        self.ask_due(now, card);
        let (interval, silence) = (self.config.ping_interval, self.config.silence);
        let seq = self.next_seq;
        let peer = self.peers.get_mut(&card).expect("the caller has it");
        if let Some(session) = peer.session.as_mut() {
            session.handle_timeout(now);
        }
        if peer.state == PeerState::Up && peer.is_silent(silence, &self.patience) {
            return self.down(now, card, DownReason::Silent);
        }
        if peer.watch_at(interval, silence, &self.patience).is_some_and(|t| t <= now) {
            peer.pinged_at = now;
            let epoch = peer.session.as_mut().map_or(0, |s| {
                s.sent_at = now;
                s.ends.epoch
            });
            self.next_seq = self.next_seq.wrapping_add(1);
            let head = Head { dst: card, src: self.mac(), kind: Kind::SessionPing, flags: 0, epoch, seq, addr: 0 };
            self.send(head.frame(&[]));
        }
        self.touch(card);
    }

    /// The card is gone, or has restarted.
    fn down(&mut self, now: Instant, card: MacAddr, reason: DownReason) {
        let peer = self.peers.get_mut(&card).expect("the caller has it");
        if peer.state == PeerState::Down {
            return;
        }
        peer.state = PeerState::Down;
        let requests = std::mem::take(&mut peer.requests);
        let why = OpError::Vanished { card, reason };
        if let Some(session) = peer.session.take() {
            self.end_session(now, card, session, &why);
        }
        for request in requests {
            self.complete(request.op, Err(why.clone()));
        }
        self.events.push_back(Event::CardDown { card, reason });
    }

    fn end_session(&mut self, now: Instant, card: MacAddr, mut session: Session, why: &OpError) {
        for op in session.end() {
            self.complete(op, Err(why.clone()));
        }
        let loads: Vec<_> = self.loads.iter().filter(|(_, l)| l.has(card)).map(|(op, _)| *op).collect();
        for op in loads {
            self.loads.get_mut(&op).expect("just seen").lose(now, card, why.clone());
            self.finish_load(now, op);
        }
    }

    /// The claim is gone though the card lives.
    fn lose_claim(&mut self, now: Instant, card: MacAddr) {
        if let Some(session) = self.peers.get_mut(&card).and_then(|p| p.session.take()) {
            self.end_session(now, card, session, &OpError::ClaimLost { card });
            self.events.push_back(Event::ClaimLost { card });
        }
    }

    fn finish_load(&mut self, now: Instant, op: OpId) {
        if self.loads.get(&op).is_some_and(Loader::is_over) {
            let loader = self.loads.remove(&op).expect("just seen");
            self.complete(op, Ok(Outcome::Loaded(loader.report(now))));
        } else {
            self.touch_load(op);
        }
    }

    const fn ignore(&mut self) {
        self.ignored += 1;
    }

    /// Says Go again to those who may not have heard it.
    fn repeat_gos(&mut self, now: Instant) {
        let mut gos = std::mem::take(&mut self.gos);
        gos.retain(|go| self.peers.values().filter_map(|p| p.session.as_ref()).any(|s| s.launcher.is_held(go.number)));
        for go in gos.iter_mut().filter(|go| go.again_at <= now) {
            go.wait = (go.wait * 2).min(self.config.rto_max);
            go.again_at = now + go.wait;
            self.send_go(go.number);
        }
        self.gos = gos;
    }
}

impl Node for Host {
    type Event = Event;

    fn handle_frame(&mut self, now: Instant, _port: Port, frame: Frame) {
        self.patience.serve(now, None);
        self.receive(now, &frame);
    }

    fn handle_starvation(&mut self) {
        self.patience.note_starvation();
    }

    fn handle_timeout(&mut self, now: Instant) {
        let (interval, silence) = (self.config.ping_interval, self.config.silence);
        let deadline = |p: &Peer, patience: &Patience| p.deadline(interval, silence, patience);
        self.patience.serve(now, self.peers.values().filter_map(|p| deadline(p, &self.patience)).min());
        let due: Vec<_> = self
            .peers
            .iter()
            .filter(|(_, p)| deadline(p, &self.patience).is_some_and(|t| t <= now))
            .map(|(card, _)| *card)
            .collect();
        for card in due {
            self.watch(now, card);
        }
        let due: Vec<_> =
            self.loads.iter().filter(|(_, l)| l.deadline().is_some_and(|t| t <= now)).map(|(op, _)| *op).collect();
        for op in due {
            self.touch_load(op);
        }
        if self.gos.iter().any(|go| go.again_at <= now) {
            self.repeat_gos(now);
        }
        let late = |set: &BTreeSet<(Instant, OpId)>, now| set.first().filter(|(at, _)| *at <= now).map(|(_, op)| *op);
        while let Some(op) = late(&self.deadlines, now).or_else(|| late(&self.limits, self.patience.now())) {
            let card = self.ops.get(&op).and_then(|p| p.card).unwrap_or_default();
            self.give_up(now, op, OpError::Deadline { card });
        }
    }

    fn poll(&mut self, now: Instant) -> Option<Output<Event>> {
        if let Some(event) = self.events.pop_front() {
            return Some(Output::Event(event));
        }
        if !self.pacer.is_open(now) {
            return None;
        }
        if let Some(frame) = self.control.pop_front() {
            self.pacer.sent(now, frame.len());
            return Some(Output::Transmit(0, frame));
        }
        while let Some(source) = self.ready.pop_front() {
            let frame = match source {
                Source::Card(card) => {
                    let share = self.share();
                    let Some(peer) = self.peers.get_mut(&card) else { continue };
                    let frame = peer.session.as_mut().and_then(|s| s.next_frame(now, share));
                    peer.is_ready = frame.is_some();
                    frame
                }
                Source::Load(op) => {
                    let Some(loader) = self.loads.get_mut(&op) else { continue };
                    let before = loader.progress();
                    loader.set_patience(self.patience.now());
                    let frame = loader.next_frame(now);
                    self.tell_progress(op, before);
                    if frame.is_none() {
                        self.finish_silent_load(now, op);
                    }
                    frame
                }
            };
            if let Some(frame) = frame {
                self.ready.push_back(source);
                self.pacer.sent(now, frame.len());
                return Some(Output::Transmit(0, frame));
            }
            if let Some(event) = self.events.pop_front() {
                return Some(Output::Event(event));
            }
        }
        None
    }

    fn next_deadline(&self) -> Option<Instant> {
        let (interval, silence) = (self.config.ping_interval, self.config.silence);
        let wire = (!self.control.is_empty() || !self.ready.is_empty()).then(|| self.pacer.opens_at()).flatten();
        let peers = self.peers.values().filter_map(|p| p.deadline(interval, silence, &self.patience)).min();
        // Those that are ready wait for the wire only.
        let waiting = self.loads.iter().filter(|(op, _)| !self.ready.contains(&Source::Load(**op)));
        let loads = waiting.filter_map(|(_, l)| l.deadline()).min();
        let gos = self.gos.iter().map(|go| go.again_at).min();
        let ops = self.deadlines.first().map(|(at, _)| *at);
        let limits = self.limits.first().map(|(at, _)| self.patience.reaches(*at));
        [wire, peers, loads, gos, ops, limits].into_iter().flatten().min()
    }
}

impl Host {
    /// Tells each percent of a load's way, and each change of its phase.
    fn tell_progress(&mut self, op: OpId, before: (LoadPhase, u32, u32)) {
        let Some(loader) = self.loads.get(&op) else { return };
        let (phase, done, total) = loader.progress();
        let step = (total / 100).max(1);
        if phase != before.0 || done / step != before.1 / step {
            self.events.push_back(Event::LoadProgress { op, phase, done, total });
        }
    }

    /// A load that has nothing to send may have come to its end by giving up its last card.
    fn finish_silent_load(&mut self, now: Instant, op: OpId) {
        if self.loads.get(&op).is_some_and(Loader::is_over) {
            self.finish_load(now, op);
        }
    }
}
