//! The keys of a host: one for each card that it may claim.

use std::collections::BTreeMap;

use rackloom_auth::{PairKey, host};
use rackloom_wire::MacAddr;

/// What a host with keys is given.
#[derive(Debug, Clone)]
pub struct Keys {
    /// The host's number, which its address tells.
    number: u16,
    pairs: BTreeMap<MacAddr, PairKey>,
    /// Where its counter of claims begins.
    claims_from: u64,
}

impl Keys {
    /// The keys of host `number`, by the cards' addresses. `claims_from` is the time of day in nanoseconds: claims are
    /// counted from there by the host's clock, so that the counter does not go back when the host starts again.
    pub const fn new(number: u16, pairs: BTreeMap<MacAddr, PairKey>, claims_from: u64) -> Self {
        Self { number, pairs, claims_from }
    }

    /// An address of this host for one of its programs.
    pub const fn address(&self, own: [u8; 3]) -> MacAddr {
        MacAddr(host::address(self.number, own))
    }

    /// The cards that it has keys for.
    pub fn cards(&self) -> impl Iterator<Item = MacAddr> {
        self.pairs.keys().copied()
    }

    pub(crate) fn pair(&self, card: MacAddr) -> Option<&PairKey> {
        self.pairs.get(&card)
    }

    pub(crate) const fn claims_from(&self) -> u64 {
        self.claims_from
    }
}
