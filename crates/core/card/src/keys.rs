//! The keys of a card: its own, and which hosts may claim it.

use std::collections::BTreeMap;

use rackloom_auth::{CardKey, PairKey};

/// The key of a card, and the hosts that share one with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keys {
    key: CardKey,
    generation: u32,
    /// Of the generation before, while that still counts.
    former: Option<CardKey>,
    /// The generation of each host's key, by the host's number.
    hosts: BTreeMap<u16, u32>,
    /// Hosts whose key of this generation counts no more. They hear so.
    revoked: BTreeMap<u16, u32>,
}

/// Which keys of a host a card knows, each by its generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostKeys {
    /// The one that counts.
    pub counts: Option<u32>,
    /// The one that was revoked.
    pub revoked: Option<u32>,
}

/// What a card shares with a host.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) host: u16,
    /// Of the card's key.
    pub(crate) generation: u32,
    pub(crate) key: PairKey,
    pub(crate) is_revoked: bool,
}

impl Keys {
    /// A card with this key, of the rack's first generation, which takes claims of these hosts: numbers, and the
    /// generation of the key of each. Of a host that is named twice the later generation counts.
    pub fn new(key: CardKey, hosts: impl IntoIterator<Item = (u16, u32)>) -> Self {
        let hosts = hosts.into_iter().take(HOSTS_MAX).collect();
        Self { key, generation: 0, former: None, hosts, revoked: BTreeMap::new() }
    }

    /// The card's key is of this generation. With a `former` one that of the generation before counts as well.
    #[must_use]
    pub fn of_generation(self, generation: u32, former: Option<CardKey>) -> Self {
        Self { generation, former: former.filter(|_| generation > 0), ..self }
    }

    /// The keys that these hosts had count no more, and whoever claims the card with one hears so.
    #[must_use]
    pub fn revoking(self, hosts: impl IntoIterator<Item = (u16, u32)>) -> Self {
        Self { revoked: hosts.into_iter().take(HOSTS_MAX).collect(), ..self }
    }

    /// The card's own keys, each with its generation: the newest first.
    pub fn of_card(&self) -> impl Iterator<Item = (u32, &CardKey)> {
        let former = self.former.as_ref().map(|key| (self.generation - 1, key));
        [Some((self.generation, &self.key)), former].into_iter().flatten()
    }

    /// The hosts that it knows by their numbers, those that were revoked among them. A host has one key at least.
    pub fn hosts(&self) -> BTreeMap<u16, HostKeys> {
        // A host's later key is there because the one before was revoked.
        let of = |(host, own): (&u16, &u32)| (*host, HostKeys { counts: Some(*own), revoked: own.checked_sub(1) });
        let mut hosts: BTreeMap<_, _> = self.hosts.iter().map(of).collect();
        for (host, own) in self.revoked.iter().filter(|(host, own)| self.hosts.get(host) != Some(own)) {
            hosts.entry(*host).or_insert(HostKeys { counts: None, revoked: None }).revoked = Some(*own);
        }
        hosts
    }

    /// Keys that were revoked count as before.
    #[cfg(feature = "planted-bugs")]
    pub(crate) fn revoking_none(mut self) -> Self {
        self.hosts.extend(std::mem::take(&mut self.revoked));
        self
    }

    /// All keys that it shares with hosts: the newest generation first and, of a host in it, the one that counts first.
    pub(crate) fn shared(&self) -> impl Iterator<Item = Shared> {
        let hosts = self.hosts();
        let of = move |(generation, key): (u32, &CardKey)| {
            let all = hosts.iter().flat_map(|(host, keys)| [(*host, keys.counts, false), (*host, keys.revoked, true)]);
            let shared = |(host, own, is_revoked): (u16, Option<u32>, bool)| {
                own.map(|own| Shared { host, generation, key: key.host(u64::from(host), own), is_revoked })
            };
            all.filter_map(shared).collect::<Vec<_>>()
        };
        self.of_card().flat_map(of)
    }
}

/// Most hosts that a card has keys for, and most whose keys it knows as revoked. Further ones are left out.
pub const HOSTS_MAX: usize = 256;
