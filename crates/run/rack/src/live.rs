//! A rack of cards in this process, in real time.

use std::collections::BTreeMap;
use std::num::{NonZeroU64, NonZeroUsize};
use std::time::{Duration, Instant};
use std::{io, thread};

use rackloom_card::{CardEvent, Config, ConfigError, Pace, PortService};
use rackloom_live::{Cable, Clock, Member, Net, Pool, Port, Ports, Switch, SwitchError, random_u64};
use rackloom_node::Rng;
use rackloom_wire::{BULK_STANDARD, MacAddr};

use crate::nic::LiveNic;
use crate::topology::port_mac;
use crate::{AnyCard, BoardVersions, CableEnds, CardPort, FarEnd, Kind, Maker, NicError, NicReport, Topology};

/// Cards on an in-process switch, run by a few threads, with cables between their other ports.
#[derive(Debug)]
pub struct LiveRack {
    // Cards go before the pool, the pool before the switch.
    cards: BTreeMap<u16, Member<AnyCard>>,
    pool: Pool,
    switch: Switch,
    cables: Vec<(CableEnds, Cable)>,
    networks: BTreeMap<Net, Switch>,
    nics: BTreeMap<u16, LiveNic>,
    topology: Topology,
    maker: Maker,
    shape: Shape,
    versions: BoardVersions,
}

/// What all cards of a rack have in common. The default is that of [`Config::new`], live, with seed 1.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Bytes of memory of a card; `None`: as many as a card of its kind usually has.
    pub memory: Option<u64>,
    /// Most payload bytes of a frame, as far as the card's kind takes them.
    pub bulk: u16,
    /// Seed of the cards' addresses. Their boot numbers and first epochs are random at each start.
    pub seed: u64,
    /// Whether kernels take as long as they take, or as long as their cost model says.
    pub pace: Pace,
    /// What each port of a card to another node sends at most, bits a second; `None`: as fast as this machine can.
    pub rate: Option<NonZeroU64>,
}

impl Default for Shape {
    fn default() -> Self {
        Self { memory: None, bulk: BULK_STANDARD, seed: 1, pace: Pace::Live, rate: None }
    }
}

/// Why a rack, or a card of it, cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum RackError {
    /// No thread can be started.
    #[error("cannot start threads")]
    Threads(#[source] io::Error),
    /// The card cannot be made.
    #[error("cannot start card{unit}")]
    Card {
        /// Unit number of the card.
        unit: u16,
        /// The reason.
        source: ConfigError,
    },
    /// The switch takes no more.
    #[error(transparent)]
    Switch(#[from] SwitchError),
    /// A cable ends in a port that the card does not have.
    #[error("cable {cable} ends in port {} of card{}, and a card of kind {kind} has {} ports", .end.port, .end.unit, .kind.ports_max())]
    NoSuchPort {
        /// The cable.
        cable: CableEnds,
        /// The end without a port.
        end: CardPort,
        /// Kind of the card.
        kind: Kind,
    },
    /// A card is to have more links than its kind can.
    #[error("card{unit} is to have {links} links, and a card of kind {kind} has {} at most", .kind.links_max())]
    TooManyLinks {
        /// Unit number of the card.
        unit: u16,
        /// Kind of the card.
        kind: Kind,
        /// Ports that are links.
        links: usize,
    },
    /// A card has a key, and is to have what no card of its kind has beside one.
    #[error("card{unit} has a key, and is to have {what}: a card of kind {kind} has none beside a key")]
    Keyed {
        /// Unit number of the card.
        unit: u16,
        /// Kind of the card.
        kind: Kind,
        /// What it is to have.
        what: &'static str,
    },
    /// A card is to have links over which others send frames that are too long for it.
    #[error("card{unit} is to have links, and a card of kind {kind} takes no frames as long as its neighbours send")]
    LinkFrames {
        /// Unit number of the card.
        unit: u16,
        /// Kind of the card.
        kind: Kind,
    },
    /// The interface of a host behind a card cannot be made.
    #[error(transparent)]
    Nic(#[from] NicError),
    /// A host is to be behind a card that has no port left.
    #[error("card{unit} is to have a host behind it, and the cables leave no port of a card of kind {kind}")]
    NoPortForHost {
        /// Unit number of the card.
        unit: u16,
        /// Kind of the card.
        kind: Kind,
    },
    /// A card's role is to see the frames of the host behind it, and cannot.
    #[error("card{unit} is to hook its role in before its host, and a card of kind {kind} has no hook")]
    NoHook {
        /// Unit number of the card.
        unit: u16,
        /// Kind of the card.
        kind: Kind,
    },
}

impl LiveRack {
    /// A rack without cards, and the cables and interfaces that wait for them.
    ///
    /// # Errors
    /// [`RackError::Threads`] and [`RackError::Nic`].
    pub fn new(shape: Shape, topology: Topology, maker: Maker) -> Result<Self, RackError> {
        Self::on(Switch::default(), shape, topology, maker)
    }

    /// The same on this switch.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn on(switch: Switch, shape: Shape, topology: Topology, maker: Maker) -> Result<Self, RackError> {
        let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let pool = Pool::new(threads, Clock::start()).map_err(RackError::Threads)?;
        let mut rack = Self {
            cards: BTreeMap::new(),
            pool,
            switch,
            cables: topology.cables().iter().map(|ends| (ends.clone(), Cable::new())).collect(),
            networks: topology.networks().map(|net| (net.clone(), Switch::default())).collect(),
            nics: BTreeMap::new(),
            topology,
            maker,
            shape,
            versions: BoardVersions::default(),
        };
        if let Some(host) = rack.topology.host_port() {
            for plug in rack.topology.nics() {
                let nic = LiveNic::open(plug, port_mac(rack.mac(plug.unit), host))?;
                rack.nics.insert(plug.unit, nic);
            }
        }
        Ok(rack)
    }

    /// The hosts behind cards, in the order of the cards' unit numbers.
    pub fn nics(&self) -> Vec<NicReport> {
        let counters = |unit| self.cards.get(unit)?.with(|card, _| card.nic_counters()).ok()?;
        self.nics.iter().map(|(unit, nic)| nic.report(counters(unit))).collect()
    }

    /// An interface that is gone, and why. Reported once.
    pub fn nic_failure(&self) -> Option<(String, io::Error)> {
        self.nics.values().find_map(|nic| Some((nic.report(None).plug.interface, nic.failure()?)))
    }

    /// The switch that port 0 of all cards is on.
    pub const fn switch(&self) -> &Switch {
        &self.switch
    }

    /// The networks beside the rack's own that cables go to, each with the switch that stands for it here: whoever
    /// keeps the rack up serves them to others, each as a [`Network`](crate::Network).
    pub fn networks(&self) -> impl Iterator<Item = (&Net, &Switch)> {
        self.networks.iter()
    }

    /// The cards' unit numbers, in order.
    pub fn units(&self) -> impl DoubleEndedIterator<Item = u16> + '_ {
        self.cards.keys().copied()
    }

    /// The card with this unit number, if it is there.
    pub fn card(&self, unit: u16) -> Option<&Member<AnyCard>> {
        self.cards.get(&unit)
    }

    /// Plugs a card in, with all its cables; its unit number is the lowest that is free.
    ///
    /// # Errors
    /// The card cannot be made, the switch is full, or a cable ends in a port that this kind of card does not have.
    pub fn add(&mut self, kind: Kind) -> Result<(u16, MacAddr), RackError> {
        self.add_with(kind, |_| {})
    }

    /// As [`add`](Self::add), but `change` has the last word on the card's configuration. The rack goes on to know the
    /// card by the number of its slot, whatever unit number and address the card announces.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn add_with(&mut self, kind: Kind, change: impl FnOnce(&mut Config)) -> Result<(u16, MacAddr), RackError> {
        let unit = (0..u16::MAX).find(|u| !self.cards.contains_key(u)).expect("a switch has fewer ports");
        let ports = self.plug_in(kind, unit)?;
        let mut config = self.config(kind, unit);
        change(&mut config);
        let mac = config.mac;
        if let Some(what) = missing_beside_keys(kind, &config) {
            return Err(RackError::Keyed { unit, kind, what });
        }
        if config.signers.is_some() {
            config.versions = self.versions.of(mac);
        }
        let card = self.maker.make(kind, config).map_err(|source| RackError::Card { unit, source })?;
        let versions = self.versions.clone();
        let note = move |event| {
            if let CardEvent::Raised(release) = event {
                versions.raise(mac, &release);
            }
        };
        self.cards.insert(unit, self.pool.add(card, ports, note));
        Ok((unit, mac))
    }

    /// What its cards have run of signed images: a card that is pulled out and plugged in again finds it there.
    pub const fn versions(&self) -> &BoardVersions {
        &self.versions
    }

    /// Gives a card with keys others. False if it is not there, or has none, or no room for so many hosts.
    pub fn rekey(&self, unit: u16, keys: rackloom_card::Keys) -> bool {
        self.card(unit).is_some_and(|card| card.with(move |card, now| card.rekey(now, keys)).unwrap_or(false))
    }

    /// Waits until a card goes by the keys that it was given last: one of gateware takes them when its firmware has the
    /// time. False if it does not within this time; one that is not there goes by none.
    pub fn wait_for_keys(&self, unit: u16, patience: Duration) -> bool {
        let until = Instant::now() + patience;
        loop {
            let has = self.card(unit).is_none_or(|card| card.with(|card, _| card.has_taken_keys()).unwrap_or(true));
            if has || Instant::now() >= until {
                return has;
            }
            thread::sleep(KEYS_POLL);
        }
    }

    /// Pulls a card out: after its goodbye or, if it is yanked, without one. False if there is none. Its cables stay,
    /// and wait for the next card of this number.
    pub fn remove(&mut self, unit: u16, how: Removal) -> bool {
        let Some(member) = self.cards.remove(&unit) else { return false };
        if how == Removal::Goodbye {
            // The first command queues the goodbye, and the second begins only once that was sent. If the card has
            // stopped already, there is nothing to say.
            let _ = member.with(AnyCard::unplug).and_then(|()| member.with(|_, _| ()));
        }
        drop(member);
        true
    }

    /// The address of the card with this unit number, whether it is there or not.
    pub fn mac(&self, unit: u16) -> MacAddr {
        card_address(self.shape.seed, unit)
    }

    /// A port of the switch for a host.
    ///
    /// # Errors
    /// [`RackError::Switch`].
    pub fn attach(&self, name: &str) -> Result<Port, RackError> {
        Ok(self.switch.attach(name)?)
    }

    /// Pulls all cards out, with goodbyes.
    pub fn clear(&mut self) {
        for unit in self.units().collect::<Vec<_>>() {
            self.remove(unit, Removal::Goodbye);
        }
    }

    /// The card's ends of the switch, of all its cables, and of the one to its host.
    fn plug_in(&self, kind: Kind, unit: u16) -> Result<Ports, RackError> {
        let links = self.topology.links().len();
        if links > usize::from(kind.links_max()) {
            return Err(RackError::TooManyLinks { unit, kind, links });
        }
        if links > 0 && self.shape.bulk > kind.bulk_max() {
            return Err(RackError::LinkFrames { unit, kind });
        }
        let name = format!("card{unit}");
        let at_rate = |mut port: Port| {
            if let Some(rate) = self.shape.rate {
                port.set_rate(rate);
            }
            port
        };
        let mut ports = Ports::from(at_rate(self.switch.attach(&name)?));
        for (ends, cable) in &self.cables {
            for end in ends.card_ports().filter(|end| end.unit == unit) {
                if end.port >= kind.ports_max() && !self.topology.links().contains(&end.port) {
                    return Err(RackError::NoSuchPort { cable: ends.clone(), end, kind });
                }
                let port = match &ends.1 {
                    FarEnd::Card(_) => cable.end(&name).expect("each port has one cable, each cable two ports"),
                    FarEnd::Net(net) => self.networks[net].attach(&name)?,
                };
                ports = ports.with(end.port, at_rate(port));
            }
        }
        if let (Some(nic), Some(host)) = (self.nics.get(&unit), self.topology.host_port()) {
            if host >= kind.ports_max() {
                return Err(RackError::NoPortForHost { unit, kind });
            }
            if !kind.has_hook() && self.topology.nic(unit).is_some_and(|nic| nic.hook.is_some()) {
                return Err(RackError::NoHook { unit, kind });
            }
            ports = ports.with(host, nic.end(&name));
        }
        Ok(ports)
    }

    fn config(&self, kind: Kind, unit: u16) -> Config {
        let (mac, shape) = (self.mac(unit), self.shape);
        let mut ports = self.topology.ports(mac);
        // What its kind does not have is closed, before a link, and else is not there.
        for port in ports.iter_mut().skip(usize::from(kind.ports_max()) - 1) {
            if port.service != PortService::Link {
                port.service = PortService::Closed;
            }
        }
        while ports.len() >= usize::from(kind.ports_max())
            && ports.last().is_some_and(|port| port.service == PortService::Closed)
        {
            ports.pop();
        }
        let standard = Config::new(mac, shape.pace);
        Config {
            unit,
            ports,
            nic: self.topology.nic(unit),
            // Not of the rack's seed: a rack that is started again would grant the epochs that it granted before, and
            // two racks of one seed could not be told apart.
            seed: random_u64(),
            boot: random_u64() as u32,
            memory: shape.memory.unwrap_or_else(|| kind.memory()),
            bulk: shape.bulk,
            port_rate: shape.rate.map_or(standard.port_rate, NonZeroU64::get),
            ..standard
        }
    }
}

/// The address of the card with this unit number in a rack of this seed.
pub fn card_address(seed: u64, unit: u16) -> MacAddr {
    let [a, b, c, ..] = Rng::new(seed).next_u64().to_be_bytes();
    let [high, low] = unit.to_be_bytes();
    // Locally administered, unicast.
    MacAddr([0x02, a, b, c, high, low])
}

/// What the card is to have, and its kind does not have beside a key.
fn missing_beside_keys(kind: Kind, config: &Config) -> Option<&'static str> {
    if kind != Kind::Rtl || config.keys.is_none() {
        return None;
    }
    let links = config.ports.iter().any(|port| port.service == PortService::Link);
    if links { Some("links") } else { config.nic.map(|_| "a host behind it") }
}

/// How a card leaves its rack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removal {
    /// It says goodbye first.
    Goodbye,
    /// As when its power fails.
    Yank,
}

/// Time between two looks at a card that is to take keys.
const KEYS_POLL: Duration = Duration::from_millis(1);
