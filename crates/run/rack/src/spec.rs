//! What a simulated rack is made of.

use rackloom_card::Config;
use rackloom_sim::{Cable, Faults, SwitchConfig};
use rackloom_wire::MacAddr;

use crate::{Kind, Topology};

/// A rack in virtual time: hosts and cards on one switch, cables between the cards' other ports, and the faults of all
/// of them. [`SimRack::build`](crate::SimRack::build) makes it.
#[derive(Debug)]
pub struct RackSpec<H> {
    /// Seed of the network: all faults are drawn from it.
    pub seed: u64,
    /// The hosts, each with the address of its port 0.
    pub hosts: Vec<(MacAddr, H)>,
    /// The cards. Their ports beside port 0 follow from the topology, whatever their configurations say.
    pub cards: Vec<(Kind, Config)>,
    /// Cables in the cards' other ports, by unit number. A cable to a card that the rack does not have is left out; a
    /// network that cables go to is a switch of its own.
    pub topology: Topology,
    /// What every cable is like.
    pub cable: Cable,
    /// Bytes on the wire that each port of the switch can queue.
    pub queue_bytes: u32,
    /// Most addresses that the switch learns; with none every frame comes to everybody.
    pub addresses: usize,
    /// Faults of every cable, in each direction for itself.
    pub faults: Faults,
}

impl<H> RackSpec<H> {
    /// An empty rack of 10 Gb/s without faults, with the default switch.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            hosts: Vec::new(),
            cards: Vec::new(),
            topology: Topology::default(),
            cable: Cable::TEN_GIGABIT,
            queue_bytes: SwitchConfig::default().queue_bytes,
            addresses: SwitchConfig::default().table_max,
            faults: Faults::NONE,
        }
    }
}
