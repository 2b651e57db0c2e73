//! A rack of emulated cards in this process.

pub(crate) mod control;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use rackloom::{MacAddr, Rack, RackOptions};
pub(crate) use rackloom_card::Pace;
use rackloom_card::{Card, Config, ConfigError};
use rackloom_live::{Clock, Member, Pool, Switch, SwitchConfig};
use rackloom_node::{Either, Instant, Rng};
use rackloom_sandbox::WasmSandbox;
use rackloom_verilated::RtlCard;
use rackloom_wire::BULK_STANDARD;
use serde::{Deserialize, Serialize};

use crate::failure::{Failure, Result};

/// Cards on an in-process switch, run by a few threads.
#[derive(Debug)]
pub(crate) struct LocalRack {
    // Cards go before the pool, the pool before the switch.
    cards: BTreeMap<u16, Member<AnyCard>>,
    pool: Pool,
    switch: Switch,
    sandbox: Arc<WasmSandbox>,
    shape: Shape,
    rng: Rng,
    address: [u8; 3],
}

/// What runs a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// The card model.
    Model,
    /// The gateware in Verilator.
    Rtl,
}

impl Kind {
    /// Its name on the command line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Rtl => "rtl",
        }
    }

    /// Memory of a card of which nothing else is said.
    pub(crate) fn memory(self) -> u64 {
        match self {
            Self::Model => Config::new(MacAddr::ZERO, Pace::Live).memory,
            Self::Rtl => rackloom_verilated::Config::new(MacAddr::ZERO, Pace::Live).card.memory,
        }
    }
}

/// A card of whichever kind.
type AnyCard = Either<Card, RtlCard>;

/// What all cards of a rack have in common.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// DDR bytes of a card; `None`: as many as a card of its kind usually has.
    pub(crate) memory: Option<u64>,
    /// Most payload bytes of a frame. Gateware takes no more than a standard frame's.
    pub(crate) bulk: u16,
    /// Seed of addresses and of the cards' random numbers.
    pub(crate) seed: u64,
    /// Whether kernels take as long as they take, or as long as their cost model says.
    pub(crate) pace: Pace,
}

impl LocalRack {
    /// A rack without cards.
    pub(crate) fn new(shape: Shape) -> Result<Self> {
        let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let pool = Pool::new(threads, Clock::start()).map_err(|e| Failure::of(&e).during("cannot start threads"))?;
        let sandbox = WasmSandbox::new(rackloom_sandbox::WasmConfig::default()).map_err(|e| Failure::of(&e))?;
        let mut rng = Rng::new(shape.seed);
        let [a, b, c, ..] = rng.next_u64().to_be_bytes();
        let switch = Switch::new(SwitchConfig::default());
        let cards = BTreeMap::new();
        Ok(Self { cards, pool, switch, sandbox: Arc::new(sandbox), shape, rng, address: [a, b, c] })
    }

    /// The switch that the cards are on.
    pub(crate) const fn switch(&self) -> &Switch {
        &self.switch
    }

    /// The cards' unit numbers.
    pub(crate) fn units(&self) -> impl DoubleEndedIterator<Item = u16> + '_ {
        self.cards.keys().copied()
    }

    /// Plugs a card in; its unit number is the lowest that is free.
    pub(crate) fn add(&mut self, kind: Kind) -> Result<(u16, MacAddr)> {
        let unit = (0..u16::MAX).find(|u| !self.cards.contains_key(u)).expect("a switch has fewer ports");
        let mac = self.mac(unit);
        let failed = |e: &(dyn std::error::Error + 'static)| Failure::of(e).during(format!("cannot start card{unit}"));
        let port = self.switch.attach(&format!("card{unit}")).map_err(|e| failed(&e))?;
        let card = self.card(kind, unit).map_err(|e| failed(&e))?;
        self.cards.insert(unit, self.pool.add(card, port, |_| {}));
        Ok((unit, mac))
    }

    fn card(&mut self, kind: Kind, unit: u16) -> core::result::Result<AnyCard, ConfigError> {
        let (mac, shape) = (self.mac(unit), self.shape);
        let (seed, boot) = (self.rng.next_u64(), self.rng.next_u64() as u32);
        let own = |usual: Config| Config {
            unit,
            seed,
            boot,
            memory: shape.memory.unwrap_or(usual.memory),
            bulk: if kind == Kind::Rtl { shape.bulk.min(BULK_STANDARD) } else { shape.bulk },
            ..usual
        };
        Ok(match kind {
            Kind::Model => Either::A(Card::new(own(Config::new(mac, shape.pace)), self.sandbox.clone())?),
            Kind::Rtl => {
                let usual = rackloom_verilated::Config::new(mac, shape.pace);
                Either::B(RtlCard::new(rackloom_verilated::Config { card: own(usual.card.clone()), ..usual })?)
            }
        })
    }

    /// Pulls a card out: after its goodbye or, if it is yanked, without one. False if there is none.
    pub(crate) fn remove(&mut self, unit: u16, yank: bool) -> bool {
        let Some(member) = self.cards.remove(&unit) else { return false };
        if !yank {
            // The first command queues the goodbye, and the second begins only once that was sent. If the card has
            // stopped already, there is nothing to say.
            let _ = member.with(unplug).and_then(|()| member.with(|_, _| ()));
        }
        drop(member);
        true
    }

    /// The address of the card with this unit number, whether it is there or not.
    pub(crate) fn mac(&self, unit: u16) -> MacAddr {
        let [a, b, c] = self.address;
        let [high, low] = unit.to_be_bytes();
        // Locally administered, unicast.
        MacAddr([0x02, a, b, c, high, low])
    }

    /// A host on the same switch.
    pub(crate) fn connect(&self, options: RackOptions) -> Result<Rack> {
        let port = self.switch.attach("host").map_err(|e| Failure::of(&e))?;
        Ok(Rack::attach(port, options)?)
    }

    /// Pulls all cards out, with goodbyes.
    pub(crate) fn clear(&mut self) {
        for unit in self.units().collect::<Vec<_>>() {
            self.remove(unit, false);
        }
    }
}

fn unplug(card: &mut AnyCard, now: Instant) {
    match card {
        Either::A(card) => card.unplug(now),
        Either::B(card) => card.unplug(now),
    }
}

/// A seed that no other run has.
pub(crate) fn random_seed() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    // Seeds are written down and typed again: 32 bits are enough of them.
    RandomState::new().build_hasher().finish() >> 32
}
