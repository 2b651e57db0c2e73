//! The keys of a rack that is attacked.

use rackloom_auth::{CardKey, RackKey};
use rackloom_wire::MacAddr;

use crate::stranger::Stranger;

/// The keys of some cards, of their hosts, and of a stranger who is a host of the same cards.
#[derive(Debug, Clone)]
pub struct Keyring {
    cards: Vec<MacAddr>,
}

impl Keyring {
    /// The number of the host whose keys the stranger holds.
    pub const STRANGER: u16 = 0x5757;

    /// Keys for these cards, the same each time.
    pub fn new(cards: impl IntoIterator<Item = MacAddr>) -> Self {
        Self { cards: cards.into_iter().collect() }
    }

    fn key(card: MacAddr) -> CardKey {
        RackKey::new([7; 16]).card(card.0, 0)
    }

    /// What a card is given: its key, and these hosts beside the stranger.
    pub fn of_card(card: MacAddr, hosts: impl IntoIterator<Item = u16>) -> rackloom_card::Keys {
        let hosts = hosts.into_iter().chain([Self::STRANGER]);
        rackloom_card::Keys::new(Self::key(card), hosts.map(|host| (host, 0)))
    }

    /// What a host is given; it counts its claims from `claims_from` on.
    pub fn of_host(&self, host: u16, claims_from: u64) -> rackloom_host::Keys {
        let pair = |card: &MacAddr| (*card, Self::key(*card).host(host.into(), 0));
        rackloom_host::Keys::new(host, self.cards.iter().map(pair).collect(), claims_from)
    }

    /// The stranger, with his keys.
    pub fn stranger(&self, seed: u64) -> Stranger {
        let pair = |card: &MacAddr| (*card, Self::key(*card).host(Self::STRANGER.into(), 0));
        Stranger::new(seed, self.cards.iter().map(pair))
    }
}
