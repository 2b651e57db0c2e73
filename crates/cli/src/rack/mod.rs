//! Racks of emulated cards in this process, as commands use them.

pub(crate) mod control;

use rackloom::{Rack, RackOptions};
pub(crate) use rackloom_card::Pace;
pub(crate) use rackloom_rack::{Kind, LiveRack, Network, Removal, ServedNetwork, Shape, Topology};
use rackloom_rack::{Maker, NetworkError, RackError};

use crate::failure::{Failure, Result};

/// A rack without cards. Their ports beside port 0 have the cables that `topology` lists.
pub(crate) fn local(shape: Shape, topology: Topology) -> Result<LiveRack> {
    Ok(LiveRack::new(shape, topology, Maker::shared())?)
}

/// A rack of so many model cards, each on the network with one port.
pub(crate) fn of_models(cards: u16, shape: Shape) -> Result<LiveRack> {
    let mut rack = local(shape, Topology::default())?;
    for _ in 0..cards {
        rack.add(Kind::Model)?;
    }
    Ok(rack)
}

/// A host on the rack's switch.
pub(crate) fn connect(rack: &LiveRack, options: RackOptions) -> Result<Rack> {
    Ok(Rack::attach(rack.attach("host")?, options)?)
}

impl From<RackError> for Failure {
    fn from(e: RackError) -> Self {
        let failure = Self::of(&e);
        match e {
            RackError::NoSuchPort { .. } => failure.help("use model cards, or leave the cable out"),
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

/// A seed that no other run has.
pub(crate) fn random_seed() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    // Seeds are written down and typed again: 32 bits are enough of them.
    RandomState::new().build_hasher().finish() >> 32
}
