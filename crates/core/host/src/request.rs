//! Requests that one frame asks and one frame answers: claims, releases, windows, counters, manifests.

use rackloom_bridge::Window;
use rackloom_node::{Duration, Frame, Instant};
use rackloom_transport::Backoff;
use rackloom_wire::{self as wire, BEAT, Claim, Head, IntoBytes, Kind, MacAddr, Release, Scrub, U16, U32, U64};

use crate::config::ClaimOptions;
use crate::event::OpId;

/// A question, repeated until it is answered or its deadline has passed.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) op: OpId,
    pub(crate) seq: u32,
    pub(crate) ask: Ask,
    timer: Backoff,
}

/// What is asked.
#[derive(Debug)]
pub(crate) enum Ask {
    /// `renewals`: how often the nonce was spent and another was drawn; `flags`: of the frame.
    Claim {
        nonce: u64,
        options: ClaimOptions,
        group: u16,
        epoch: u16,
        bulk: u16,
        flags: u8,
        renewals: u8,
    },
    Release {
        epoch: u16,
        scrub: Scrub,
    },
    Window {
        epoch: u16,
        number: u16,
        window: Option<Window>,
    },
    Route {
        epoch: u16,
        stream: u16,
        to: Option<(MacAddr, u16)>,
    },
    Counters {
        got: Vec<u64>,
    },
    Manifest {
        got: Vec<u8>,
    },
}

impl Ask {
    /// Whether the answer comes when memory is zeroed.
    pub(crate) const fn zeroes(&self) -> bool {
        match self {
            Self::Claim { options: ClaimOptions { scrub, .. }, .. } | Self::Release { scrub, .. } => {
                matches!(scrub, Scrub::Zero)
            }
            Self::Window { .. } | Self::Route { .. } | Self::Counters { .. } | Self::Manifest { .. } => false,
        }
    }
}

impl Request {
    pub(crate) fn new(op: OpId, seq: u32, ask: Ask, now: Instant, wait: Duration, wait_max: Duration) -> Self {
        Self { op, seq, ask, timer: Backoff::due(now, wait, wait_max) }
    }

    /// True when it has to be sent, for the first time or again.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.timer.is_due(now)
    }

    pub(crate) const fn deadline(&self) -> Instant {
        self.timer.deadline()
    }

    /// An answer to a part has come: ask for the next part, under a new number.
    pub(crate) const fn next_part(&mut self, now: Instant, seq: u32) {
        self.seq = seq;
        self.timer.expedite(now);
    }

    /// The card says that the claim asked for is over, though nobody here has had it: its grant was lost, and its lease
    /// has run out meanwhile. Asks anew. False if that has happened too often.
    pub(crate) const fn renew(&mut self, now: Instant, seq: u32, fresh: u64) -> bool {
        match &mut self.ask {
            Ask::Claim { nonce, renewals, .. } if *renewals < RENEWALS_MAX => {
                (*nonce, *renewals) = (fresh, *renewals + 1);
                self.next_part(now, seq);
                true
            }
            _ => false,
        }
    }

    /// The frame that asks; the time until it is asked again begins.
    pub(crate) fn frame(&mut self, now: Instant, host: MacAddr, card: MacAddr) -> Frame {
        self.timer.resent(now);
        let head = |kind, epoch, addr| Head { dst: card, src: host, kind, flags: 0, epoch, seq: self.seq, addr };
        match &self.ask {
            Ask::Claim { nonce, options, group, epoch, bulk, flags, .. } => {
                let body = Claim {
                    nonce: U64::new(*nonce),
                    lease_ms: U32::new(u32::try_from(options.lease.as_millis()).unwrap_or(u32::MAX)),
                    group: U16::new(*group),
                    scrub: options.scrub.into(),
                    beats: u8::try_from(bulk / BEAT).expect("at most 140"),
                };
                Head { flags: *flags, ..head(Kind::SessionClaim, *epoch, 0) }.frame(&[body.as_bytes()])
            }
            Ask::Release { epoch, scrub } => {
                let body = Release { scrub: (*scrub).into(), reserved: [0; 7] };
                head(Kind::SessionRelease, *epoch, 0).frame(&[body.as_bytes()])
            }
            Ask::Window { epoch, number, window } => {
                let body = wire::Window {
                    base: U64::new(window.map_or(0, |w| w.base)),
                    length: U64::new(window.map_or(0, |w| w.length)),
                    peer: window.map_or(MacAddr::ZERO, |w| w.peer),
                    rights: window.map_or(0, |w| w.rights.bits()),
                    reserved: 0,
                };
                head(Kind::SessionWindowSet, *epoch, u64::from(*number)).frame(&[body.as_bytes()])
            }
            Ask::Route { epoch, stream, to } => {
                let (peer, there) = to.unwrap_or_default();
                let body = wire::Route { peer, stream: U16::new(there) };
                head(Kind::SessionRouteSet, *epoch, u64::from(*stream)).frame(&[body.as_bytes()])
            }
            Ask::Counters { got } => head(Kind::SessionCountersGet, 0, got.len() as u64).frame(&[]),
            Ask::Manifest { got } => head(Kind::SessionManifestGet, 0, got.len() as u64).frame(&[]),
        }
    }
}

/// Nonces that a claim may use up: a card that refuses them all would be asked as fast as it answers.
const RENEWALS_MAX: u8 = 3;
