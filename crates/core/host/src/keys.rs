//! The keys of a host: one for each card that it may claim.

use std::collections::BTreeMap;

use rackloom_auth::{PairKey, host};
use rackloom_wire::MacAddr;

/// What a host with keys is given.
#[derive(Debug, Clone)]
pub struct Keys {
    /// The host's number, which its address tells.
    number: u16,
    generation: u32,
    pairs: BTreeMap<MacAddr, PairKey>,
    /// Of the generation before, while that still counts.
    former: BTreeMap<MacAddr, PairKey>,
    /// Where its counter of claims begins.
    claims_from: u64,
    /// Sessions are encrypted.
    encrypts: bool,
}

impl Keys {
    /// The keys of host `number`, by the cards' addresses, of the rack's first generation. `claims_from` is the time of
    /// day in nanoseconds: claims are counted from there by the host's clock, so that the counter does not go back when
    /// the host starts again.
    pub const fn new(number: u16, pairs: BTreeMap<MacAddr, PairKey>, claims_from: u64) -> Self {
        Self { number, generation: 0, pairs, former: BTreeMap::new(), claims_from, encrypts: false }
    }

    /// The keys are of this generation. Those of the generation before are for cards that do not have the newer ones
    /// yet.
    #[must_use]
    pub fn of_generation(self, generation: u32, former: BTreeMap<MacAddr, PairKey>) -> Self {
        Self { generation, former: if generation > 0 { former } else { BTreeMap::new() }, ..self }
    }

    /// The same for a host that starts again: its claims are counted from this time of day, in nanoseconds, unless that
    /// is before the time from which they were counted so far.
    #[must_use]
    pub fn counting_from(self, time: u64) -> Self {
        Self { claims_from: self.claims_from.max(time), ..self }
    }

    /// Sessions are encrypted if this says so: then a card that cannot do that is of no use.
    #[must_use]
    pub fn encrypting(self, encrypts: bool) -> Self {
        Self { encrypts, ..self }
    }

    /// Whether sessions are encrypted.
    pub const fn encrypts(&self) -> bool {
        self.encrypts
    }

    /// An address of this host for one of its programs.
    pub const fn address(&self, own: [u8; 3]) -> MacAddr {
        MacAddr(host::address(self.number, own))
    }

    /// The cards that it has keys for.
    pub fn cards(&self) -> impl Iterator<Item = MacAddr> {
        let older = self.former.keys().filter(|card| !self.pairs.contains_key(card));
        self.pairs.keys().chain(older).copied()
    }

    /// The keys for this card with their generations, the newest first.
    pub(crate) fn of(&self, card: MacAddr) -> impl Iterator<Item = (u32, &PairKey)> {
        let newest = self.pairs.get(&card).map(|key| (self.generation, key));
        let former = self.former.get(&card).map(|key| (self.generation - 1, key));
        newest.into_iter().chain(former)
    }

    pub(crate) const fn claims_from(&self) -> u64 {
        self.claims_from
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_starts_again_counts_no_claim_as_one_before() {
        let keys = Keys::new(1, BTreeMap::new(), 5);
        assert_eq!(keys.clone().counting_from(9).claims_from(), 9);
        assert_eq!(keys.counting_from(3).claims_from(), 5, "also where the clock was set back");
    }
}
