//! A bounded table of peers that strangers cannot crowd out.

use alloc::collections::{BTreeMap, BTreeSet};
use core::fmt;

use rackloom_node::{Duration, Instant};

/// Sizes of a table of peers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeersLimits {
    /// Most established peers, 1 or more.
    pub established: usize,
    /// Most strangers besides, 1 or more.
    pub strangers: usize,
    /// An established peer that was silent this long may have to leave for another.
    pub idle: Duration,
}

/// The table is full of peers in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeersFull;

impl fmt::Display for PeersFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("too many peers in use")
    }
}

impl core::error::Error for PeersFull {}

/// State for each peer, by its address, in bounded memory.
///
/// Whoever is heard of first is a *stranger*: anybody can make up addresses. Strangers have places of their own, and a
/// new one displaces the one that came first. A peer that has proved that it hears us (see [`Epochs`](crate::Epochs))
/// is *established*. It leaves only when it is removed, or when it has been silent for the idle time and another that
/// has proved itself needs the place. So a flood of made-up addresses delays newcomers, and never harms a peer in use.
///
/// Invariant: no more of each than the limits say.
#[derive(Debug)]
pub struct Peers<K, V> {
    limits: PeersLimits,
    entries: BTreeMap<K, Entry<V>>,
    established: usize,
    /// Those that are not, as they came: a flood of them must not cost a search each.
    strangers: BTreeSet<(Instant, K)>,
    #[cfg(feature = "planted-bugs")]
    planted: Option<crate::PlantedBug>,
}

#[derive(Debug)]
struct Entry<V> {
    state: V,
    is_established: bool,
    /// When a stranger came, or an established peer was last heard.
    at: Instant,
}

impl<K: Ord + Copy, V> Peers<K, V> {
    /// An empty table.
    ///
    /// # Panics
    /// If a limit of `limits` is 0.
    pub const fn new(limits: PeersLimits) -> Self {
        assert!(limits.established > 0 && limits.strangers > 0);
        Self {
            limits,
            entries: BTreeMap::new(),
            established: 0,
            strangers: BTreeSet::new(),
            #[cfg(feature = "planted-bugs")]
            planted: None,
        }
    }

    /// Makes it suffer from a bug.
    #[cfg(feature = "planted-bugs")]
    pub const fn plant(&mut self, bug: crate::PlantedBug) {
        self.planted = Some(bug);
    }

    /// Peers of both kinds.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True when no peer is known.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// A peer's state.
    pub fn get(&self, key: &K) -> Option<&V> {
        self.entries.get(key).map(|e| &e.state)
    }

    /// A peer's state.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.entries.get_mut(key).map(|e| &mut e.state)
    }

    /// All peers, by address.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.entries.iter().map(|(key, e)| (key, &e.state))
    }

    /// All peers, by address.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&K, &mut V)> {
        self.entries.iter_mut().map(|(key, e)| (key, &mut e.state))
    }

    /// Admits a stranger. The stranger that had to leave for it, if any, is handed back.
    ///
    /// # Panics
    /// If the peer is in the table.
    pub fn admit(&mut self, now: Instant, key: K, state: V) -> Option<(K, V)> {
        assert!(!self.entries.contains_key(&key));
        let is_full = self.strangers.len() >= self.limits.strangers;
        let oldest = self.strangers.first().filter(|_| is_full).map(|(_, key)| *key);
        #[cfg(feature = "planted-bugs")]
        let oldest = match self.planted {
            Some(crate::PlantedBug::EvictEstablished) if is_full => self.oldest(|_| true),
            _ => oldest,
        };
        let evicted = oldest.and_then(|key| Some((key, self.remove(&key)?)));
        self.strangers.insert((now, key));
        self.entries.insert(key, Entry { state, is_established: false, at: now });
        evicted
    }

    /// The peer was heard, and has proved that it hears us: a stranger becomes established. The peer that had to leave
    /// for it, if any, is handed back.
    ///
    /// # Errors
    /// [`PeersFull`] if the stranger would be one too many and no established peer is idle. It stays a stranger.
    pub fn establish(&mut self, now: Instant, key: &K) -> Result<Option<(K, V)>, PeersFull> {
        self.establish_unless(now, key, |_| false)
    }

    /// The same, where no peer has to leave that `stays`, however idle it is.
    ///
    /// # Errors
    /// As of [`establish`](Self::establish).
    pub fn establish_unless(
        &mut self,
        now: Instant,
        key: &K,
        stays: impl Fn(&V) -> bool,
    ) -> Result<Option<(K, V)>, PeersFull> {
        let Some(e) = self.entries.get_mut(key) else { return Ok(None) };
        if e.is_established {
            e.at = now;
            return Ok(None);
        }
        let mut evicted = None;
        if self.established >= self.limits.established {
            let idle = self.limits.idle;
            let may_leave = |e: &Entry<V>| e.is_established && now - e.at >= idle && !stays(&e.state);
            let oldest = self.oldest(may_leave).ok_or(PeersFull)?;
            evicted = self.remove(&oldest).map(|state| (oldest, state));
        }
        let e = self.entries.get_mut(key).expect("a stranger, which was not evicted");
        self.strangers.remove(&(e.at, *key));
        (e.is_established, e.at) = (true, now);
        self.established += 1;
        Ok(evicted)
    }

    /// Removes a peer.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        let e = self.entries.remove(key)?;
        self.strangers.remove(&(e.at, *key));
        self.established -= usize::from(e.is_established);
        Some(e.state)
    }

    /// The oldest of those that may leave.
    fn oldest(&self, may_leave: impl Fn(&Entry<V>) -> bool) -> Option<K> {
        let leaving = self.entries.iter().filter(|(_, e)| may_leave(e));
        leaving.min_by_key(|(_, e)| e.at).map(|(key, _)| *key)
    }

    /// # Panics
    /// If an invariant does not hold, which is a bug of this crate.
    pub fn check_invariants(&self) {
        assert_eq!(self.established, self.entries.values().filter(|e| e.is_established).count());
        assert!(self.established <= self.limits.established);
        assert!(self.strangers.len() <= self.limits.strangers);
        assert_eq!(self.strangers.len(), self.entries.len() - self.established);
        assert!(self.strangers.iter().all(|(at, key)| self.entries.get(key).is_some_and(|e| e.at == *at)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: Duration = Duration::from_secs(1);

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    fn full() -> Peers<u32, char> {
        let mut peers = Peers::new(PeersLimits { established: 2, strangers: 2, idle: IDLE });
        for (key, state) in [(1, 'a'), (2, 'b')] {
            assert_eq!(peers.admit(at(0), key, state), None);
            assert_eq!(peers.establish(at(key.into()), &key), Ok(None));
        }
        peers
    }

    #[test]
    fn strangers_displace_only_each_other() {
        let mut peers = full();
        assert_eq!(peers.admit(at(5), 10, 'x'), None);
        assert_eq!(peers.admit(at(6), 11, 'y'), None);
        for key in 12..100 {
            assert!(peers.admit(at(u64::from(key)), key, 'z').is_some());
            peers.check_invariants();
        }
        assert_eq!((peers.len(), peers.get(&1), peers.get(&2)), (4, Some(&'a'), Some(&'b')));
    }

    #[test]
    fn only_an_idle_peer_leaves_for_one_that_has_proved_itself() {
        let mut peers = full();
        peers.admit(at(5), 10, 'x');
        assert_eq!(peers.establish(at(900), &10), Err(PeersFull));
        assert_eq!(peers.establish(at(900), &1), Ok(None));
        assert_eq!(peers.establish_unless(at(1002), &10, |state| *state == 'b'), Err(PeersFull));
        assert_eq!(peers.establish(at(1002), &10), Ok(Some((2, 'b'))));
        assert_eq!(peers.establish(at(1002), &77), Ok(None));
        peers.check_invariants();
        assert_eq!(peers.remove(&10), Some('x'));
        assert_eq!(peers.len(), 1);
    }
}
