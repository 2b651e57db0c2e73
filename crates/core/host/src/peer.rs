//! A known card: what it announces, whether it is up, and the claim on it.

use rackloom_node::{Duration, Instant};

use crate::boots::Boots;
use crate::card_info::CardInfo;
use crate::error::{CardName, LastSeen};
use crate::event::OpId;
use crate::guard::Guard;
use crate::keys::Keys;
use crate::patience::Patience;
use crate::request::{Ask, Request};
use crate::session::Session;

/// Whether a card is up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeerState {
    /// It was heard lately.
    Up,
    /// It has said goodbye or was silent too long.
    Down,
}

#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) info: CardInfo,
    pub(crate) state: PeerState,
    pub(crate) boots: Boots,
    heard_at: Instant,
    /// The same by the clock of the host's patience.
    heard_by_patience: Instant,
    /// When it was last asked whether it lives.
    pinged_at: Instant,
    /// Pings since its last frame.
    pings: u32,
    pub(crate) session: Option<Session>,
    /// Of a card that this host has a key for.
    pub(crate) guard: Option<Guard>,
    pub(crate) requests: Vec<Request>,
    /// The newest epoch that this host was granted here, so that a restarted card grants another.
    pub(crate) last_epoch: u16,
    /// Most payload bytes of a frame that the path is known to take.
    pub(crate) bulk_max: u16,
    /// It stands in the host's queue of those with something to send.
    pub(crate) is_ready: bool,
}

impl Peer {
    pub(crate) fn new(info: CardInfo, now: Instant, patience: &Patience, next_seq: u32, keys: Option<&Keys>) -> Self {
        Self {
            guard: keys.and_then(|keys| Guard::new(keys.of(info.mac), keys.encrypts())),
            boots: Boots::new(info.boot, next_seq),
            info,
            state: PeerState::Up,
            heard_at: now,
            heard_by_patience: patience.now(),
            pinged_at: now,
            pings: 0,
            session: None,
            requests: Vec::new(),
            last_epoch: 0,
            bulk_max: u16::MAX,
            is_ready: false,
        }
    }

    /// The card has said something.
    pub(crate) const fn hear(&mut self, now: Instant, patience: &Patience) {
        (self.heard_at, self.heard_by_patience, self.pings) = (now, patience.now(), 0);
    }

    /// The card is pinged.
    pub(crate) const fn ping(&mut self, now: Instant) {
        self.pinged_at = now;
        self.pings = self.pings.saturating_add(1);
    }

    /// What messages call it.
    pub(crate) const fn name(&self) -> CardName {
        CardName { mac: self.info.mac, unit: Some(self.info.unit) }
    }

    /// The guard that this operation claims it under, if it was heard lately.
    pub(crate) fn claims_in_vain(&self, op: OpId, now: Instant, interval: Duration) -> Option<&Guard> {
        let claims = |r: &Request| r.op == op && matches!(r.ask, Ask::Claim { .. });
        let is_there = now - self.heard_at < interval * 3;
        self.guard.as_ref().filter(|_| is_there && self.requests.iter().any(claims))
    }

    /// What errors say of it when it does not answer.
    pub(crate) fn last_seen(&self, now: Instant) -> LastSeen {
        LastSeen { state: self.info.state, silent: now - self.heard_at, pings: self.pings }
    }

    /// Whether it has been silent for so long that it must be gone.
    pub(crate) fn is_silent(&self, silence: Duration, patience: &Patience) -> bool {
        patience.now() - self.heard_by_patience >= silence
    }

    /// When it has to be pinged, or given up, next. A claim is kept alive by a ping each third of its lease; an idle
    /// claim or an unclaimed card by one each ping interval of silence.
    pub(crate) fn watch_at(&self, interval: Duration, silence: Duration, patience: &Patience) -> Option<Instant> {
        if self.state == PeerState::Down {
            return None;
        }
        let quiet = self.heard_at.max(self.pinged_at) + interval;
        let lease = self.session.as_ref().map(|s| s.sent_at + s.lease / 3);
        let over = patience.reaches(self.heard_by_patience + silence);
        Some(lease.map_or(quiet, |l| l.min(quiet)).min(over))
    }

    /// The next time this peer needs the host's attention.
    pub(crate) fn deadline(&self, interval: Duration, silence: Duration, patience: &Patience) -> Option<Instant> {
        let watch = self.watch_at(interval, silence, patience);
        let requests = self.requests.iter().map(Request::deadline).min();
        let session = self.session.as_ref().and_then(Session::deadline);
        [watch, requests, session].into_iter().flatten().min()
    }
}
