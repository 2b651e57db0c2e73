//! Files of keys: the rack's, which the operator keeps; those of its cards; and those of a host.
//!
//! Each is JSON, and secret: only its owner may read it.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use rackloom::MacAddr;
use rackloom_auth::{CardKey, PairKey, RackKey};
use rackloom_card::{HOSTS_MAX, Keys};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::failure::{Explain, Failure, Result};
use crate::format::hex;

/// The rack's key.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename = "rackloom.rack-key/1")]
pub(crate) struct RackFile {
    key: String,
}

/// The keys of cards, and the hosts that may claim them.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename = "rackloom.card-keys/1")]
pub(crate) struct CardFile {
    /// Hosts' numbers, with the generation of their keys.
    hosts: BTreeMap<u16, u32>,
    /// Keys by the cards' addresses.
    cards: BTreeMap<String, String>,
}

/// The keys of one host.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename = "rackloom.host-keys/1")]
pub(crate) struct HostFile {
    host: u16,
    /// Keys by the cards' addresses.
    cards: BTreeMap<String, String>,
}

impl RackFile {
    /// A key that nobody has had before.
    pub(crate) fn draw() -> Result<Self> {
        let mut bytes = [0; 16];
        let source = "/dev/urandom";
        let mut file = fs::File::open(source).during(format!("cannot open {source}"))?;
        file.read_exact(&mut bytes).during(format!("cannot read {source}"))?;
        Ok(Self { key: hex(&bytes) })
    }

    fn key(&self) -> Result<RackKey> {
        Ok(RackKey::new(parse(&self.key)?))
    }

    /// The keys of these cards, for hosts with these numbers; a number's generation is 0 unless its key was withdrawn.
    pub(crate) fn cards(&self, cards: &[MacAddr], hosts: BTreeMap<u16, u32>) -> Result<CardFile> {
        let rack = self.key()?;
        let cards = cards.iter().map(|card| (card.to_string(), hex(rack.card(card.0, 0).reveal()))).collect();
        Ok(CardFile { hosts, cards })
    }

    /// The keys of a host for these cards.
    pub(crate) fn host(&self, host: u16, generation: u32, cards: &[MacAddr]) -> Result<HostFile> {
        let rack = self.key()?;
        let pair = |card: &MacAddr| hex(rack.card(card.0, 0).host(host.into(), generation).reveal());
        Ok(HostFile { host, cards: cards.iter().map(|card| (card.to_string(), pair(card))).collect() })
    }
}

impl CardFile {
    /// The keys of this card.
    pub(crate) fn of(&self, card: MacAddr) -> Result<Keys> {
        let Some(key) = self.cards.get(&card.to_string()) else {
            return Err(Failure::new(format!("the file of keys has none for {card}"))
                .help("`rackloom key cards` makes one for each address that it is given; --seed keeps addresses"));
        };
        if self.hosts.len() > HOSTS_MAX {
            return Err(Failure::new(format!("a card has keys of {HOSTS_MAX} hosts at most")));
        }
        Ok(Keys::new(CardKey::new(parse(key)?), self.hosts.iter().map(|(host, generation)| (*host, *generation))))
    }
}

impl HostFile {
    /// The keys, for a host that starts now.
    pub(crate) fn keys(&self) -> Result<rackloom::Keys> {
        let mut pairs = BTreeMap::new();
        for (card, key) in &self.cards {
            let card: MacAddr = card.parse().map_err(|e| Failure::new(format!("`{card}` in the file of keys: {e}")))?;
            pairs.insert(card, PairKey::new(parse(key)?));
        }
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(rackloom::Keys::new(self.host, pairs, u64::try_from(since.as_nanos()).unwrap_or(u64::MAX / 2)))
    }
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

/// Writes a file of keys that was not there.
pub(crate) fn write(path: &Path, file: &impl Serialize) -> Result<()> {
    let what = || format!("cannot write {}", path.display());
    let mut text = serde_json::to_string_pretty(file).expect("keys are text");
    text.push('\n');
    let mut out = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).during(what())?;
    out.write_all(text.as_bytes()).during(what())
}

fn parse(text: &str) -> Result<[u8; 16]> {
    let is_hex = text.len() == 32 && text.bytes().all(|c| c.is_ascii_hexdigit()); // `from_str_radix` takes a sign, too.
    let byte = |at: usize| u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok();
    let bytes: Option<Vec<_>> = (0..16).map(byte).collect();
    let key = bytes.filter(|_| is_hex).and_then(|bytes| bytes.try_into().ok());
    key.ok_or_else(|| Failure::new("a key in the file is not 32 hexadecimal digits"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_32_hexadecimal_digits() {
        assert_eq!(parse("000102030405060708090a0b0c0d0E0F").unwrap(), std::array::from_fn(|i| i as u8));
        for text in ["", "00", "+f+f+f+f+f+f+f+f+f+f+f+f+f+f+f+f", "g0000000000000000000000000000000"] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse(&"0".repeat(33)).is_err() && parse(&"\u{e9}".repeat(16)).is_err());
    }
}
