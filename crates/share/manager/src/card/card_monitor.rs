//! The monitor of a segment's cards: claims new cards, claims lost ones again, reconnects to a segment that was gone,
//! and releases all cards at the end.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::bail;
use rackloom::{CardInfo, ClaimOptions, Error, Event, MacAddr, OpError, Rack, Scrub, Watch};
use rackloom_wire::CardKind;

use super::board::CardBoard;
use super::claim::Card;
use super::info;
use super::tenancy::Sharing;
use crate::metrics::Metrics;

/// Connects to the segment.
pub type ConnectRack = Box<dyn FnMut() -> Result<Rack, Error> + Send>;

/// Adds a claimed card as a board.
pub type AddCard = Box<dyn FnMut(CardBoard) + Send>;

/// The monitor of the cards of a segment.
pub(super) struct CardMonitor {
    connect: ConnectRack,
    add: AddCard,
    sharing: Sharing,
    metrics: Arc<Metrics>,
    rack: Arc<Rack>,
    watch: Watch,
    cards: Vec<Arc<Card>>,
    /// Cards that could not be claimed when they came.
    skipped: BTreeSet<MacAddr>,
}

/// How long to discover cards.
const DISCOVERY: Duration = Duration::from_secs(1);

/// How long to try to claim cards at the start: a manager that was killed holds its cards until its lease ends, and a
/// slow card takes a while to zero its memory.
const CLAIM_TIMEOUT: Duration = Duration::from_secs(10);

/// The same for a card that is plugged in later: the other cards have to wait meanwhile.
const CLAIM_TIMEOUT_LATER: Duration = Duration::from_secs(3);

/// Period of the checks for lost, retired and new cards.
const TICK: Duration = Duration::from_millis(50);

/// Time between attempts to claim a card that another host holds, or to reconnect to a segment.
const RETRY: Duration = Duration::from_millis(500);

impl CardMonitor {
    /// Connects to the segment and claims all its cards.
    ///
    /// # Errors
    /// The segment cannot be reached, no card answers, or none can be claimed.
    pub(super) fn begin(
        mut connect: ConnectRack,
        sharing: Sharing,
        metrics: Arc<Metrics>,
        add: AddCard,
    ) -> anyhow::Result<Self> {
        let rack = connect().map_err(|why| {
            let help = why.help().map(|help| format!("; {help}")).unwrap_or_default();
            anyhow::Error::new(why).context(format!("cannot reach the segment{help}"))
        })?;
        let rack = Arc::new(rack);
        let watch = rack.watch()?;
        let mut found = rack.discover(DISCOVERY)?;
        found.sort_by_key(|card| (card.unit, card.mac));
        if found.is_empty() {
            bail!("no card answered; plug one in with `rackloom card add`, and check with `rackloom ls`");
        }
        let (cards, skipped) = (Vec::new(), BTreeSet::new());
        let mut monitor = Self { connect, add, sharing, metrics, rack, watch, cards, skipped };
        let until = Instant::now() + CLAIM_TIMEOUT;
        found.iter().for_each(|card| monitor.add_card(card, until));
        if monitor.cards.is_empty() {
            bail!("none of the {} cards that answered could be claimed", found.len());
        }
        // Events during the claims are obsolete. A loss in this moment is noticed by the first operation.
        while monitor.watch.next_within(Duration::ZERO).is_some() {}
        Ok(monitor)
    }

    /// Monitors the cards until `stop` is set, and releases them.
    pub(super) fn run(mut self, stop: &AtomicBool) {
        let mut tried: Option<Instant> = None;
        while !stop.load(Ordering::Acquire) {
            if let Some(event) = self.watch.next_within(TICK) {
                self.handle_event(&event);
            }
            // The host's thread answers after it has sent all its events, so no loss is taken for one of a later claim.
            let Ok(up) = self.rack.cards() else {
                self.cards.iter().for_each(|card| card.lost());
                self.reconnect(stop);
                continue;
            };
            while let Some(event) = self.watch.next_within(Duration::ZERO) {
                self.handle_event(&event);
            }
            for card in self.cards.iter().filter(|card| !card.is_claimed()) {
                let Some(info) = up.iter().find(|info| self.is_it(card, info, &up)) else { continue };
                if card.is_retired() || tried.is_none_or(|at| at.elapsed() >= RETRY) {
                    self.reclaim(card, info);
                    tried = Some(Instant::now());
                }
            }
            let is_new = |info: &&CardInfo| {
                let known = self.skipped.contains(&info.mac) || self.cards.iter().any(|c| self.is_it(c, info, &up));
                !known
            };
            if let Some(info) = up.iter().find(is_new) {
                self.add_card(info, Instant::now() + CLAIM_TIMEOUT_LATER); // One at a time: it may change what is new.
            }
        }
        self.release_all();
    }

    /// Claims a new card, trying until this time, and adds it as a board.
    fn add_card(&mut self, card: &CardInfo, until: Instant) {
        let name = self.name(card);
        let zeroes = match claim_first(&self.rack, card, self.sharing, until, &name) {
            Ok(zeroes) => zeroes,
            Err(why) => {
                eprintln!("rackloom-manager: skipped {name}: {why}");
                self.skipped.insert(card.mac);
                return;
            }
        };
        let counted = self.metrics.reconfigurations(&name);
        let shared = Arc::new(Card::new(&self.rack, card, name.clone(), self.sharing, zeroes, counted));
        shared.claimed(&self.rack, card);
        self.cards.push(Arc::clone(&shared));
        (self.add)(CardBoard { card: shared, info: info::board(card, &name), tenants: AtomicU64::new(1) });
    }

    /// The display name of a card: by its number in the rack, or by its address if another card has that number.
    fn name(&self, card: &CardInfo) -> String {
        let name = numbered(card);
        if self.cards.iter().any(|other| other.name == name) { format!("Rackloom card {}", card.mac) } else { name }
    }

    /// Whether the card that answers stands for `card`: it is the same one, or one of its kind that has taken its
    /// number while it is gone. So a replaced card is the same board, and so are the cards of a restarted rack.
    fn is_it(&self, card: &Card, info: &CardInfo, up: &[CardInfo]) -> bool {
        let mac = card.mac();
        let has_its_place = || card.name == numbered(info) && card.kind == info.kind && !card.is_claimed();
        info.mac == mac
            || has_its_place()
                && up.iter().all(|other| other.mac != mac)
                && self.cards.iter().all(|other| other.mac() != info.mac)
    }

    fn handle_event(&mut self, event: &Event) {
        let (Event::CardDown { card, .. } | Event::ClaimLost { card } | Event::AddressShared { card }) = event else {
            return;
        };
        self.cards.iter().filter(|c| c.mac() == *card).for_each(|c| c.lost());
        if matches!(event, Event::CardDown { .. }) {
            self.skipped.remove(card); // When it comes again, it is new.
        }
    }

    fn reclaim(&self, card: &Card, info: &CardInfo) {
        if card.is_retired() {
            // Releasing the claim cancels the kernels of the tenant that has left.
            let _ = self.rack.release(&[card.mac()], Scrub::Keep).wait();
        }
        if claim(&self.rack, info.mac, card.zeroes).is_ok() {
            card.claimed(&self.rack, info);
        }
    }

    /// The segment is gone: waits until it is back.
    fn reconnect(&mut self, stop: &AtomicBool) {
        eprintln!("rackloom-manager: lost the segment of the cards; trying to reconnect");
        while !stop.load(Ordering::Acquire) {
            std::thread::sleep(RETRY);
            let Ok(rack) = (self.connect)() else { continue };
            let Ok(watch) = rack.watch() else { continue };
            if rack.discover(DISCOVERY).is_ok() {
                (self.rack, self.watch) = (Arc::new(rack), watch);
                self.skipped.clear();
                eprintln!("rackloom-manager: reconnected to the segment of the cards");
                return;
            }
        }
    }

    fn release_all(self) {
        drop(self.add); // Boards end before their cards.
        let held: Vec<_> = self.cards.iter().filter(|card| card.is_claimed()).collect();
        held.iter().for_each(|card| card.lost());
        let held: Vec<MacAddr> = held.iter().map(|card| card.mac()).collect();
        // A card that does not answer becomes free when its lease ends.
        let _ = self.rack.release(&held, Scrub::Zero).wait();
    }
}

fn numbered(card: &CardInfo) -> String {
    format!("Rackloom card {}", card.unit)
}

/// Claims a card, and has it zeroed if `zero`.
fn claim(rack: &Rack, card: MacAddr, zero: bool) -> Result<(), Error> {
    let scrub = if zero { Scrub::Zero } else { Scrub::Keep };
    rack.claim(&[card], ClaimOptions { scrub, ..ClaimOptions::default() }).wait_all().map(|_| ())
}

/// Claims a new card, trying until this time; returns whether it was zeroed. Simulated gateware would take a minute for
/// that, so it is not zeroed, nor is a card whose zeroing timed out: the manager clears their memory block by block. An
/// exclusive card is always zeroed, since nothing at all may stay.
fn claim_first(rack: &Rack, card: &CardInfo, sharing: Sharing, until: Instant, name: &str) -> Result<bool, Error> {
    let (mut zero, mut told) = (sharing == Sharing::Exclusive || card.kind != CardKind::Rtl, false);
    loop {
        let why = match claim(rack, card.mac, zero) {
            Ok(()) => return Ok(zero),
            Err(why) => why,
        };
        match &why {
            _ if Instant::now() >= until => return Err(why),
            Error::Op(OpError::Claimed { .. }) => {}
            Error::Op(OpError::Vanished { .. } | OpError::Deadline { .. }) if sharing == Sharing::Shared => {
                zero = false;
            }
            Error::Op(OpError::UnknownCard { .. }) if !zero => {} // It is still zeroing.
            _ => return Err(why),
        }
        if !std::mem::replace(&mut told, true) {
            eprintln!("rackloom-manager: waiting for {name}: {why}");
        }
        std::thread::sleep(RETRY);
    }
}
