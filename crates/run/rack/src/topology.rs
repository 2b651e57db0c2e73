//! Which ports have a cable between them, and which cards have a host behind them.

use core::fmt;
use core::str::FromStr;
use std::collections::BTreeSet;

use rackloom_card::{Nic, PortConfig, PortService};
use rackloom_live::{Net, NetError};
use rackloom_node::Port;
use rackloom_topology::FamilyError;
use rackloom_wire::MacAddr;

use crate::NicPlug;

mod links;

pub use links::Links;

/// A port of a card, written `CARD.PORT`: the card's unit number and the port's number, from 1. Port 0 of every card
/// is on the rack's network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CardPort {
    /// Unit number of the card.
    pub unit: u16,
    /// Number of the port, from 1 to [`PORTS_MAX`] - 1.
    pub port: Port,
}

/// Where a cable goes from a card's port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FarEnd {
    /// To a card's port, of another card or the same.
    Card(CardPort),
    /// To a network beside the rack's own, which other processes and other ports of cards may be on too.
    Net(Net),
}

/// The ends of a cable, written `CARD.PORT-CARD.PORT` or `CARD.PORT-NETWORK`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CableEnds(pub CardPort, pub FarEnd);

/// The cables in the ports of a rack's cards, beside the network that port 0 of all of them is on, and the hosts behind
/// cards.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Topology {
    cables: Vec<CableEnds>,
    /// The ports whose cables are links, on all cards.
    links: BTreeSet<Port>,
    nics: Vec<NicPlug>,
}

/// Why something is no cable, or cannot be plugged in beside the others.
#[derive(Debug, thiserror::Error)]
pub enum TopologyError {
    /// The text is not two ends with a dash between them.
    #[error(
        "invalid cable `{0}`: expected CARD.PORT-CARD.PORT, such as 0.1-1.1, or CARD.PORT-NETWORK, such as 0.1-virtual:x"
    )]
    Syntax(String),
    /// Port 0 is on the rack's network, and port numbers are small.
    #[error("invalid port {port} of card {unit}: a cable goes into port 1 to {}", PORTS_MAX - 1)]
    Port {
        /// Unit number of the card.
        unit: u16,
        /// The number that is out of range.
        port: Port,
    },
    /// The network at the far end cannot be one.
    #[error("invalid cable `{cable}`")]
    Net {
        /// The cable.
        cable: String,
        /// The reason.
        source: NetError,
    },
    /// Two cables are to go into one port.
    #[error("two cables end in port {} of card {}", .0.port, .0.unit)]
    Taken(CardPort),
    /// A link leads to a network.
    #[error("invalid link {0}: a link has a card at each end")]
    NotCard(CableEnds),
    /// The text is no shape of links.
    #[error(
        "invalid links `{0}`: expected full, ring, torus:AxB, hyperx:AxB, slim-fly:Q, polar-fly:Q, kautz:D or \
         dragonfly:A,H"
    )]
    Links(String),
    /// There is no such arrangement.
    #[error(transparent)]
    Family(#[from] FamilyError),
    /// That many cards do not make such a shape.
    #[error("{links} is made of {due} cards, and there are {cards}")]
    Shape {
        /// The shape.
        links: Links,
        /// Cards that make it.
        due: usize,
        /// Cards that there are.
        cards: u16,
    },
    /// A card has more links than ports are left.
    #[error("card {unit} has more links than its {} ports can take", PORTS_MAX - 1)]
    Full {
        /// Unit number of the card.
        unit: u16,
    },
    /// One card has two hosts, two hosts have one interface, or there is no port left for hosts.
    #[error("invalid network interface `{nic}`: {problem}")]
    Nic {
        /// The host behind a card that is one too many.
        nic: NicPlug,
        /// Why.
        problem: &'static str,
    },
}

impl CableEnds {
    /// The card ports that the cable ends in: one or two.
    pub fn card_ports(&self) -> impl Iterator<Item = CardPort> + use<> {
        let far = match self.1 {
            FarEnd::Card(end) => Some(end),
            FarEnd::Net(_) => None,
        };
        [Some(self.0), far].into_iter().flatten()
    }
}

impl Topology {
    /// These cables.
    ///
    /// # Errors
    /// [`TopologyError::Taken`] if two of them end in one port.
    pub fn new(cables: Vec<CableEnds>) -> Result<Self, TopologyError> {
        let mut taken = BTreeSet::new();
        for end in cables.iter().flat_map(CableEnds::card_ports) {
            if !taken.insert(end) {
                return Err(TopologyError::Taken(end));
            }
        }
        Ok(Self { cables, ..Self::default() })
    }

    /// The same, with links of this shape among the first `cards` cards, in the ports beyond those of its cables.
    ///
    /// # Errors
    /// The cards cannot stand so, or have too few ports.
    pub fn with_links(self, links: &Links, cards: u16) -> Result<Self, TopologyError> {
        let cables = links.cables(cards, self.highest() + 1)?;
        self.with_linked(Self { cables, ..Self::default() })
    }

    /// The same, with the cables of another as links. A port that is a link on one card is none of a role's on any.
    ///
    /// # Errors
    /// One does not end in two cards, or a port has two cables.
    pub fn with_linked(self, links: Self) -> Result<Self, TopologyError> {
        if let Some(cable) = links.cables.iter().find(|cable| matches!(cable.1, FarEnd::Net(_))) {
            return Err(TopologyError::NotCard(cable.clone()));
        }
        let ports = links.cables.iter().flat_map(CableEnds::card_ports).map(|end| end.port).collect::<BTreeSet<_>>();
        let used = self.cables.iter().flat_map(CableEnds::card_ports).find(|end| ports.contains(&end.port));
        if let Some(end) = used {
            return Err(TopologyError::Taken(end));
        }
        let cables = [self.cables, links.cables].concat();
        Ok(Self { links: ports, nics: self.nics, ..Self::new(cables)? })
    }

    /// The ports that are links, on all cards.
    pub const fn links(&self) -> &BTreeSet<Port> {
        &self.links
    }

    /// The same, with hosts behind cards.
    ///
    /// # Errors
    /// [`TopologyError::Nic`].
    pub fn with_nics(self, nics: Vec<NicPlug>) -> Result<Self, TopologyError> {
        let (mut units, mut interfaces) = (BTreeSet::new(), BTreeSet::new());
        let full = self.highest() + 1 >= PORTS_MAX;
        for nic in &nics {
            let problem = if !units.insert(nic.unit) {
                "that card has one already"
            } else if !interfaces.insert(&nic.interface) {
                "another card has that interface"
            } else if full {
                "the cables leave no port for it"
            } else {
                continue;
            };
            return Err(TopologyError::Nic { nic: nic.clone(), problem });
        }
        Ok(Self { nics, ..self })
    }

    /// The cables that a file's text lists, one a line; `#` begins a comment.
    ///
    /// # Errors
    /// The first line that is no cable, or a port with two.
    pub fn parse(text: &str) -> Result<Self, TopologyError> {
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        Self::new(lines.filter(|line| !line.is_empty()).map(str::parse).collect::<Result<_, _>>()?)
    }

    /// All cables.
    pub fn cables(&self) -> &[CableEnds] {
        &self.cables
    }

    /// The networks that cables go to.
    pub fn networks(&self) -> impl Iterator<Item = &Net> {
        self.cables.iter().filter_map(|CableEnds(_, far)| match far {
            FarEnd::Net(net) => Some(net),
            FarEnd::Card(_) => None,
        })
    }

    /// The hosts behind cards.
    pub fn nics(&self) -> &[NicPlug] {
        &self.nics
    }

    /// The port that hosts are at, on all cards: the first beyond those that cables end in. `None`: there is no host.
    pub fn host_port(&self) -> Option<Port> {
        (!self.nics.is_empty()).then(|| self.highest() + 1)
    }

    /// The host behind the card with this unit number, as the card is configured with it.
    pub fn nic(&self, unit: u16) -> Option<Nic> {
        let plug = self.nics.iter().find(|nic| nic.unit == unit)?;
        Some(Nic { host: self.host_port()?, hook: plug.hook() })
    }

    /// The ports of a card beside port 0: those up to the highest that any card's cable ends in, and one for a host if
    /// any card has one, so that all cards of a rack are alike. Port `p` is a link, or carries
    /// stream `p - 1` of the role.
    pub fn ports(&self, mac: MacAddr) -> Vec<PortConfig> {
        let service = |port| if self.links.contains(&port) { PortService::Link } else { PortService::Stream(port - 1) };
        let streams = (1..=self.highest()).map(|port| PortConfig::new(port_mac(mac, port), service(port)));
        let host = self.host_port().map(|port| PortConfig::new(port_mac(mac, port), PortService::Closed));
        streams.chain(host).collect()
    }

    /// The highest port that a cable ends in; 0 without cables.
    fn highest(&self) -> Port {
        self.cables.iter().flat_map(CableEnds::card_ports).map(|end| end.port).max().unwrap_or(0)
    }
}

/// The address of a port, made of that of port 0: locally administered, and another for each port.
pub(crate) const fn port_mac(MacAddr([first, rest @ ..]): MacAddr, port: Port) -> MacAddr {
    let [b, c, d, e, f] = rest;
    // The lowest two bits say unicast and locally administered.
    MacAddr([first.wrapping_add(port << 2) | 2, b, c, d, e, f])
}

impl fmt::Display for CardPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.unit, self.port)
    }
}

impl fmt::Display for CableEnds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.1 {
            FarEnd::Card(end) => write!(f, "{}-{end}", self.0),
            FarEnd::Net(net) => write!(f, "{}-{net}", self.0),
        }
    }
}

impl FromStr for CableEnds {
    type Err = TopologyError;

    fn from_str(text: &str) -> Result<Self, TopologyError> {
        let syntax = || TopologyError::Syntax(text.to_owned());
        let card_port = |text: &str| {
            let (unit, port) = text.split_once('.').ok_or_else(syntax)?;
            let (unit, port) = (unit.parse().map_err(|_| syntax())?, port.parse().map_err(|_| syntax())?);
            match port {
                1..PORTS_MAX => Ok(CardPort { unit, port }),
                _ => Err(TopologyError::Port { unit, port }),
            }
        };
        let (near, far) = text.split_once('-').ok_or_else(syntax)?;
        let far_end = match far {
            "virtual" => FarEnd::Net(Net::default()),
            _ if far.contains(':') => {
                let net = far.parse().map_err(|source| TopologyError::Net { cable: text.to_owned(), source })?;
                FarEnd::Net(net)
            }
            _ => FarEnd::Card(card_port(far)?),
        };
        Ok(Self(card_port(near)?, far_end))
    }
}

/// Most ports of a card, port 0 included: each must have an address of its own.
pub const PORTS_MAX: Port = 64;

#[cfg(test)]
mod tests {
    use super::*;

    const MAC: MacAddr = MacAddr([2, 1, 2, 3, 4, 5]);

    fn cable(text: &str) -> Result<CableEnds, TopologyError> {
        text.parse()
    }

    #[test]
    fn cables_are_read_as_they_are_written() {
        let joined = CableEnds(CardPort { unit: 0, port: 1 }, FarEnd::Card(CardPort { unit: 17, port: 2 }));
        assert_eq!(cable("0.1-17.2").unwrap(), joined);
        for text in ["0.1-17.2", "3.1-virtual:side-2.b", "0.2-eth:enp1s0"] {
            assert_eq!(cable(text).unwrap().to_string(), text);
        }
        assert_eq!(cable("0.1-virtual").unwrap().to_string(), "0.1-virtual:default");
        for bad in
            ["", "0.1", "0.1-", "0-1", "a.1-1.1", "0.1-1.1-2.1", "0.1-1.256", "-0.1-1.1", "65536.1-0.1", "0.1-side"]
        {
            assert!(matches!(cable(bad), Err(TopologyError::Syntax(text)) if text == bad), "{bad}");
        }
        assert!(matches!(cable("0.0-1.1"), Err(TopologyError::Port { unit: 0, port: 0 })));
        assert!(matches!(cable("0.1-1.64"), Err(TopologyError::Port { unit: 1, port: 64 })));
        assert!(matches!(cable("0.1-virtual:../x"), Err(TopologyError::Net { .. })));
    }

    #[test]
    fn a_file_lists_cables_and_a_port_takes_one() {
        let ring = Topology::parse("# a ring\n0.1-1.2 # there\n\n 1.1-0.2\n").unwrap();
        assert_eq!(ring.cables().len(), 2);
        assert_eq!(ring.ports(MAC).len(), 2);
        let taken = CardPort { unit: 1, port: 1 };
        for twice in ["0.1-1.1\n1.1-2.1", "1.1-1.1", "1.1-virtual:a\n1.1-virtual:b"] {
            assert!(matches!(Topology::parse(twice), Err(TopologyError::Taken(end)) if end == taken), "{twice}");
        }
        assert!(matches!(Topology::parse("0.1-1.1\nnonsense"), Err(TopologyError::Syntax(_))));
    }

    #[test]
    fn many_ports_may_be_on_one_network() {
        let shared = Topology::parse("0.1-virtual:side\n1.1-virtual:side").unwrap();
        assert_eq!(shared.networks().collect::<Vec<_>>(), [&"virtual:side".parse().unwrap(); 2]);
        assert_eq!(shared.ports(MAC).len(), 1);
    }

    #[test]
    fn hosts_have_the_port_behind_all_cables() {
        let nics = |text: &[&str]| text.iter().map(|nic| nic.parse().unwrap()).collect::<Vec<NicPlug>>();
        let plain = Topology::default().with_nics(nics(&["1=rl1,hook"])).unwrap();
        assert_eq!((plain.host_port(), plain.ports(MAC).len()), (Some(1), 1));
        assert_eq!(plain.nic(0), None);
        let host = plain.nic(1).unwrap();
        assert_eq!((host.host, host.hook.is_some()), (1, true));
        let cabled = Topology::parse("0.1-1.2").unwrap().with_nics(nics(&["0=a", "1=b"])).unwrap();
        assert_eq!((cabled.host_port(), cabled.ports(MAC).len()), (Some(3), 3));
        assert_eq!(Topology::parse("0.1-1.2").unwrap().host_port(), None);
        for (twice, why) in [(["0=a", "0=b"], "that card has one"), (["0=a", "1=a"], "another card has that")] {
            let refused = Topology::default().with_nics(nics(&twice)).unwrap_err().to_string();
            assert!(refused.contains(why), "{refused}");
        }
        let full = Topology::parse("0.63-1.63").unwrap().with_nics(nics(&["0=a"])).unwrap_err();
        assert!(full.to_string().contains("no port"), "{full}");
    }

    #[test]
    fn each_port_has_an_address_of_its_own() {
        let macs: BTreeSet<_> = (0..PORTS_MAX).map(|port| port_mac(MAC, port)).collect();
        assert_eq!(macs.len(), usize::from(PORTS_MAX));
        assert!(macs.iter().all(|mac| !mac.is_multicast()) && macs.contains(&MAC));
    }
}
