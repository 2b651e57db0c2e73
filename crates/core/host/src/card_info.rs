//! What a card says of itself.

use rackloom_wire::{
    ASKS_ENCRYPTION, ASKS_KEY, ASKS_SIGNATURE, Announce, BULK_STANDARD, CardKind, CardState, MacAddr, ROLE_PRIVATE,
};

use crate::error::Absurdity;

/// An announcement, decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardInfo {
    /// Address of port 0: the card's identity.
    pub mac: MacAddr,
    /// Address of port 1, or zeros.
    pub mac1: MacAddr,
    /// Vendor id.
    pub vendor: u16,
    /// Product id.
    pub product: u16,
    /// Its number in the rack, as set on the card.
    pub unit: u16,
    /// What runs it.
    pub kind: CardKind,
    /// What it is doing.
    pub state: CardState,
    /// Network ports.
    pub ports: u8,
    /// Most payload bytes in a frame.
    pub bulk: u16,
    /// Drawn at each boot.
    pub boot: u32,
    /// Clock of the role, kHz.
    pub clock_khz: u32,
    /// DDR bytes.
    pub memory: u64,
    /// Rate of port 0, bits a second.
    pub port_rate: u64,
    /// Rate of staging, bytes a second; 0: as fast as it comes.
    pub stage_rate: u64,
    /// Rate of the configuration port, bytes a second; 0: instantly.
    pub config_rate: u64,
    /// The claim's owner, if any.
    pub owner: Option<MacAddr>,
    /// The claim's epoch, 0: none.
    pub epoch: u16,
    /// What it asks of hosts and images.
    pub asks: Asks,
    /// Kernels of the active image.
    pub kernels: u16,
    /// BLAKE3 digest of the active image, if any.
    pub digest: Option<[u8; 32]>,
}

/// What a card asks of hosts and images.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Asks {
    /// Claims need a tag under a key of the card.
    pub key: bool,
    /// Images need a signature that counts there.
    pub signature: bool,
    /// Claims need encryption.
    pub encryption: bool,
}

impl Asks {
    fn of(announced: u8) -> Self {
        let has = |bit: u16| u16::from(announced) & bit != 0;
        Self { key: has(ASKS_KEY), signature: has(ASKS_SIGNATURE), encryption: has(ASKS_ENCRYPTION) }
    }
}

impl CardInfo {
    /// Why no card can be as this one says it is; `None` if one can. Such a card is listed, and is not claimed: what it
    /// announces must not decide for others.
    pub const fn absurdity(&self) -> Option<Absurdity> {
        if self.memory <= ROLE_PRIVATE {
            Some(Absurdity::Memory(self.memory))
        } else if self.bulk < BULK_STANDARD {
            Some(Absurdity::Bulk(self.bulk))
        } else {
            None
        }
    }

    /// Decodes an announcement; `None` if a field is out of its range.
    pub(crate) fn decode(a: &Announce, epoch: u16) -> Option<Self> {
        let bulk = a.bulk.get();
        if a.mac0.is_multicast() || a.mac0.is_zero() || bulk == 0 || !bulk.is_multiple_of(rackloom_wire::BEAT) {
            return None;
        }
        Some(Self {
            mac: a.mac0,
            mac1: a.mac1,
            vendor: a.vendor.get(),
            product: a.product.get(),
            unit: a.unit.get(),
            kind: CardKind::from_wire(a.card_kind)?,
            state: CardState::from_wire(a.state)?,
            ports: a.ports,
            bulk,
            boot: a.boot.get(),
            clock_khz: a.clock_khz.get(),
            memory: a.memory.get(),
            port_rate: a.port_rate.get(),
            stage_rate: a.stage_rate.get(),
            config_rate: a.config_rate.get(),
            owner: (!a.owner.is_zero()).then_some(a.owner),
            epoch,
            asks: Asks::of(a.asks),
            kernels: a.kernels.into(),
            digest: (a.digest != [0; 32]).then_some(a.digest),
        })
    }
}
