//! Connections, and cards by their names.

use std::env;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rackloom::{
    CardInfo, ClaimOptions, Communicator, HostGroup, HostStart, MacAddr, Net, NetError, PATIENCE, Rack, RackOptions,
    Seat, insecure_open_by_environment,
};

use crate::comm::Comm;
use crate::failure::Failure;
use crate::group::Group;

/// How long a look for cards takes, and how often one is taken for cards that were named.
const LOOK: Duration = Duration::from_millis(500);
const LOOKS: Duration = Duration::from_secs(20);
/// Where the caller names no time for an operation.
const LIMIT: Duration = Duration::from_secs(60);
/// A card's program ends by its own time before the host gives up.
const GRACE: Duration = Duration::from_secs(10);

/// A card that this process holds, of a group whose other cards other processes hold.
#[derive(Debug)]
pub(crate) struct Held {
    rack: Arc<Rack>,
    card: MacAddr,
    limit: Duration,
}

/// A group of cards that this process drives.
pub(crate) fn comm(net: Option<&str>, cards: &str, timeout_ms: u32) -> Result<Comm, Failure> {
    let (rack, limit) = connect(net, timeout_ms)?;
    let cards = find(&rack, cards)?;
    claim(&rack, &cards)?;
    Comm::new(Group::of_cards(Communicator::new(rack, &cards, limit)?))
}

/// The group of processes that the environment says this one is of.
pub(crate) fn hosts(timeout_ms: u32) -> Result<Comm, Failure> {
    let mut start = HostStart::from_env()?;
    if timeout_ms != 0 {
        start.limit = Duration::from_millis(timeout_ms.into());
    }
    Comm::new(Group::of_hosts(HostGroup::join(&start)?))
}

impl Held {
    /// Claims a card.
    pub(crate) fn open(net: Option<&str>, card: &str, timeout_ms: u32) -> Result<Self, Failure> {
        let (rack, limit) = connect(net, timeout_ms)?;
        let cards = find(&rack, card)?;
        let [card] = cards[..] else {
            return Err(Failure::Invalid(format!("a seat is one card, and these are {}", cards.len())));
        };
        claim(&rack, &[card])?;
        Ok(Self { rack, card, limit })
    }

    /// What others have to know of it.
    pub(crate) fn tell(&self) -> Result<Seat, Failure> {
        Ok(Seat::survey(&self.rack, &[self.card])?.remove(0))
    }

    /// The group of these seats, of which this process has that of `rank`.
    pub(crate) fn join(&self, seats: Vec<Seat>, rank: usize, number: u64) -> Result<Comm, Failure> {
        match seats.get(rank) {
            Some(seat) if seat.card().mac == self.card => {}
            Some(seat) => return Err(Failure::Invalid(format!("rank {rank} has {}, not this seat", seat.card()))),
            None => return Err(Failure::Invalid(format!("rank {rank} is not in a group of {}", seats.len()))),
        }
        let group = Communicator::join(Arc::clone(&self.rack), seats, rank, number, self.limit);
        Comm::new(Group::Cards(group, vec![rank]))
    }
}

fn connect(net: Option<&str>, timeout_ms: u32) -> Result<(Arc<Rack>, Duration), Failure> {
    let net = net.map(str::to_owned).or_else(|| env::var("RACKLOOM_NET").ok()).unwrap_or_else(|| "virtual".to_owned());
    let net = net.parse::<Net>().map_err(|e: NetError| Failure::Rack(e.into()))?;
    let limit = if timeout_ms == 0 { LIMIT } else { Duration::from_millis(timeout_ms.into()) };
    let insecure_open = insecure_open_by_environment();
    let options = RackOptions { jumbo: true, deadline: limit + GRACE, insecure_open, ..RackOptions::default() };
    Ok((Arc::new(Rack::connect(&net, options)?), limit))
}

/// The cards of these names, separated by commas; all, by unit number, if there are none.
fn find(rack: &Rack, names: &str) -> Result<Vec<MacAddr>, Failure> {
    let wanted: Vec<_> = names.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    let end = Instant::now() + LOOKS;
    loop {
        let mut known = rack.discover(LOOK)?;
        known.sort_by_key(|card| (card.unit, card.mac));
        let found: Result<Vec<_>, Failure> = match wanted.is_empty() {
            true => Ok(known.iter().map(|card| card.mac).collect()),
            false => wanted.iter().map(|name| named(&known, name)).collect(),
        };
        match found {
            Ok(found) if found.is_empty() && Instant::now() >= end => {
                return Err(Failure::Card("no card answered: start some with `rackloom up --links full`".to_owned()));
            }
            Ok(found) if found.is_empty() => {}
            Ok(found) => match (1..found.len()).find(|i| found[..*i].contains(&found[*i])) {
                Some(twice) => return Err(Failure::Invalid(format!("{} is named twice", wanted[twice]))),
                None => return Ok(found),
            },
            Err(failure @ Failure::Card(_)) if Instant::now() >= end => return Err(failure),
            Err(Failure::Card(_)) => {}
            Err(failure) => return Err(failure),
        }
    }
}

fn named(known: &[CardInfo], name: &str) -> Result<MacAddr, Failure> {
    let unit = name.strip_prefix("card").unwrap_or(name).parse::<u16>().ok();
    let mac = name.parse::<MacAddr>().ok();
    if unit.is_none() && mac.is_none() {
        return Err(Failure::Invalid(format!("`{name}` names no card: write card0, 0 or an address")));
    }
    let mut found = known.iter().filter(|card| Some(card.mac) == mac || Some(card.unit) == unit);
    match (found.next(), found.next()) {
        (Some(card), None) => Ok(card.mac),
        (None, _) => Err(Failure::Card(format!("no card named `{name}` answered"))),
        (Some(_), Some(_)) => Err(Failure::Invalid(format!("several cards have number {name}: name one by address"))),
    }
}

fn claim(rack: &Rack, cards: &[MacAddr]) -> Result<(), Failure> {
    for (_, claimed) in rack.claim_in_turn(cards, ClaimOptions::default(), PATIENCE, |_| ())? {
        claimed?;
    }
    Ok(())
}
