//! The keys of a card: its own, and which hosts may claim it.

use std::collections::BTreeMap;

use rackloom_auth::{CardKey, PairKey};

/// The key of a card, and the hosts that share one with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keys {
    key: CardKey,
    /// The generation of each host's key, by the host's number.
    hosts: BTreeMap<u16, u32>,
}

impl Keys {
    /// A card with this key, which takes claims of these hosts: numbers, and the generation of the key of each. Of a
    /// host that is named twice the later generation counts.
    pub fn new(key: CardKey, hosts: impl IntoIterator<Item = (u16, u32)>) -> Self {
        Self { key, hosts: hosts.into_iter().take(HOSTS_MAX).collect() }
    }

    /// The hosts with their keys.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (u16, PairKey)> {
        self.hosts.iter().map(|(host, generation)| (*host, self.key.host(u64::from(*host), *generation)))
    }
}

/// Most hosts that a card has keys for. Further ones are left out.
pub const HOSTS_MAX: usize = 256;
