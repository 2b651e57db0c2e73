//! Claims cards, and claims them again when they were lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use rackloom_client::{
    CardInfo, ClaimOptions, Error, Event, MacAddr, NetSpec, OpError, Rack, RackOptions, Scrub, Watch,
};
use rackloom_wire::CardKind;

use super::board::CardBoard;
use super::claim::Card;
use super::consent::Consent;
use super::info;
use crate::metrics::Metrics;

/// How cards are shared.
#[derive(Debug, Clone, Copy)]
pub struct CardOptions {
    /// Each card has one tenant at a time, and is zeroed before the next.
    pub exclusive: bool,
    /// Longest that a kernel, a load or a transfer of a piece may take; what takes longer is called off.
    pub deadline: Duration,
}

/// The cards of a segment that this manager has. They are zeroed and given back when it is dropped.
pub struct CardRack {
    rack: Arc<Rack>,
    cards: Vec<Arc<Card>>,
    stop: Arc<AtomicBool>,
    keeper: Option<JoinHandle<()>>,
}

/// How long to look for cards.
const DISCOVERY: Duration = Duration::from_secs(1);

/// How long to try to claim cards at the start: a manager that was killed has its cards until its lease is over, and a
/// slow card takes a while to zero itself.
const PATIENCE: Duration = Duration::from_secs(10);

/// How soon a loss or a retirement is seen to.
const TICK: Duration = Duration::from_millis(50);

/// Time between attempts to claim a card that another host has.
const RETRY: Duration = Duration::from_millis(500);

impl std::fmt::Debug for CardRack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.cards.iter().map(|card| card.mac)).finish()
    }
}

impl CardRack {
    /// Claims all cards of a segment.
    ///
    /// # Errors
    /// The segment cannot be attached to; no card answers, or none can be claimed.
    pub fn connect(net: &NetSpec, options: CardOptions, metrics: &Metrics) -> anyhow::Result<(Self, Vec<CardBoard>)> {
        let more = RackOptions { jumbo: true, deadline: options.deadline, ..RackOptions::default() };
        let rack = Rack::connect(net, more).map_err(|why| {
            let help = why.help().map(|help| format!("; {help}")).unwrap_or_default();
            anyhow::Error::new(why).context(format!("cannot reach the cards on {net}{help}"))
        })?;
        Self::claim(rack, options, metrics).with_context(|| format!("no card to share on {net}"))
    }

    /// Claims all cards that a host of ours sees.
    ///
    /// # Errors
    /// No card answers, or none can be claimed.
    pub fn claim(rack: Rack, options: CardOptions, metrics: &Metrics) -> anyhow::Result<(Self, Vec<CardBoard>)> {
        let watch = rack.watch()?;
        let mut found = rack.discover(DISCOVERY)?;
        found.sort_by_key(|card| (card.unit, card.mac));
        if found.is_empty() {
            bail!("none answered; plug one in with `rackloom card add`, and see `rackloom ls`");
        }
        let rack = Arc::new(rack);
        let until = Instant::now() + PATIENCE;
        let (mut cards, mut boards) = (Vec::new(), Vec::new());
        for card in &found {
            let name = name(card, &found);
            let zeroes = match claim_first(&rack, card, options.exclusive, until, &name) {
                Ok(zeroes) => zeroes,
                Err(why) => {
                    eprintln!("rackloom-manager: {name} is left out: {why}");
                    continue;
                }
            };
            let counted = metrics.reconfigurations(&name);
            let shared = Card::new(Arc::clone(&rack), card, name.clone(), options.exclusive, zeroes, counted);
            let shared = Arc::new(shared);
            shared.claimed(card.memory);
            cards.push(Arc::clone(&shared));
            boards.push(CardBoard { card: shared, info: info::board(card, &name), tenants: AtomicU64::new(1) });
        }
        if boards.is_empty() {
            bail!("none of the {} that answered could be claimed", found.len());
        }
        // What happened while cards were claimed is over. A loss in this moment is noticed by the first operation.
        while watch.next_within(Duration::ZERO).is_some() {}
        let stop = Arc::new(AtomicBool::new(false));
        let keeper = Keeper { rack: Arc::clone(&rack), cards: cards.clone(), stop: Arc::clone(&stop) };
        let thread = std::thread::Builder::new().name("card-keeper".into()).spawn(move || keeper.run(&watch));
        let keeper = Some(thread.context("cannot start a thread")?);
        Ok((Self { rack, cards, stop, keeper }, boards))
    }

    /// The registry's consent to reconfigurations of a card, if there is one of this name.
    pub(crate) fn consent(&self, name: &str) -> Option<Arc<Consent>> {
        self.cards.iter().find(|card| card.name == name).map(|card| Arc::clone(&card.consent))
    }
}

impl Drop for CardRack {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(keeper) = self.keeper.take() {
            let _ = keeper.join();
        }
        let held: Vec<_> = self.cards.iter().filter(|card| card.is_claimed()).collect();
        held.iter().for_each(|card| card.lost());
        let held: Vec<MacAddr> = held.iter().map(|card| card.mac).collect();
        // A card that does not answer is free when its lease is over.
        let _ = self.rack.release(&held, Scrub::Zero).wait();
    }
}

/// What looks after the cards.
struct Keeper {
    rack: Arc<Rack>,
    cards: Vec<Arc<Card>>,
    stop: Arc<AtomicBool>,
}

impl Keeper {
    fn run(&self, watch: &Watch) {
        let mut tried: Option<Instant> = None;
        while !self.stop.load(Ordering::Acquire) {
            if let Some(event) = watch.next_within(TICK) {
                self.heed(&event);
            }
            // Asked of the host's thread, which by then has told what it knew; so no loss is taken for one of a later
            // claim.
            let Ok(up) = self.rack.cards() else {
                self.cards.iter().for_each(|card| card.lost());
                return; // The segment is gone, and no host of ours is there any more.
            };
            while let Some(event) = watch.next_within(Duration::ZERO) {
                self.heed(&event);
            }
            for card in self.cards.iter().filter(|card| !card.is_claimed()) {
                let Some(info) = up.iter().find(|info| info.mac == card.mac) else { continue };
                if card.is_retired() || tried.is_none_or(|at| at.elapsed() >= RETRY) {
                    self.claim_again(card, info);
                    tried = Some(Instant::now());
                }
            }
        }
    }

    fn heed(&self, event: &Event) {
        let (Event::CardDown { card, .. } | Event::ClaimLost { card }) = event else { return };
        self.cards.iter().filter(|c| c.mac == *card).for_each(|c| c.lost());
    }

    fn claim_again(&self, card: &Card, info: &CardInfo) {
        if card.is_retired() {
            // The kernels of the tenant that has left are called off with the claim.
            let _ = self.rack.release(&[card.mac], Scrub::Keep).wait();
        }
        if claim(&self.rack, card.mac, card.zeroes).is_ok() {
            card.claimed(info.memory);
        }
    }
}

/// Claims a card, and may have it zeroed.
fn claim(rack: &Rack, card: MacAddr, zero: bool) -> Result<(), Error> {
    let scrub = if zero { Scrub::Zero } else { Scrub::Keep };
    rack.claim(&[card], ClaimOptions { scrub, ..ClaimOptions::default() }).wait_all().map(|_| ())
}

/// Claims a card at the start, until this time; whether it was zeroed. Gateware in a simulator would take a minute for
/// that, and is left as it is, as is one that takes so long as to be given up: their memory is cleared by us, piece by
/// piece. Not so if the card is to be exclusive, for then nothing at all may stay.
fn claim_first(rack: &Rack, card: &CardInfo, is_exclusive: bool, until: Instant, name: &str) -> Result<bool, Error> {
    let (mut zero, mut told) = (is_exclusive || card.kind != CardKind::Rtl, false);
    loop {
        let why = match claim(rack, card.mac, zero) {
            Ok(()) => return Ok(zero),
            Err(why) => why,
        };
        match &why {
            _ if Instant::now() >= until => return Err(why),
            Error::Op(OpError::Claimed { .. }) => {}
            Error::Op(OpError::Vanished { .. } | OpError::Deadline { .. }) if !is_exclusive => zero = false,
            Error::Op(OpError::UnknownCard { .. }) if !zero => {} // It is still at it.
            _ => return Err(why),
        }
        if !std::mem::replace(&mut told, true) {
            eprintln!("rackloom-manager: waiting for {name}: {why}");
        }
        std::thread::sleep(RETRY);
    }
}

/// What people call a card: by its number in the rack where that is unique, else by its address.
fn name(card: &CardInfo, all: &[CardInfo]) -> String {
    if all.iter().filter(|other| other.unit == card.unit).count() == 1 {
        format!("Rackloom card {}", card.unit)
    } else {
        format!("Rackloom card {}", card.mac)
    }
}
