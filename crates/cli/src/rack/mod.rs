//! Racks of emulated cards in this process, as commands use them.

pub(crate) mod access;
pub(crate) mod control;
pub(crate) mod demands;

use std::collections::BTreeMap;
use std::time::Duration;

use rackloom::{Keys, Rack, RackOptions};
use rackloom_auth::RackKey;
pub(crate) use rackloom_card::Pace;
use rackloom_live::{Switch, SwitchConfig};
pub(crate) use rackloom_rack::{Kind, LiveRack, Network, NicPlug, Removal, ServedNetwork, Shape, Topology};
use rackloom_rack::{Maker, NetworkError, RackError};

use crate::cards::Roster;
use crate::failure::{Failure, Result};
use crate::format;

/// A rack without cards. The cables in `topology` join the ports of its cards other than port 0.
pub(crate) fn local(shape: Shape, topology: Topology) -> Result<LiveRack> {
    Ok(LiveRack::new(shape, topology, Maker::shared())?)
}

/// A rack of `cards` model cards, each with one port.
pub(crate) fn of_models(cards: u16, shape: Shape) -> Result<LiveRack> {
    let mut rack = local(shape, Topology::default())?;
    for _ in 0..cards {
        rack.add(Kind::Model)?;
    }
    Ok(rack)
}

/// The same with keys, which protect nothing: what they cost is measured. And those of a host. Nobody can draw an
/// address of theirs to another port by sending under it.
pub(crate) fn of_keyed_models(cards: u16, shape: Shape) -> Result<(LiveRack, Keys)> {
    let switch = Switch::new(SwitchConfig { sticky: true, ..SwitchConfig::default() });
    let mut rack = LiveRack::on(switch, shape, Topology::default(), Maker::shared())?;
    let key = RackKey::new([1; 16]);
    let mut pairs = BTreeMap::new();
    for unit in 0..cards {
        let card = rack.mac(unit);
        let own = key.card(card.0, 0);
        pairs.insert(card, own.host(0, 0));
        rack.add_with(Kind::Model, |config| config.keys = Some(rackloom_card::Keys::new(own, [(0, 0)])))?;
    }
    Ok((rack, Keys::new(0, pairs, 1)))
}

/// A host on the rack's switch.
pub(crate) fn connect(rack: &LiveRack, options: RackOptions) -> Result<Rack> {
    Ok(Rack::attach(rack.attach("host")?, options)?)
}

/// Looks for the cards of a rack, all of which must answer within `time`.
pub(crate) fn discover_all(rack: &LiveRack, host: &Rack, time: Duration) -> Result<Roster> {
    let roster = Roster::new(host.discover(time)?);
    let answered = |unit: &u16| roster.cards().iter().any(|card| card.mac == rack.mac(*unit));
    let missing: Vec<_> = rack.units().filter(|unit| !answered(unit)).map(|unit| format!("card{unit}")).collect();
    if missing.is_empty() {
        return Ok(roster);
    }
    let (found, all, time) = (roster.cards().len(), rack.units().count(), format::time(time));
    let what = format!("{found} of {all} cards answered within {time}; no answer from {}", missing.join(", "));
    Err(Failure::new(what).help("give them more time with --discover"))
}

impl From<RackError> for Failure {
    fn from(e: RackError) -> Self {
        let failure = Self::of(&e);
        match e {
            RackError::TooManyLinks { .. } => failure.help("use model cards, or a shape with fewer links of a card"),
            RackError::Keyed { .. } => {
                failure.help("use a model card there, or omit --keys (on an interface --insecure-open)")
            }
            RackError::LinkFrames { .. } => {
                failure.help("start the rack with a card of that kind, or use a model card")
            }
            RackError::NoSuchPort { .. } => failure.help("use model cards, or omit the cable"),
            RackError::NoPortForHost { .. } | RackError::NoHook { .. } => {
                failure.help("use a model card there, or name another card with --nic")
            }
            _ => failure,
        }
    }
}

impl From<NetworkError> for Failure {
    fn from(e: NetworkError) -> Self {
        let failure = Self::of(&e);
        match e {
            NetworkError::Interface { .. } => {
                failure.help("raw sockets need root or CAP_NET_RAW; see `rackloom doctor`")
            }
            _ => failure,
        }
    }
}

/// A new seed for each run.
pub(crate) fn random_seed() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    // People write seeds down and type them again: 32 bits are enough.
    RandomState::new().build_hasher().finish() >> 32
}
