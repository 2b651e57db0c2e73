//! A rack in virtual time: hosts of any type, cards of any kind, cables with faults.

use rackloom_card::{CardEvent, Config, ConfigError};
use rackloom_node::{Either, Instant, Node};
use rackloom_sim::{Cable, End, LinkId, Net, NodeId, SwitchId};
use rackloom_wire::MacAddr;

use crate::{AnyCard, Kind, Maker};

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
}

impl<H: Node> SimRack<H> {
    /// A rack without nodes; all faults of its network are drawn from `seed`.
    pub fn new(seed: u64, maker: Maker) -> Self {
        Self { net: Net::new(seed), maker }
    }

    /// Plugs a host into the first free port of a switch.
    pub fn add_host(&mut self, mac: MacAddr, host: H, switch: SwitchId, cable: Cable) -> Slot {
        let node = self.net.add(Either::A(Box::new(host)));
        Slot { node, link: self.net.plug(node, switch, cable), mac }
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
        Ok(Slot { node, link: self.net.plug(End::Node(node, 0), switch, cable), mac })
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
