//! The testbed: one switch, model cards, nodes without cards, and the cards' owner.
//!
//! Cards are the production card, the owner the production host, the others production endpoints; cables and switch
//! are simulated, with the [`Latencies`] that a node's [`Stand`] gives its cable.

use bytes::Bytes;
use rackloom_bridge::{EndpointConfig, Rights, Ticket, Window};
use rackloom_card::{CardEvent, Config as CardConfig, Pace};
use rackloom_host::{ClaimOptions, Commit, Config as HostConfig, Event, Host, OpId, Outcome};
use rackloom_node::{Duration, Either, Instant};
use rackloom_rack::{Kind, Maker, SimRack, Slot};
use rackloom_sim::{End, NodeId, SwitchConfig, SwitchId};
use rackloom_wire::bridge::MESSAGE_JUMBO;
use rackloom_wire::{BULK_JUMBO, MacAddr};

use crate::error::{Result, StudyError};
use crate::latencies::{Latencies, Stand};
use crate::peer::{Peer, PeerEvent};

/// What is neither card nor switch: the owner, and nodes without cards.
type Party = Either<Box<Host>, Box<Peer>>;
/// What anybody tells.
pub(crate) type Told = Either<Either<Event, PeerEvent>, CardEvent>;

/// The testbed.
#[derive(Debug)]
pub(crate) struct Lab {
    pub(crate) rack: SimRack<Party>,
    pub(crate) latencies: Latencies,
    switch: SwitchId,
    owner: Slot,
    seed: u64,
}

impl Lab {
    /// A switch and an owner who knows no card yet.
    pub(crate) fn new(latencies: Latencies, seed: u64) -> Self {
        let mut rack = SimRack::new(seed, Maker::shared());
        rack.net.hash_off();
        let latency = Duration::from_nanos(latencies.switch_ns);
        let switch = rack.net.switch(SwitchConfig { latency, ..SwitchConfig::with_ports(PORTS) });
        let mut config = HostConfig::simulated(OWNER, seed, latencies.link_rate);
        config.bulk = BULK_JUMBO;
        let host = Either::A(Box::new(Host::new(config)));
        let owner = rack.add_host(OWNER, host, switch, latencies.cable(Stand::Host));
        Self { rack, latencies, switch, owner, seed }
    }

    /// Adds a node without a card.
    pub(crate) fn add_peer(&mut self, stand: Stand, memory: usize) -> Slot {
        let number = u8::try_from(self.rack.hosts().len()).expect("few nodes");
        let mac = MacAddr([2, 0x52, 0x4c, 2, 0, number]);
        let mut config = EndpointConfig::new(mac, 1, false);
        config.longest = MESSAGE_JUMBO;
        let peer = Either::B(Box::new(Peer::new(config, memory)));
        self.rack.add_host(mac, peer, self.switch, self.latencies.cable(stand))
    }

    /// Adds a model card of 64 MiB that differs from the usual one by `change`. The owner claims it.
    ///
    /// # Errors
    /// If it cannot be made or claimed.
    pub(crate) fn add_card(&mut self, change: impl FnOnce(&mut CardConfig)) -> Result<Slot> {
        let number = u16::try_from(self.rack.cards().len()).expect("few cards");
        let mac = MacAddr([2, 0x52, 0x4c, 1, 0, number as u8]);
        let mut config = CardConfig::new(mac, Pace::Virtual);
        (config.unit, config.memory, config.bulk) = (number, 64 << 20, BULK_JUMBO);
        (config.port_rate, config.seed) = (self.latencies.link_rate, self.seed ^ (u64::from(number) + 1));
        change(&mut config);
        let slot = self.rack.add_card(Kind::Model, config, self.switch, self.latencies.cable(Stand::CardMemory))?;
        self.run_until("a card", |_, told| matches!(told, Told::A(Either::A(Event::CardUp(info))) if info.mac == mac))?;
        self.own("a claim", |host, now| host.claim(now, mac, ClaimOptions::default()))?;
        Ok(slot)
    }

    /// Adds a host's interface behind a card: a cable from it to the card's port 1.
    pub(crate) fn add_behind(&mut self, card: Slot, mac: MacAddr) -> Slot {
        let peer = Either::B(Box::new(Peer::new(EndpointConfig::new(mac, 1, false), 0)));
        let node = self.rack.net.add(Either::A(Box::new(peer)));
        let link = self.rack.net.connect(End::Node(node, 0), End::Node(card.node, 1), self.latencies.pcie());
        Slot { node, link, mac }
    }

    /// Loads a role that comes with Rackloom.
    ///
    /// # Errors
    /// If the card does not take it.
    pub(crate) fn load(&mut self, role: &'static str, card: Slot) -> Result<()> {
        let image = Bytes::from_static(rackloom_builtin_roles::image(role).expect("a role of ours"));
        let loaded = self.own("a load", |host, now| host.load(now, &[card.mac], image, Commit::Each))?;
        let Outcome::Loaded(report) = loaded else { unreachable!("a load gives a load's outcome") };
        report.cards.into_values().collect::<Result<Vec<_>, _>>()?;
        Ok(())
    }

    /// Opens a window of a card of the owner's.
    ///
    /// # Errors
    /// If the card refuses.
    pub(crate) fn open(&mut self, card: Slot, number: u16, base: u64, length: u64, rights: Rights) -> Result<()> {
        let window = Window { base, length, peer: MacAddr::ZERO, rights };
        self.own("a window", |host, now| host.set_window(now, card.mac, number, Some(window)))?;
        Ok(())
    }

    /// Virtual time.
    pub(crate) fn now(&self) -> Instant {
        self.rack.net.now()
    }

    /// Gives a node without a card something to do.
    pub(crate) fn with<R>(&mut self, peer: Slot, act: impl FnOnce(&mut Peer, Instant) -> R) -> R {
        self.rack.with_host(peer, |party, now| match party {
            Either::B(peer) => act(peer, now),
            Either::A(_) => unreachable!("it is the owner's place"),
        })
    }

    /// Runs until somebody tells something; `None` when `limit` has come.
    pub(crate) fn next(&mut self, limit: Instant) -> Option<(Instant, NodeId, Told)> {
        self.rack.run_until(limit)
    }

    /// Runs until an event satisfies `see`: the time.
    ///
    /// # Errors
    /// If nothing does within a second.
    pub(crate) fn run_until(
        &mut self,
        what: &'static str,
        mut see: impl FnMut(NodeId, &Told) -> bool,
    ) -> Result<Instant> {
        let limit = self.now() + PATIENCE;
        while let Some((at, node, told)) = self.next(limit) {
            if see(node, &told) {
                return Ok(at);
            }
        }
        Err(StudyError::Stuck { what, at: limit })
    }

    /// Lets time pass: what is under way comes to rest.
    pub(crate) fn rest(&mut self, time: Duration) {
        let until = self.now() + time;
        while self.next(until).is_some() {}
    }

    /// An operation of the owner's, from beginning to end.
    ///
    /// # Errors
    /// If it fails.
    pub(crate) fn own(
        &mut self,
        what: &'static str,
        begin: impl FnOnce(&mut Host, Instant) -> OpId,
    ) -> Result<Outcome> {
        let mine = self.rack.with_host(self.owner, |party, now| match party {
            Either::A(host) => begin(host, now),
            Either::B(_) => unreachable!("the owner is a host"),
        });
        let mut outcome = None;
        self.run_until(what, |_, told| match told {
            Told::A(Either::A(Event::Completed { op, result })) if *op == mine => {
                outcome = Some(result.clone());
                true
            }
            _ => false,
        })?;
        Ok(outcome.expect("just seen")?)
    }

    /// Runs until this request of a node's is over: its bytes.
    ///
    /// # Errors
    /// If it fails.
    pub(crate) fn finish(&mut self, peer: Slot, ticket: Ticket) -> Result<Bytes> {
        let mut outcome = None;
        self.run_until("a request", |node, told| match told {
            Told::A(Either::B(PeerEvent::Done(t, result))) if node == peer.node && *t == ticket => {
                outcome = Some(result.clone());
                true
            }
            _ => false,
        })?;
        Ok(outcome.expect("just seen")?)
    }

    /// Writes to a node's memory in requests of at most `packet` bytes, one after the other.
    ///
    /// # Errors
    /// If one fails.
    pub(crate) fn write(&mut self, from: Slot, to: MacAddr, addr: u64, bytes: &Bytes, packet: usize) -> Result<()> {
        for at in (0..bytes.len()).step_by(packet) {
            let part = bytes.slice(at..bytes.len().min(at + packet));
            let ticket = self.with(from, |peer, now| peer.endpoint.write(now, to, addr + at as u64, part))?;
            self.finish(from, ticket)?;
        }
        Ok(())
    }

    /// Reads in the same way.
    ///
    /// # Errors
    /// If one request fails.
    pub(crate) fn read(&mut self, by: Slot, from: MacAddr, addr: u64, length: usize, packet: usize) -> Result<Bytes> {
        let mut all = Vec::with_capacity(length);
        for at in (0..length).step_by(packet) {
            let count = u32::try_from(packet.min(length - at)).expect("a frame's payload");
            let ticket = self.with(by, |peer, now| peer.endpoint.read(now, from, addr + at as u64, count))?;
            all.extend_from_slice(&self.finish(by, ticket)?);
        }
        Ok(all.into())
    }
}

/// Ports of an SN2100.
const PORTS: u16 = 16;
/// The owner's address.
const OWNER: MacAddr = MacAddr([2, 0x52, 0x4c, 0, 0, 1]);
/// How long anything may take; most takes microseconds.
const PATIENCE: Duration = Duration::from_secs(1);
/// Where windows onto cards' memory begin.
pub(crate) const CARD_BASE: u64 = 2 << 20;
