//! Commands to a host: each begins an operation, which completes with one event.

use bytes::Bytes;
use rackloom_bridge::Window;
use rackloom_node::{Duration, Instant};
use rackloom_sign::Policy;
use rackloom_transport::Backoff;
use rackloom_wire::{
    CARDS, ErrorCode, Head, IMAGE_BYTES_MAX, IntoBytes, Kind, LAUNCH_ARGS, MacAddr, ROLE_PRIVATE, Scrub, Solicit, U32,
};

use super::Host;
use super::state::{Go, Place, Source};
use crate::card_info::CardInfo;
use crate::config::ClaimOptions;
use crate::error::{CardName, OpError};
use crate::event::{Event, OpId, Outcome};
use crate::guard::Guard;
use crate::launcher::Launch;
use crate::loader::{Commit, Loader};
use crate::peer::PeerState;
use crate::request::{Ask, Request};
use crate::session::Session;

/// Which of these cards may not have the image, each with the reason.
fn not_allowed(policy: &Policy, image: &[u8], members: &[(&CardInfo, u16)]) -> Vec<OpError> {
    let signature = rackloom_sign::signature_of(image);
    let name = |card: &CardInfo| CardName { mac: card.mac, unit: Some(card.unit) };
    let refused = |(card, _): &(&CardInfo, u16)| {
        let why = policy.admits(card.mac, card.unit, &signature).err()?;
        Some(OpError::NotAllowed { card: name(card), why })
    };
    members.iter().filter_map(refused).collect()
}

/// Largest read, and largest output region of a launch.
const TRANSFER_MAX: u64 = 1 << 32;

impl Host {
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
            let card = self.name(card);
            return self.failed(OpError::Refused { card, code: ErrorCode::Busy, detail: 0 });
        }
        let has_key = self.peers.get(&card).is_some_and(|p| p.guard.is_some());
        if self.has_keys() && self.card(card).is_some() && !has_key {
            return self.failed(OpError::NoKey { card: self.name(card) });
        }
        // Under a key the grant tells what the card is; before, anybody may have announced it.
        if let Some(what) = self.card(card).filter(|_| !has_key).and_then(CardInfo::absurdity) {
            return self.failed(OpError::Absurd { card: self.name(card), what });
        }
        if self.peers.get(&card).is_some_and(|p| p.boots.are_shared(now)) {
            let card = self.name(card);
            return self.failed(OpError::AddressShared { card });
        }
        let guard = self.peers.get_mut(&card).and_then(|p| p.guard.as_mut());
        let flags = guard.map_or(0, Guard::begin_claim);
        let (nonce, group) = (self.rng.next_u64(), self.group);
        let (epoch, most) = self.peers.get(&card).map_or((0, u16::MAX), |p| (p.last_epoch, p.bulk_max));
        let bulk = self.config.bulk.min(most) - self.tag_room();
        self.request(now, card, Ask::Claim { nonce, options, group, epoch, bulk, flags, renewals: 0 })
    }

    /// Gives a card back; with [`Scrub::Zero`] its memory is zeroed before anyone else can claim it. Operations under
    /// way on it fail with [`OpError::Cancelled`].
    pub fn release(&mut self, now: Instant, card: MacAddr, scrub: Scrub) -> OpId {
        let Some(session) = self.peers.get_mut(&card).and_then(|p| p.session.take()) else {
            return self.failed(OpError::NotClaimed { card: self.name(card) });
        };
        let epoch = session.ends.epoch;
        let why = OpError::Cancelled { card: self.name(card) };
        self.end_session(now, card, session, &why);
        self.request(now, card, Ask::Release { epoch, scrub })
    }

    /// Opens or closes window `number` of a claimed card's bridge, 0 to 15: what the window's peer may do with the
    /// card's memory or streams. It ends with the claim.
    pub fn set_window(&mut self, now: Instant, card: MacAddr, number: u16, window: Option<Window>) -> OpId {
        match self.peers.get(&card).and_then(|p| p.session.as_ref()).map(|s| s.ends.epoch) {
            None => self.failed(OpError::NotClaimed { card: self.name(card) }),
            Some(epoch) => self.request(now, card, Ask::Window { epoch, number, window }),
        }
    }

    /// Says where what the role of a claimed card sends on its stream goes: to a stream of another node of the bridge,
    /// or nowhere. It ends with the claim.
    pub fn set_route(&mut self, now: Instant, card: MacAddr, stream: u16, to: Option<(MacAddr, u16)>) -> OpId {
        match self.peers.get(&card).and_then(|p| p.session.as_ref()).map(|s| s.ends.epoch) {
            None => self.failed(OpError::NotClaimed { card: self.name(card) }),
            Some(epoch) => self.request(now, card, Ask::Route { epoch, stream, to }),
        }
    }

    /// Asks for a card's counters. Needs no claim.
    pub fn counters(&mut self, now: Instant, card: MacAddr) -> OpId {
        self.request(now, card, Ask::Counters { got: Vec::new() })
    }

    /// Asks for the manifest of a card's active image. Needs no claim.
    pub fn manifest(&mut self, now: Instant, card: MacAddr) -> OpId {
        self.request(now, card, Ask::Manifest { got: Vec::new() })
    }

    /// Loads an image into these cards, all at once. Each must be claimed and not be in another load.
    pub fn load(&mut self, now: Instant, cards: &[MacAddr], image: Bytes, commit: Commit) -> OpId {
        let first = cards.first().copied().unwrap_or_default();
        if image.is_empty() || image.len() as u64 > IMAGE_BYTES_MAX {
            let (code, detail) = (ErrorCode::ImageTooLarge, IMAGE_BYTES_MAX);
            return self.failed(OpError::Refused { card: self.name(first), code, detail });
        }
        let mut members = Vec::new();
        for card in cards {
            if self.loads.values().any(|l| l.awaits(*card)) {
                let card = self.name(*card);
                return self.failed(OpError::Refused { card, code: ErrorCode::Busy, detail: 0 });
            }
            match self.peers.get(card).map(|p| (p, p.session.as_ref())) {
                Some((p, Some(s))) => members.push((&p.info, s.ends.epoch)),
                _ => return self.failed(OpError::NotClaimed { card: self.name(*card) }),
            }
        }
        if members.is_empty() {
            return self.failed(OpError::UnknownCard { card: self.name(first) });
        }
        let not_allowed = match &self.config.policy {
            Some(policy) => not_allowed(policy, &image, &members),
            None => Vec::new(),
        };
        members.retain(|(card, _)| not_allowed.iter().all(|why| why.card() != card.mac));
        // Two: the load may have to begin anew.
        let seq = self.next_seq;
        self.next_seq = self.next_seq.wrapping_add(2);
        let group = loop {
            let group = 1 + self.rng.below(u64::from(u16::MAX)) as u16;
            if group != self.group && self.loads.values().all(|l| l.group != group) {
                break group;
            }
        };
        self.patience.serve(now);
        let op = OpId(self.next_op);
        self.next_op += 1;
        let mut loader = Loader::new(op, now, self.patience.now(), &self.config, group, seq, image, &members, commit);
        let first = members.first().and_then(|(card, _)| self.peers.get(&card.mac)?.guard.as_ref()?.images());
        first.into_iter().for_each(|images| loader.encrypt(images));
        loader.leave_out(not_allowed);
        self.ops.insert(op, Place { card: None, begun: now, deadline: None, limit: None });
        self.loads.insert(op, loader);
        self.ready.push_back(Source::Load(op));
        op
    }

    /// Writes bytes to a claimed card's memory.
    pub fn write(&mut self, now: Instant, card: MacAddr, addr: u64, data: Bytes) -> OpId {
        // The card checks this too, but a refusal of a write can be lost where its acknowledgement is not.
        if let Some(why) = self.out_of_memory(card, addr, data.len() as u64) {
            return self.failed(why);
        }
        match self.begin(now, card) {
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
    pub fn read(&mut self, now: Instant, card: MacAddr, addr: u64, len: u64) -> OpId {
        if len > TRANSFER_MAX {
            let card = self.name(card);
            return self.failed(OpError::Refused { card, code: ErrorCode::BadRequest, detail: TRANSFER_MAX });
        }
        if let Some(why) = self.out_of_memory(card, addr, len) {
            return self.failed(why);
        }
        match self.begin(now, card) {
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
    pub fn launch(&mut self, now: Instant, card: MacAddr, launch: Launch) -> OpId {
        if launch.args.len() > LAUNCH_ARGS as usize || launch.output.1 > TRANSFER_MAX {
            return self.failed(OpError::Refused {
                card: self.name(card),
                code: ErrorCode::BadArguments,
                detail: u64::from(LAUNCH_ARGS),
            });
        }
        match self.begin(now, card) {
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
        let timer = Backoff::sent(now, self.config.rto_min, self.config.rto_max);
        self.gos.push(Go { number, timer });
        self.send_go(number);
    }

    /// Lets an operation fail with [`OpError::Deadline`] if it has not completed by then.
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

    /// Cancels an operation: it completes with [`OpError::Cancelled`]. A launch that the card has accepted is
    /// cancelled there.
    pub fn cancel(&mut self, now: Instant, op: OpId) {
        let Some(place) = self.ops.get(&op) else { return };
        let card = place.card.unwrap_or_default();
        self.give_up(now, op, OpError::Cancelled { card: self.name(card) });
    }

    /// Why a range is not inside the memory that a host may address on this card.
    pub(super) fn out_of_memory(&self, card: MacAddr, addr: u64, len: u64) -> Option<OpError> {
        let memory = self.card(card)?.memory;
        let inside = addr >= ROLE_PRIVATE && addr.checked_add(len).is_some_and(|end| end <= memory);
        let card = self.name(card);
        (!inside && len > 0).then_some(OpError::Refused { card, code: ErrorCode::BadAddress, detail: memory })
    }

    pub(super) fn begin(&mut self, now: Instant, card: MacAddr) -> Result<(OpId, &mut Session), OpId> {
        if self.peers.get(&card).is_none_or(|p| p.session.is_none()) {
            return Err(self.failed(OpError::NotClaimed { card: self.name(card) }));
        }
        let op = self.new_op(now, card);
        let session = self.peers.get_mut(&card).and_then(|p| p.session.as_mut()).expect("just seen");
        Ok((op, session))
    }

    pub(super) fn request(&mut self, now: Instant, card: MacAddr, ask: Ask) -> OpId {
        if self.peers.get(&card).is_none_or(|p| p.state == PeerState::Down) {
            return self.failed(OpError::UnknownCard { card: self.name(card) });
        }
        let (op, seq) = (self.new_op(now, card), self.seq());
        self.patience.serve(now);
        let memory = if ask.zeroes() { self.card(card).map_or(0, |info| info.memory) } else { 0 };
        let zeroing = Duration::from_millis(memory / ZEROED_PER_MS);
        let limit = self.patience.now() + self.config.control_timeout + zeroing;
        self.limits.insert((limit, op));
        self.ops.get_mut(&op).expect("just made").limit = Some(limit);
        let (wait, wait_max) = (self.config.rto_min * 2, self.config.rto_max);
        let request = Request::new(op, seq, ask, now, wait, wait_max);
        self.peers.get_mut(&card).expect("just seen").requests.push(request);
        self.ask_due(now, card);
        op
    }

    pub(super) fn new_op(&mut self, now: Instant, card: MacAddr) -> OpId {
        let op = self.op_id();
        self.ops.insert(op, Place { card: Some(card), begun: now, deadline: None, limit: None });
        op
    }

    const fn op_id(&mut self) -> OpId {
        let op = OpId(self.next_op);
        self.next_op += 1;
        op
    }

    pub(super) fn failed(&mut self, why: OpError) -> OpId {
        let op = self.op_id();
        self.events.push_back(Event::Completed { op, result: Err(why) });
        op
    }

    pub(super) fn complete(&mut self, op: OpId, result: Result<Outcome, OpError>) {
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

    /// A load has ended. Where a card was given up, its error says what was seen of it.
    pub(super) fn complete_load(&mut self, now: Instant, op: OpId, loader: Loader) {
        let mut report = loader.report(now);
        for (card, result) in &mut report.cards {
            if let Err(OpError::Deadline { seen, .. } | OpError::Stalled { seen, .. }) = result {
                *seen = self.peers.get(card).map(|p| p.last_seen(now));
            }
        }
        self.complete(op, Ok(Outcome::Loaded(report)));
    }

    /// An operation ends before its time, by its owner's wish or its deadline.
    pub(super) fn give_up(&mut self, now: Instant, op: OpId, why: OpError) {
        let Some(Place { card, .. }) = self.ops.get(&op).copied() else { return };
        match card {
            None => {
                if let Some(loader) = self.loads.remove(&op) {
                    self.send_to_each(loader.abort(), &loader.cards());
                    self.complete_load(now, op, loader);
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
}

/// Bytes of memory that any card zeroes in a millisecond: 256 MB/s. Meanwhile it answers pings.
const ZEROED_PER_MS: u64 = 256_000;
