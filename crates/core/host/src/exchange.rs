//! One piece of work on a fixed set of cards that fetch from each other what they need.
//!
//! Unlike a [`Job`](crate::Job), whose tiles may be computed anywhere, each card holds a part that no other has: the
//! work ends well with all of its cards, or it fails and says which of them was the reason. The host opens windows and
//! routes, writes what the cards begin with, launches, and reads results; what cards fetch from each other it never
//! sees.

use std::collections::BTreeMap;

use bytes::Bytes;
use rackloom_bridge::{Rights, Window};
use rackloom_node::Instant;
use rackloom_wire::{IMAGE_BYTES_MAX, MacAddr, Scrub};

use crate::config::ClaimOptions;
use crate::error::{OpError, PeerFault};
use crate::event::{Event, LaunchReport, OpId, Outcome};
use crate::host::Host;
use crate::launcher::Launch;
use crate::loader::Commit;

/// What one card does.
#[derive(Debug, Clone, Default)]
pub struct Share {
    /// What its memory holds at the beginning: addresses and bytes.
    pub writes: Vec<(u64, Bytes)>,
    /// What the others may read of it: first address and bytes.
    pub open: (u64, u64),
    /// Its launches, one in each step; all cards have as many. A step begins when the one before has ended on all.
    pub steps: Vec<Step>,
    /// Where its result lies: first address and bytes.
    pub output: (u64, u64),
}

/// A launch, and whose memory it reads.
#[derive(Debug, Clone)]
pub struct Step {
    /// The launch. Its kernel returns 0, or what went wrong and where: one more than the other card's place among the
    /// shares, times 256, plus a fault of `rackloom.h`.
    pub launch: Launch,
    /// The place of the card to which each stream leads, from stream 0 on, and 16 at most. No card may be in the lists
    /// of more than 16 others.
    pub peers: Vec<usize>,
}

/// Progress of an exchange.
#[derive(Debug, Clone, PartialEq)]
pub enum ExchangeEvent {
    /// All cards are claimed, have opened their windows and run the image.
    Ready,
    /// All cards hold what they begin with.
    Written,
    /// A card's launch has ended well.
    Step {
        /// Place of the card.
        place: usize,
        /// Its execution.
        report: LaunchReport,
    },
    /// All steps are over; the results lie in the cards.
    Computed,
    /// A card's result.
    Output {
        /// Place of the card.
        place: usize,
        /// The bytes.
        data: Bytes,
    },
    /// All results have been read.
    Finished,
    /// It has failed; no result counts.
    Failed(OpError),
}

/// An exchange under way. Feed it each [`Event`] of its host.
#[derive(Debug)]
pub struct Exchange {
    image: Bytes,
    digest: [u8; 32],
    cards: Vec<MacAddr>,
    shares: Vec<Share>,
    phase: Phase,
    /// Operations under way, and the place of the card of each.
    ops: BTreeMap<OpId, usize>,
    /// Windows and routes that the step before has left, by card.
    left: Vec<(usize, usize)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Claim,
    /// Windows and routes of this step.
    Open(usize),
    Load,
    Write,
    Run(usize),
    Read,
    Over,
}

impl Exchange {
    /// Starts: the shares are the cards', in their order.
    ///
    /// # Panics
    /// If the image is larger than any card takes, there are no cards or not as many shares, no steps or not as many on
    /// each card, or a step needs more than 16 windows or streams.
    pub fn start(
        now: Instant,
        host: &mut Host,
        image: Bytes,
        shares: Vec<(MacAddr, Share)>,
        claim: ClaimOptions,
    ) -> Self {
        assert!(image.len() as u64 <= IMAGE_BYTES_MAX);
        let (cards, shares): (Vec<_>, Vec<_>) = shares.into_iter().unzip();
        let steps = shares.first().map_or(0, |share: &Share| share.steps.len());
        assert!(steps > 0 && shares.iter().all(|share| share.steps.len() == steps), "each card has each step");
        let mut exchange = Self {
            digest: *blake3::hash(&image).as_bytes(),
            image,
            left: vec![(0, 0); cards.len()],
            cards,
            shares,
            phase: Phase::Claim,
            ops: BTreeMap::new(),
        };
        for place in 0..exchange.cards.len() {
            let op = host.claim(now, exchange.cards[place], claim);
            exchange.ops.insert(op, place);
        }
        exchange
    }

    /// Its cards, by place.
    pub fn cards(&self) -> &[MacAddr] {
        &self.cards
    }

    /// Gives all cards back, whether it is over or not, and with them all windows and routes. The releases are the
    /// host's operations from here on.
    pub fn release(&mut self, now: Instant, host: &mut Host) -> Vec<OpId> {
        self.phase = Phase::Over;
        for op in std::mem::take(&mut self.ops).into_keys() {
            host.cancel(now, op);
        }
        let held: Vec<_> = self.cards.iter().copied().filter(|c| host.claim_epoch(*c).is_some()).collect();
        held.into_iter().map(|c| host.release(now, c, Scrub::Keep)).collect()
    }

    /// Goes on after an event of the host.
    pub fn handle(&mut self, now: Instant, host: &mut Host, event: &Event) -> Vec<ExchangeEvent> {
        let mut out = Vec::new();
        if self.phase == Phase::Over {
            return out;
        }
        match event {
            Event::Completed { op, result } => {
                let Some(place) = self.ops.remove(op) else { return out };
                match result {
                    Err(why) => self.fail(why.clone(), &mut out),
                    Ok(outcome) => self.note(host, place, outcome, &mut out),
                }
            }
            // Its memory is gone or another's, also if nothing of this work was under way there.
            Event::ClaimLost { card } if self.cards.contains(card) => {
                self.fail(OpError::ClaimLost { card: host.name(*card) }, &mut out);
            }
            Event::CardDown { card, .. } if self.cards.contains(card) => {
                self.fail(OpError::UnknownCard { card: host.name(*card) }, &mut out);
            }
            _ => {}
        }
        while self.ops.is_empty() && self.phase != Phase::Over {
            self.advance(now, host, &mut out);
        }
        out
    }

    fn fail(&mut self, why: OpError, out: &mut Vec<ExchangeEvent>) {
        self.phase = Phase::Over;
        out.push(ExchangeEvent::Failed(why));
    }

    /// An operation has ended well.
    fn note(&mut self, host: &Host, place: usize, outcome: &Outcome, out: &mut Vec<ExchangeEvent>) {
        match outcome {
            Outcome::Loaded(report) => {
                if let Some(why) = report.fault() {
                    self.fail(why.clone(), out);
                }
            }
            Outcome::Launched(report) if report.value != 0 => {
                let at = usize::try_from((report.value >> 8).wrapping_sub(1)).ok();
                let peer = at.and_then(|at| self.cards.get(at)).map_or(self.cards[place], |card| *card);
                let fault = PeerFault::of(report.value & 0xff);
                let (card, peer) = (host.name(self.cards[place]), host.name(peer));
                self.fail(OpError::Peer { card, peer, fault }, out);
            }
            Outcome::Launched(report) => out.push(ExchangeEvent::Step { place, report: report.clone() }),
            Outcome::Data(data) => out.push(ExchangeEvent::Output { place, data: data.clone() }),
            _ => {}
        }
    }

    /// Nothing is under way: the next phase begins.
    fn advance(&mut self, now: Instant, host: &mut Host, out: &mut Vec<ExchangeEvent>) {
        let steps = self.shares[0].steps.len();
        self.phase = match self.phase {
            // Before the load, so that a card without a bridge is found out at once.
            Phase::Claim => Phase::Open(0),
            Phase::Open(0) => Phase::Load,
            Phase::Open(step) => Phase::Run(step),
            Phase::Load => {
                out.push(ExchangeEvent::Ready);
                Phase::Write
            }
            Phase::Write => {
                out.push(ExchangeEvent::Written);
                Phase::Run(0)
            }
            Phase::Run(step) if step + 1 < steps => Phase::Open(step + 1),
            Phase::Run(_) => {
                out.push(ExchangeEvent::Computed);
                Phase::Read
            }
            Phase::Read => {
                out.push(ExchangeEvent::Finished);
                Phase::Over
            }
            Phase::Over => return,
        };
        match self.phase {
            Phase::Open(step) => self.open(now, host, step),
            Phase::Load => self.load(now, host),
            Phase::Write => self.each(|exchange, place| {
                let (card, writes) = (exchange.cards[place], std::mem::take(&mut exchange.shares[place].writes));
                writes.into_iter().map(|(at, data)| host.write(now, card, at, data)).collect()
            }),
            Phase::Run(step) => self.each(|exchange, place| {
                vec![host.launch(now, exchange.cards[place], exchange.shares[place].steps[step].launch.clone())]
            }),
            Phase::Read => self.each(|exchange, place| {
                let (addr, bytes) = exchange.shares[place].output;
                vec![host.read(now, exchange.cards[place], addr, bytes)]
            }),
            Phase::Claim | Phase::Over => {}
        }
    }

    fn each(&mut self, mut begin: impl FnMut(&mut Self, usize) -> Vec<OpId>) {
        for place in 0..self.cards.len() {
            let ops = begin(self, place);
            self.ops.extend(ops.into_iter().map(|op| (op, place)));
        }
    }

    /// Sets the windows and routes of a step, and closes what only the step before has needed.
    fn open(&mut self, now: Instant, host: &mut Host, step: usize) {
        let peers = |place: usize| &self.shares[place].steps[step].peers;
        let readers = |place: usize| (0..self.cards.len()).filter(move |reader| peers(*reader).contains(&place));
        let mut ops = Vec::new();
        let mut set = Vec::new();
        for (place, &card) in self.cards.iter().enumerate() {
            let (base, length) = self.shares[place].open;
            let windows = readers(place).map(|reader| {
                Some(Window { base, length, peer: self.cards[reader], rights: Rights::READ }).filter(|w| w.length > 0)
            });
            let windows: Vec<_> = windows.collect();
            let routes: Vec<_> = peers(place).iter().map(|peer| Some((self.cards[*peer], 0))).collect();
            let (windows_before, routes_before) = self.left[place];
            set.push((windows.len(), routes.len()));
            let closed = |have: usize, before: usize| before.saturating_sub(have);
            let nowhere = closed(routes.len(), routes_before);
            let shut = closed(windows.len(), windows_before);
            for (number, window) in windows.into_iter().chain((0..shut).map(|_| None)).enumerate() {
                ops.push((host.set_window(now, card, number as u16, window), place));
            }
            for (stream, route) in routes.into_iter().chain((0..nowhere).map(|_| None)).enumerate() {
                ops.push((host.set_route(now, card, stream as u16, route), place));
            }
        }
        self.left = set;
        self.ops.extend(ops);
    }

    /// Loads the image into the cards that have another.
    fn load(&mut self, now: Instant, host: &mut Host) {
        let has = |card: &MacAddr| host.card(*card).is_some_and(|info| info.digest == Some(self.digest));
        let cards: Vec<_> = self.cards.iter().copied().filter(|card| !has(card)).collect();
        if !cards.is_empty() {
            self.ops.insert(host.load(now, &cards, self.image.clone(), Commit::AllOrNone), 0);
        }
    }
}
