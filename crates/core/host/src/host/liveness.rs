//! Whether cards live and claims hold, and what ends when they do not.

use rackloom_node::{Duration, Instant};
use rackloom_transport::PeerError;
use rackloom_wire::{BULK_STANDARD, Head, IntoBytes, Kind, MacAddr, Release, Scrub};

use super::Host;
use crate::error::{DownReason, OpError};
use crate::event::Event;
use crate::peer::PeerState;
use crate::session::Session;

impl Host {
    /// Serves a card's deadlines: silence, lease, requests, retransmissions. A card is taken for gone once
    /// `Peer::is_silent` says so, after `Config::silence`.
    pub(super) fn watch(&mut self, now: Instant, card: MacAddr) {
        self.ask_due(now, card);
        let (interval, silence) = (self.config.ping_interval, self.config.silence);
        let seq = self.next_seq;
        let peer = self.peers.get_mut(&card).expect("the caller has it");
        if let Some(session) = peer.session.as_mut() {
            session.handle_timeout(now);
            if session.is_blocked(self.patience.now()) {
                return self.lose_path(now, card);
            }
        }
        if peer.state == PeerState::Up && peer.is_silent(silence, &self.patience) {
            return self.down(now, card, DownReason::Silent);
        }
        if peer.watch_at(interval, silence, &self.patience).is_some_and(|t| t <= now) {
            peer.ping(now);
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
    pub(super) fn down(&mut self, now: Instant, card: MacAddr, reason: DownReason) {
        let peer = self.peers.get_mut(&card).expect("the caller has it");
        if peer.state == PeerState::Down {
            return;
        }
        peer.state = PeerState::Down;
        let requests = std::mem::take(&mut peer.requests);
        let why = OpError::Vanished { card: peer.name(), reason, seen: peer.last_seen(now) };
        if let Some(session) = peer.session.take() {
            self.end_session(now, card, session, &why);
        }
        for request in requests {
            self.complete(request.op, Err(why.clone()));
        }
        self.events.push_back(Event::CardDown { card, reason });
    }

    /// Two cards answer under this address: nothing that was asked there is certain.
    pub(super) fn contest(&mut self, now: Instant, card: MacAddr) {
        let peer = self.peers.get_mut(&card).expect("the caller has it");
        let why = OpError::AddressShared { card: peer.name() };
        let requests = std::mem::take(&mut peer.requests);
        if let Some(session) = peer.session.take() {
            self.end_session(now, card, session, &why);
        }
        for request in requests {
            self.complete(request.op, Err(why.clone()));
        }
        self.events.push_back(Event::AddressShared { card });
    }

    /// A card has started again, or another one has its address: then both answer. All are asked, since a switch brings
    /// what is for one address to one of them only; and seldom, since a rack may start again as a whole.
    pub(super) fn doubt(&mut self, now: Instant) {
        if now >= self.doubt_at {
            self.doubt_at = now + DOUBT_EVERY;
            self.solicit(now, DOUBT_WINDOW);
        }
    }

    pub(super) fn end_session(&mut self, now: Instant, card: MacAddr, mut session: Session, why: &OpError) {
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
    pub(super) fn lose_claim(&mut self, now: Instant, card: MacAddr) {
        let why = OpError::ClaimLost { card: self.name(card) };
        self.end_claim(now, card, &why);
    }

    /// The card has acknowledged what was never sent.
    pub(super) fn fall_out_of_step(&mut self, now: Instant, card: MacAddr, what: PeerError) {
        let why = OpError::OutOfStep { card: self.name(card), what };
        self.give_claim_up(now, card, &why);
    }

    /// Short frames come and go, long ones do not: the next claim does without.
    fn lose_path(&mut self, now: Instant, card: MacAddr) {
        let peer = self.peers.get_mut(&card).expect("the caller has it");
        peer.bulk_max = BULK_STANDARD;
        let bulk = peer.info.bulk.min(self.config.bulk);
        let why = OpError::Path { card: peer.name(), bulk };
        self.give_claim_up(now, card, &why);
    }

    /// The claim is given up on both sides. One release goes to the card; if it is lost, a new claim of this host takes
    /// the old one over, and for others the lease runs out.
    pub(super) fn give_claim_up(&mut self, now: Instant, card: MacAddr, why: &OpError) {
        let Some(epoch) = self.claim_epoch(card) else { return };
        self.end_claim(now, card, why);
        let (src, kind, seq) = (self.mac(), Kind::SessionRelease, self.seq());
        let body = Release { scrub: Scrub::Keep.into(), reserved: [0; 7] };
        self.send(Head { dst: card, src, kind, flags: 0, epoch, seq, addr: 0 }.frame(&[body.as_bytes()]));
    }

    /// The claim can be used no more, for this reason.
    fn end_claim(&mut self, now: Instant, card: MacAddr, why: &OpError) {
        if let Some(session) = self.peers.get_mut(&card).and_then(|p| p.session.take()) {
            self.end_session(now, card, session, why);
            self.events.push_back(Event::ClaimLost { card });
        }
    }

    /// Sends the requests to a card that are due.
    pub(super) fn ask_due(&mut self, now: Instant, card: MacAddr) {
        let mac = self.mac();
        let Some(peer) = self.peers.get_mut(&card) else { return };
        let due: Vec<_> = peer.requests.iter_mut().filter(|r| r.is_due(now)).map(|r| r.frame(now, mac, card)).collect();
        for frame in due {
            self.send(frame);
        }
    }
}

/// Shortest time between two questions to all cards whether one has started again, or another has its address.
const DOUBT_EVERY: Duration = Duration::from_secs(1);
/// Their answers are spread over this, as those of a search.
const DOUBT_WINDOW: Duration = Duration::from_millis(20);
