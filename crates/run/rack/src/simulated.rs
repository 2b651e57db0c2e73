//! A rack in virtual time: hosts of any type, cards of any kind, cables with faults.

use std::collections::BTreeMap;

use rackloom_card::{CardEvent, Config, ConfigError};
use rackloom_node::{Either, Instant, Node};
use rackloom_sim::{Cable, End, LinkId, Net, NodeId, SwitchConfig, SwitchId};
use rackloom_wire::MacAddr;

use crate::{AnyCard, CableEnds, CardPort, FarEnd, Kind, Maker, RackSpec};

/// What stands in a place of a simulated rack.
pub type Place<H> = Either<Box<H>, AnyCard>;

/// Where a node stands, and the cable in its port 0.
#[derive(Debug, Clone, Copy)]
pub struct Slot {
    /// Its place in the network.
    pub node: NodeId,
    /// The cable in its port 0.
    pub link: LinkId,
    /// Address of its port 0.
    pub mac: MacAddr,
}

/// A rack in virtual time. `H` is the type of its hosts.
///
/// Topology, faults and time are the network's: use [`net`](Self::net) for switches, cables and running.
#[derive(Debug)]
pub struct SimRack<H: Node> {
    /// The network.
    pub net: Net<Place<H>>,
    maker: Maker,
    hosts: Vec<Slot>,
    cards: Vec<Slot>,
}

impl<H: Node> SimRack<H> {
    /// A rack without nodes; all faults of its network are drawn from `seed`.
    pub fn new(seed: u64, maker: Maker) -> Self {
        Self { net: Net::new(seed), maker, hosts: Vec::new(), cards: Vec::new() }
    }

    /// The rack of a description: first the hosts, then the cards, each in the next port of one switch, then the cables
    /// between cards.
    ///
    /// # Errors
    /// As [`Maker::make`]: also if a cable ends in a port that its kind of card does not have.
    ///
    /// # Panics
    /// If there are more than 65,535 hosts and cards.
    pub fn build(spec: RackSpec<H>, maker: Maker) -> Result<Self, ConfigError> {
        let RackSpec { seed, hosts, cards, topology, cable, queue_bytes, addresses, faults } = spec;
        let mut rack = Self::new(seed, maker);
        let ports = u16::try_from(hosts.len() + cards.len()).expect("as many ports as a switch can have");
        let shape = SwitchConfig { queue_bytes, table_max: addresses, ..SwitchConfig::with_ports(ports) };
        let switch = rack.net.switch(shape);
        for (mac, host) in hosts {
            let slot = rack.add_host(mac, host, switch, cable);
            rack.net.set_faults(slot.link, faults);
        }
        let mut units = BTreeMap::new();
        for (kind, config) in cards {
            let (unit, ports) = (config.unit, topology.ports(config.mac));
            let nic = topology.nic(unit);
            let slot = rack.add_card(kind, Config { ports, nic, ..config }, switch, cable)?;
            rack.net.set_faults(slot.link, faults);
            units.insert(unit, slot.node);
        }
        let mut networks = BTreeMap::new();
        for CableEnds(near, far) in topology.cables() {
            let end = |end: &CardPort| units.get(&end.unit).map(|node| End::Node(*node, end.port));
            let Some(near) = end(near) else { continue };
            let link = match far {
                FarEnd::Card(far) => end(far).map(|far| rack.net.connect(near, far, cable)),
                FarEnd::Net(net) => {
                    let ports = topology.networks().count() as u16;
                    let shape = SwitchConfig { queue_bytes, ..SwitchConfig::with_ports(ports) };
                    let switch = *networks.entry(net).or_insert_with(|| rack.net.switch(shape));
                    Some(rack.net.plug(near, switch, cable))
                }
            };
            if let Some(link) = link {
                rack.net.set_faults(link, faults);
            }
        }
        Ok(rack)
    }

    /// Where the hosts stand, in the order in which they were added.
    pub fn hosts(&self) -> &[Slot] {
        &self.hosts
    }

    /// Where the cards stand, in the order in which they were added.
    pub fn cards(&self) -> &[Slot] {
        &self.cards
    }

    /// Plugs a host into the first free port of a switch.
    pub fn add_host(&mut self, mac: MacAddr, host: H, switch: SwitchId, cable: Cable) -> Slot {
        let node = self.net.add(Either::A(Box::new(host)));
        let slot = Slot { node, link: self.net.plug(node, switch, cable), mac };
        self.hosts.push(slot);
        slot
    }

    /// Plugs a card into the first free port of a switch, and switches it on.
    ///
    /// # Errors
    /// As [`Maker::make`].
    pub fn add_card(
        &mut self,
        kind: Kind,
        config: Config,
        switch: SwitchId,
        cable: Cable,
    ) -> Result<Slot, ConfigError> {
        let mac = config.mac;
        let node = self.net.add(Either::B(self.maker.make(kind, config)?));
        let slot = Slot { node, link: self.net.plug(node, switch, cable), mac };
        self.cards.push(slot);
        Ok(slot)
    }

    /// A host's program has ended and starts again, and remembers nothing. The place must be empty.
    pub fn restart_host(&mut self, slot: Slot, host: H) {
        self.net.put(slot.node, Either::A(Box::new(host)));
    }

    /// A card's power comes back: another boot of it, which remembers nothing. The place must be empty.
    ///
    /// # Errors
    /// As [`Maker::make`].
    pub fn restart_card(&mut self, slot: Slot, kind: Kind, config: Config) -> Result<(), ConfigError> {
        self.net.put(slot.node, Either::B(self.maker.make(kind, config)?));
        Ok(())
    }

    /// The host in a place.
    ///
    /// # Panics
    /// If a card stands there, or nothing.
    pub fn host(&self, slot: Slot) -> &H {
        match self.net.node(slot.node) {
            Either::A(host) => host,
            Either::B(_) => panic!("{} is a card", slot.node),
        }
    }

    /// The host in a place, to be changed from outside without being polled.
    ///
    /// # Panics
    /// As [`host`](Self::host).
    pub fn host_mut(&mut self, slot: Slot) -> &mut H {
        match self.net.node_mut(slot.node) {
            Either::A(host) => host,
            Either::B(_) => panic!("{} is a card", slot.node),
        }
    }

    /// The card in a place.
    ///
    /// # Panics
    /// If a host stands there, or nothing.
    pub fn card(&self, slot: Slot) -> &AnyCard {
        match self.net.node(slot.node) {
            Either::B(card) => card,
            Either::A(_) => panic!("{} is a host", slot.node),
        }
    }

    /// Gives a host a command.
    ///
    /// # Panics
    /// As [`host`](Self::host).
    pub fn with_host<R>(&mut self, slot: Slot, command: impl FnOnce(&mut H, Instant) -> R) -> R {
        self.net.with(slot.node, |place, now| match place {
            Either::A(host) => command(host, now),
            Either::B(_) => panic!("{} is a card", slot.node),
        })
    }

    /// Does something to a card from outside.
    ///
    /// # Panics
    /// As [`card`](Self::card).
    pub fn with_card<R>(&mut self, slot: Slot, change: impl FnOnce(&mut AnyCard, Instant) -> R) -> R {
        self.net.with(slot.node, |place, now| match place {
            Either::B(card) => change(card, now),
            Either::A(_) => panic!("{} is a host", slot.node),
        })
    }

    /// Runs until a host or a card reports something, up to and including `limit`.
    pub fn run_until(&mut self, limit: Instant) -> Option<(Instant, NodeId, Either<H::Event, CardEvent>)> {
        self.net.run_until(limit)
    }
}
