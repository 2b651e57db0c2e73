//! Files of keys: the rack's, which the operator keeps; those of its cards; and those of a host.
//!
//! Each is JSON, and secret: only its owner may read it.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use rackloom::MacAddr;
use rackloom_auth::{CardKey, PairKey, RackKey};
use rackloom_card::{HOSTS_MAX, Keys};
use rackloom_rack::card_address;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::failure::{Explain, Failure, Result};
use crate::format::hex;
use crate::whole::{self, Before};

/// The rack's key.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename = "rackloom.rack-key/1")]
pub(crate) struct RackFile {
    key: String,
    /// How many keys the rack had before this one.
    #[serde(default)]
    generation: u32,
    /// The key before, as long as cards and hosts may have that only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    former: Option<String>,
    /// The seed of the addresses of its cards, if it was drawn for those.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
}

/// The keys of cards, and the hosts that may claim them.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "kind", rename = "rackloom.card-keys/1")]
pub(crate) struct CardFile {
    #[serde(default)]
    generation: u32,
    /// The seed that gives a rack these cards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    /// Hosts' numbers, with the generation of their keys.
    hosts: BTreeMap<u16, u32>,
    /// The same of hosts whose keys count no more.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    revoked: BTreeMap<u16, u32>,
    /// Keys by the cards' addresses.
    cards: BTreeMap<String, String>,
    /// Those of the generation before, which count as well.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    former: BTreeMap<String, String>,
}

/// The keys of one host.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename = "rackloom.host-keys/1")]
pub(crate) struct HostFile {
    #[serde(default)]
    generation: u32,
    host: u16,
    /// Keys by the cards' addresses.
    cards: BTreeMap<String, String>,
    /// Those of the generation before, for cards that have no others yet.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    former: BTreeMap<String, String>,
}

/// Which of a rack's keys a file is made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Generations {
    /// The newest and the one before.
    Both,
    /// The newest alone.
    Newest,
}

impl RackFile {
    /// A key that nobody has had before, for cards whose addresses come from this seed, or any.
    pub(crate) fn draw(seed: Option<u64>) -> Result<Self> {
        Ok(Self { key: hex(&random::<16>()?), generation: 0, former: None, seed })
    }

    /// The next generation: a key that comes from no other, so that nothing that was lost leads to it.
    pub(crate) fn next(self) -> Result<Self> {
        let generation = self.generation.checked_add(1).ok_or_else(|| Failure::new("there are no more generations"))?;
        Ok(Self { key: hex(&random::<16>()?), generation, former: Some(self.key), ..self })
    }

    /// The addresses that were named, or else those of the cards that it was drawn for.
    pub(crate) fn addresses(&self, named: &[MacAddr]) -> Result<Vec<MacAddr>> {
        match self.seed {
            _ if !named.is_empty() => Ok(named.to_vec()),
            Some(seed) => Ok((0..CARDS_OF_SEED).map(|unit| card_address(seed, unit)).collect()),
            None => {
                Err(Failure::new("no addresses of cards are named, and this rack's key is not for cards of a seed")
                    .help("name them, as `rackloom ls` lists them"))
            }
        }
    }

    pub(crate) const fn generation(&self) -> u32 {
        self.generation
    }

    /// The keys of these cards, for hosts with these numbers; a number's generation is 0 unless its key was revoked.
    pub(crate) fn cards(&self, cards: &[MacAddr], hosts: BTreeMap<u16, u32>, which: Generations) -> Result<CardFile> {
        let [newest, former] = self.each(cards, which, |key| *key.reveal())?;
        let (generation, seed) = (self.generation, self.seed);
        Ok(CardFile { generation, seed, hosts, revoked: BTreeMap::new(), cards: newest, former })
    }

    /// The keys of a host for these cards.
    pub(crate) fn host(&self, host: u16, own: u32, cards: &[MacAddr], which: Generations) -> Result<HostFile> {
        let [newest, former] = self.each(cards, which, |key| *key.host(host.into(), own).reveal())?;
        Ok(HostFile { generation: self.generation, host, cards: newest, former })
    }

    /// What comes from the key of each card, of the newest generation and of the one before.
    fn each(
        &self,
        cards: &[MacAddr],
        which: Generations,
        of: impl Fn(&CardKey) -> [u8; 16],
    ) -> Result<[BTreeMap<String, String>; 2]> {
        let all = |key: &str, generation| -> Result<BTreeMap<_, _>> {
            let rack = RackKey::new(parse(key)?);
            Ok(cards.iter().map(|card| (card.to_string(), hex(&of(&rack.card(card.0, generation))))).collect())
        };
        let former = self.former.as_ref().filter(|_| which == Generations::Both);
        let before = former.map(|key| all(key, self.generation.saturating_sub(1))).transpose()?;
        Ok([all(&self.key, self.generation)?, before.unwrap_or_default()])
    }
}

impl CardFile {
    /// The seed of the cards' addresses, if the file says it.
    pub(crate) const fn seed(&self) -> Option<u64> {
        self.seed
    }

    /// The keys of this card.
    pub(crate) fn of(&self, card: MacAddr) -> Result<Keys> {
        let Some(key) = self.cards.get(&card.to_string()) else {
            return Err(Failure::new(format!("the file of keys has none for {card}"))
                .help("`rackloom key cards` makes one for each address that it is given; --seed keeps addresses"));
        };
        if self.hosts.len().max(self.revoked.len()) > HOSTS_MAX {
            return Err(Failure::new(format!("a card has keys of {HOSTS_MAX} hosts at most")));
        }
        let former = self.former.get(&card.to_string()).map(|key| parse(key).map(CardKey::new)).transpose()?;
        let numbers = |hosts: &BTreeMap<u16, u32>| hosts.iter().map(|(host, own)| (*host, *own)).collect::<Vec<_>>();
        Ok(Keys::new(CardKey::new(parse(key)?), numbers(&self.hosts))
            .of_generation(self.generation, former)
            .revoking(numbers(&self.revoked)))
    }

    /// The keys of these hosts count no more.
    pub(crate) fn revoke(&mut self, hosts: &[u16]) -> Result<()> {
        for host in hosts {
            let Some(own) = self.hosts.remove(host) else {
                let numbers: Vec<_> = self.hosts.keys().map(u16::to_string).collect();
                return Err(Failure::new(format!("host {host} is not among the hosts of these cards"))
                    .help(format!("they take claims of {}", numbers.join(", "))));
            };
            self.revoked.insert(*host, own);
        }
        Ok(())
    }

    /// What a host that was revoked is called once it has its next key.
    pub(crate) fn next_of(&self, host: u16) -> String {
        format!("{host}.{}", self.revoked.get(&host).map_or(1, |own| own.saturating_add(1)))
    }
}

impl HostFile {
    /// The keys, for a host that starts now.
    pub(crate) fn keys(&self) -> Result<rackloom::Keys> {
        let pairs = |keys: &BTreeMap<String, String>| -> Result<BTreeMap<_, _>> {
            let pair = |(card, key): (&String, &String)| {
                let at = format!("`{card}` in the file of keys");
                let card: MacAddr = card.parse().map_err(|e| Failure::new(format!("{at}: {e}")))?;
                Ok((card, PairKey::new(parse(key)?)))
            };
            keys.iter().map(pair).collect()
        };
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let claims_from = u64::try_from(since.as_nanos()).unwrap_or(u64::MAX / 2);
        let keys = rackloom::Keys::new(self.host, pairs(&self.cards)?, claims_from);
        Ok(keys.of_generation(self.generation, pairs(&self.former)?))
    }
}

/// Cards of a rack with a seed that have keys: more than anybody has started.
pub(crate) const CARDS_OF_SEED: u16 = 1024;

/// Random bytes that nobody can guess.
pub(crate) fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    let source = "/dev/urandom";
    let mut file = fs::File::open(source).during(format!("cannot open {source}"))?;
    file.read_exact(&mut bytes).during(format!("cannot read {source}"))?;
    Ok(bytes)
}

/// Reads a file of keys, which nobody else may read.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let what = || format!("cannot read the keys in {}", path.display());
    let meta = fs::metadata(path).during(what())?;
    if meta.mode() & 0o077 != 0 {
        let help = format!("chmod 600 {}", path.display());
        return Err(Failure::new("others may read it").during(what()).help(help));
    }
    let text = fs::read_to_string(path).during(what())?;
    serde_json::from_str(&text).map_err(|e| Failure::of(&e).during(what()))
}

/// Writes a file of keys that was not there, as a whole or not at all.
pub(crate) fn write(path: &Path, file: &impl Serialize) -> Result<()> {
    let what = || format!("cannot write {}", path.display());
    if path.exists() {
        return Err(Failure::new("it is there already").during(what()).help("keys are not overwritten: move it away"));
    }
    let mut text = serde_json::to_string_pretty(file).expect("keys are text");
    text.push('\n');
    whole::write(path, text.as_bytes(), 0o600, Before::Keep).during(what())
}

/// A key of `N` bytes.
pub(crate) fn parse<const N: usize>(text: &str) -> Result<[u8; N]> {
    // `from_str_radix` takes a sign, too.
    let is_hex = text.len() == 2 * N && text.bytes().all(|c| c.is_ascii_hexdigit());
    let byte = |at: usize| u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok();
    let bytes: Option<Vec<_>> = (0..N).map(byte).collect();
    let key = bytes.filter(|_| is_hex).and_then(|bytes| bytes.try_into().ok());
    key.ok_or_else(|| Failure::new(format!("a key in the file is not {} hexadecimal digits", 2 * N)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_32_hexadecimal_digits() {
        assert_eq!(parse::<16>("000102030405060708090a0b0c0d0E0F").unwrap(), std::array::from_fn(|i| i as u8));
        for text in ["", "00", "+f+f+f+f+f+f+f+f+f+f+f+f+f+f+f+f", "g0000000000000000000000000000000"] {
            assert!(parse::<16>(text).is_err(), "{text}");
        }
        assert!(parse::<16>(&"0".repeat(33)).is_err() && parse::<16>(&"\u{e9}".repeat(16)).is_err());
    }
}
