//! The names of cards, and which cards a command means.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use rackloom::{CardInfo, MacAddr, Rack};

use crate::args::{Cards, Global};
use crate::failure::{Failure, Result};
use crate::ui::Ui;

/// The cards that answered, and their names.
#[derive(Debug, Clone)]
pub(crate) struct Roster {
    cards: Vec<CardInfo>,
    names: BTreeMap<MacAddr, String>,
    /// Addresses under which two cards answer.
    shared: BTreeSet<MacAddr>,
}

impl Roster {
    /// Names cards: `cardN` by the unit number where that is unique, else by address.
    pub(crate) fn new(mut cards: Vec<CardInfo>) -> Self {
        cards.sort_by_key(|c| (c.unit, c.mac));
        let mut count: BTreeMap<u16, u32> = BTreeMap::new();
        for card in &cards {
            *count.entry(card.unit).or_default() += 1;
        }
        let name = |c: &CardInfo| if count[&c.unit] == 1 { format!("card{}", c.unit) } else { c.mac.to_string() };
        let names = cards.iter().map(|c| (c.mac, name(c))).collect();
        Self { cards, names, shared: BTreeSet::new() }
    }

    /// Looks for cards, and warns of those that cannot be told apart.
    pub(crate) fn discover(rack: &Rack, global: &Global) -> Result<Self> {
        Self::discover_named::<&str>(rack, global, &[])
    }

    /// As [`discover`](Self::discover), and goes on looking for these, for as long as `--discover` says: a card that is
    /// busy, or simulated on a busy machine, answers when others have long done so.
    pub(crate) fn discover_named<S: AsRef<str>>(rack: &Rack, global: &Global, wanted: &[S]) -> Result<Self> {
        let start = Instant::now();
        let search = || Ok(rack.discover(global.discover)?);
        let found = look_for(wanted, global.discover, || start.elapsed(), search)?;
        let roster = Self { shared: rack.shared_addresses()?, ..found };
        for mac in &roster.shared {
            let name = roster.name(*mac);
            Ui::new(global).warn(format!("two cards answer under the address {mac} ({name}): neither can be used"));
        }
        Ok(roster)
    }

    /// The cards that were there at first and those that came since, so that all have names.
    pub(crate) fn with_newcomers(&self, rack: &Rack) -> Result<Self> {
        let mut cards = rack.cards()?;
        for card in &self.cards {
            if cards.iter().all(|c| c.mac != card.mac) {
                cards.push(card.clone());
            }
        }
        Ok(Self::new(cards))
    }

    /// Whether two cards answer under this address.
    pub(crate) fn is_shared(&self, card: MacAddr) -> bool {
        self.shared.contains(&card)
    }

    /// The cards by unit number.
    pub(crate) fn cards(&self) -> &[CardInfo] {
        &self.cards
    }

    /// The name of a card; its address if it is not one of these.
    pub(crate) fn name(&self, card: MacAddr) -> String {
        self.names.get(&card).cloned().unwrap_or_else(|| card.to_string())
    }

    /// The card of this name, unit number or address.
    pub(crate) fn find(&self, wanted: &str) -> Result<&CardInfo> {
        let by_name = |c: &&CardInfo| self.names[&c.mac] == wanted;
        let by_mac = |c: &&CardInfo| wanted.parse::<MacAddr>().is_ok_and(|mac| mac == c.mac);
        let unit = wanted.strip_prefix("card").unwrap_or(wanted).parse::<u16>().ok();
        let mut of_unit = self.cards.iter().filter(|c| Some(c.unit) == unit);
        let found = self.cards.iter().find(by_name).or_else(|| self.cards.iter().find(by_mac));
        if let Some(card) = found {
            return Ok(card);
        }
        match (of_unit.next(), of_unit.next()) {
            (Some(card), None) => Ok(card),
            (Some(_), Some(_)) => Err(Failure::new(format!("several cards have unit number {wanted}"))
                .help("name the card by its address, as `rackloom ls` shows it")),
            (None, _) => Err(Failure::new(format!("no card named `{wanted}` answered")).help(self.hint())),
        }
    }

    /// The cards that the options select; an error if there are none.
    pub(crate) fn select(&self, cards: &Cards) -> Result<Vec<&CardInfo>> {
        if cards.cards.is_empty() {
            return match self.cards.is_empty() {
                true => Err(Failure::new("no card answered").help(self.hint())),
                false => Ok(self.cards.iter().collect()),
            };
        }
        let mut chosen = cards.cards.iter().map(|name| self.find(name)).collect::<Result<Vec<_>>>()?;
        chosen.sort_by_key(|c| (c.unit, c.mac));
        chosen.dedup_by_key(|c| c.mac);
        Ok(chosen)
    }

    fn hint(&self) -> String {
        if self.cards.is_empty() {
            let help =
                "plug one in with `rackloom card add`, wait longer with --discover, or choose a segment with --net";
            return help.to_owned();
        }
        let names: Vec<_> = self.cards.iter().take(16).map(|c| self.names[&c.mac].as_str()).collect();
        let more = if self.cards.len() > 16 { ", …" } else { "" };
        format!("these cards answered: {}{more}", names.join(", "))
    }
}

/// Searches until all who are wanted have answered, or this time has passed.
fn look_for<S: AsRef<str>>(
    wanted: &[S],
    limit: Duration,
    elapsed: impl Fn() -> Duration,
    mut search: impl FnMut() -> Result<Vec<CardInfo>>,
) -> Result<Roster> {
    loop {
        let found = Roster::new(search()?);
        if elapsed() >= limit || wanted.iter().all(|name| found.find(name.as_ref()).is_ok()) {
            return Ok(found);
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::Cell;

    use rackloom_wire::{CardKind, CardState};

    use super::*;

    pub(crate) fn card(unit: u16, last: u8) -> CardInfo {
        CardInfo {
            mac: MacAddr([2, 0, 0, 0, 0, last]),
            mac1: MacAddr::ZERO,
            vendor: 0,
            product: 0,
            unit,
            kind: CardKind::Model,
            state: CardState::Empty,
            ports: 1,
            bulk: 1472,
            boot: 1,
            clock_khz: 1,
            memory: 1 << 30,
            port_rate: 0,
            stage_rate: 0,
            config_rate: 0,
            owner: None,
            epoch: 0,
            asks: Default::default(),
            kernels: 0,
            digest: None,
        }
    }

    #[test]
    fn cards_are_found_by_name_number_and_address() {
        let roster = Roster::new(vec![card(3, 9), card(0, 8), card(5, 1), card(5, 2)]);
        let mac = |s: &str| roster.find(s).map(|c| c.mac.0[5]).map_err(|f| f.what);
        assert_eq!(mac("card3"), Ok(9));
        assert_eq!(mac("3"), Ok(9));
        assert_eq!(mac("02:00:00:00:00:08"), Ok(8));
        assert!(mac("5").unwrap_err().contains("several"));
        assert!(mac("card7").unwrap_err().contains("no card named"));
        assert_eq!(roster.name(MacAddr([2, 0, 0, 0, 0, 1])), "02:00:00:00:00:01");
        let both = Cards { cards: vec!["3".into(), "card0".into(), "card3".into()], all: false };
        assert_eq!(roster.select(&both).unwrap().len(), 2);
    }

    /// Each search takes 300 ms; a second card answers from the third one on.
    #[test]
    fn named_cards_are_waited_for_as_long_as_the_option_says() {
        let searches = |wanted: &[&str], limit_ms: u64| {
            let count = Cell::new(0);
            let search = || {
                count.set(count.get() + 1);
                Ok([card(0, 8), card(1, 9)][..if count.get() < 3 { 1 } else { 2 }].to_vec())
            };
            let elapsed = || Duration::from_millis(300) * count.get();
            let found = look_for(wanted, Duration::from_millis(limit_ms), elapsed, search).unwrap();
            (count.get(), found.cards().len())
        };
        assert_eq!(searches(&["card0"], 5000), (1, 1), "nobody else is waited for");
        assert_eq!(searches(&[], 5000), (1, 1));
        assert_eq!(searches(&["card0", "card1"], 5000), (3, 2), "and not longer than it takes");
        assert_eq!(searches(&["card1"], 500), (2, 1), "who comes too late is missing");
        assert_eq!(searches(&["card7"], 5000), (17, 2));
    }

    #[test]
    fn an_empty_rack_is_an_error_with_help() {
        let f = Roster::new(Vec::new()).select(&Cards { cards: Vec::new(), all: true }).unwrap_err();
        assert!(f.help.unwrap().contains("rackloom card add"));
    }
}
