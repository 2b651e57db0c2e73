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
    /// Claims have to ask for encryption.
    demands_encryption: bool,
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
        Self { key, generation: 0, former: None, hosts, revoked: BTreeMap::new(), demands_encryption: false }
    }

    /// The card's key is of this generation. With a `former` one that of the generation before counts as well.
    #[must_use]
    pub fn of_generation(self, generation: u32, former: Option<CardKey>) -> Self {
        Self { generation, former: former.filter(|_| generation > 0), ..self }
    }

    /// The keys that these hosts had count no more, and whoever claims the card with one hears so. Of a host that is
    /// among those that may claim it, too, a later key alone counts.
    #[must_use]
    pub fn revoking(self, hosts: impl IntoIterator<Item = (u16, u32)>) -> Self {
        Self { revoked: hosts.into_iter().take(HOSTS_MAX).collect(), ..self }
    }

    /// Claims of hosts that do not encrypt are refused.
    #[must_use]
    pub fn demanding_encryption(self, demands_encryption: bool) -> Self {
        Self { demands_encryption, ..self }
    }

    /// Whether claims have to ask for encryption.
    pub const fn demands_encryption(&self) -> bool {
        self.demands_encryption
    }

    /// The card's own keys, each with its generation: the newest first.
    pub fn of_card(&self) -> impl Iterator<Item = (u32, &CardKey)> {
        let former = self.former.as_ref().map(|key| (self.generation - 1, key));
        [Some((self.generation, &self.key)), former].into_iter().flatten()
    }

    /// The hosts that it knows by their numbers, those that were revoked among them. A host has one key at least.
    pub fn hosts(&self) -> BTreeMap<u16, HostKeys> {
        let of = |host: &u16| {
            let own = self.hosts.get(host).copied();
            // A host's later key is there because the one before was revoked.
            let before = own.and_then(|own| own.checked_sub(1));
            let revoked = self.revoked.get(host).copied().max(before);
            // Whatever else says that it counts: what was revoked does not, nor what was there before it.
            (*host, HostKeys { counts: own.filter(|_| own > revoked), revoked })
        };
        self.hosts.keys().chain(self.revoked.keys()).map(of).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The key of a host that was named in both places was taken.
    #[test]
    fn a_key_that_was_revoked_counts_in_no_way() {
        let of = |own: Option<u32>, revoked: Option<u32>| {
            let named = |of: Option<u32>| of.map(|of| (7, of));
            let keys = Keys::new(CardKey::new([1; 16]), named(own)).revoking(named(revoked));
            let HostKeys { counts, revoked } = keys.hosts()[&7];
            (counts, revoked)
        };
        assert_eq!(of(Some(0), None), (Some(0), None));
        assert_eq!(of(None, Some(0)), (None, Some(0)));
        assert_eq!(of(Some(0), Some(0)), (None, Some(0)));
        assert_eq!(of(Some(1), Some(3)), (None, Some(3)));
        assert_eq!(of(Some(1), Some(0)), (Some(1), Some(0)));
        assert_eq!(of(Some(3), Some(0)), (Some(3), Some(2)));
    }
}
