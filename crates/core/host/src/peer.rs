//! A known card: what it announces, whether it is up, and the claim on it.

use rackloom_node::{Duration, Instant};

use crate::card_info::CardInfo;
use crate::request::Request;
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
    pub(crate) heard_at: Instant,
    /// When it was last asked whether it lives.
    pub(crate) pinged_at: Instant,
    pub(crate) session: Option<Session>,
    pub(crate) requests: Vec<Request>,
    /// The newest epoch that this host was granted here, so that a restarted card grants another.
    pub(crate) last_epoch: u16,
    /// It stands in the host's queue of those with something to send.
    pub(crate) is_ready: bool,
}

impl Peer {
    pub(crate) const fn new(info: CardInfo, now: Instant) -> Self {
        Self {
            info,
            state: PeerState::Up,
            heard_at: now,
            pinged_at: now,
            session: None,
            requests: Vec::new(),
            last_epoch: 0,
            is_ready: false,
        }
    }

    /// When it has to be pinged, or given up, next. A claim is kept alive by a ping each third of its lease; an idle
    /// claim or an unclaimed card by one each ping interval of silence.
    pub(crate) fn watch_at(&self, interval: Duration, silence: Duration) -> Option<Instant> {
        if self.state == PeerState::Down {
            return None;
        }
        let quiet = self.heard_at.max(self.pinged_at) + interval;
        let lease = self.session.as_ref().map(|s| s.sent_at + s.lease / 3);
        let over = self.heard_at + silence;
        Some(lease.map_or(quiet, |l| l.min(quiet)).min(over))
    }

    /// The next time this peer needs the host's attention.
    pub(crate) fn deadline(&self, interval: Duration, silence: Duration) -> Option<Instant> {
        let watch = self.watch_at(interval, silence);
        let requests = self.requests.iter().map(Request::deadline).min();
        let session = self.session.as_ref().and_then(Session::deadline);
        [watch, requests, session].into_iter().flatten().min()
    }
}
