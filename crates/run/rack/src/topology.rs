//! Which ports have a cable between them.

use core::fmt;
use core::str::FromStr;
use std::collections::BTreeSet;

use rackloom_card::{PortConfig, PortService};
use rackloom_node::Port;
use rackloom_wire::MacAddr;

/// A port of a card, written `CARD.PORT`: the card's unit number and the port's number, from 1. Port 0 of every card
/// is on the rack's network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CableEnd {
    /// Unit number of the card.
    pub unit: u16,
    /// Number of the port, from 1 to [`PORTS_MAX`] - 1.
    pub port: Port,
}

/// The ends of a cable, written `CARD.PORT-CARD.PORT`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CableEnds(pub CableEnd, pub CableEnd);

/// The cables between the ports of a rack's cards, beside the network that all of them are on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Topology {
    cables: Vec<CableEnds>,
}

/// Why something is no cable, or cannot be plugged in beside the others.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TopologyError {
    /// The text is not two ends with a dash between them.
    #[error("invalid cable `{0}`: expected CARD.PORT-CARD.PORT, such as 0.1-1.1")]
    Syntax(String),
    /// Port 0 is on the rack's network, and port numbers are small.
    #[error("invalid port {port} of card {unit}: a cable goes into port 1 to {}", PORTS_MAX - 1)]
    Port {
        /// Unit number of the card.
        unit: u16,
        /// The number that is out of range.
        port: Port,
    },
    /// Two cables are to go into one port.
    #[error("two cables end in port {} of card {}", .0.port, .0.unit)]
    Taken(CableEnd),
}

impl Topology {
    /// These cables.
    ///
    /// # Errors
    /// [`TopologyError::Taken`] if two of them end in one port.
    pub fn new(cables: Vec<CableEnds>) -> Result<Self, TopologyError> {
        let mut taken = BTreeSet::new();
        for end in cables.iter().flat_map(|CableEnds(a, b)| [*a, *b]) {
            if !taken.insert(end) {
                return Err(TopologyError::Taken(end));
            }
        }
        Ok(Self { cables })
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

    /// The ports of a card beside port 0: those up to the highest that any card's cable ends in, so that all cards of a
    /// rack are alike. Port `p` carries stream `p - 1` of the role.
    pub fn ports(&self, mac: MacAddr) -> Vec<PortConfig> {
        let highest = self.cables.iter().flat_map(|CableEnds(a, b)| [a.port, b.port]).max().unwrap_or(0);
        (1..=highest)
            .map(|port| PortConfig { mac: port_mac(mac, port), service: PortService::Stream(port - 1) })
            .collect()
    }
}

/// The address of a port, made of that of port 0: locally administered, and another for each port.
pub(crate) const fn port_mac(MacAddr([first, rest @ ..]): MacAddr, port: Port) -> MacAddr {
    let [b, c, d, e, f] = rest;
    // The lowest two bits say unicast and locally administered.
    MacAddr([first.wrapping_add(port << 2) | 2, b, c, d, e, f])
}

impl fmt::Display for CableEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.unit, self.port)
    }
}

impl fmt::Display for CableEnds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.0, self.1)
    }
}

impl FromStr for CableEnds {
    type Err = TopologyError;

    fn from_str(text: &str) -> Result<Self, TopologyError> {
        let syntax = || TopologyError::Syntax(text.to_owned());
        let end = |text: &str| {
            let (unit, port) = text.split_once('.').ok_or_else(syntax)?;
            let (unit, port) = (unit.parse().map_err(|_| syntax())?, port.parse().map_err(|_| syntax())?);
            match port {
                1..PORTS_MAX => Ok(CableEnd { unit, port }),
                _ => Err(TopologyError::Port { unit, port }),
            }
        };
        let (a, b) = text.split_once('-').ok_or_else(syntax)?;
        Ok(Self(end(a)?, end(b)?))
    }
}

/// Most ports of a card, port 0 included: each must have an address of its own.
pub const PORTS_MAX: Port = 64;

#[cfg(test)]
mod tests {
    use super::*;

    const MAC: MacAddr = MacAddr([2, 1, 2, 3, 4, 5]);

    #[test]
    fn cables_are_read_as_they_are_written() {
        let cable: CableEnds = "0.1-17.2".parse().unwrap();
        assert_eq!(cable, CableEnds(CableEnd { unit: 0, port: 1 }, CableEnd { unit: 17, port: 2 }));
        assert_eq!(cable.to_string(), "0.1-17.2");
        for bad in ["", "0.1", "0.1-", "0-1", "a.1-1.1", "0.1-1.1-2.1", "0.1-1.256", "-0.1-1.1", "65536.1-0.1"] {
            assert_eq!(bad.parse::<CableEnds>(), Err(TopologyError::Syntax(bad.into())), "{bad}");
        }
        assert_eq!("0.0-1.1".parse::<CableEnds>(), Err(TopologyError::Port { unit: 0, port: 0 }));
        assert_eq!("0.1-1.64".parse::<CableEnds>(), Err(TopologyError::Port { unit: 1, port: 64 }));
    }

    #[test]
    fn a_file_lists_cables_and_a_port_takes_one() {
        let ring = Topology::parse("# a ring\n0.1-1.2 # there\n\n 1.1-0.2\n").unwrap();
        assert_eq!(ring.cables().len(), 2);
        assert_eq!(ring.ports(MAC).len(), 2);
        let taken = CableEnd { unit: 1, port: 1 };
        assert_eq!(Topology::parse("0.1-1.1\n1.1-2.1"), Err(TopologyError::Taken(taken)));
        assert_eq!(Topology::parse("1.1-1.1"), Err(TopologyError::Taken(taken)), "both ends of one cable");
        assert!(matches!(Topology::parse("0.1-1.1\nnonsense"), Err(TopologyError::Syntax(_))));
    }

    #[test]
    fn each_port_has_an_address_of_its_own() {
        let macs: BTreeSet<_> = (0..PORTS_MAX).map(|port| port_mac(MAC, port)).collect();
        assert_eq!(macs.len(), usize::from(PORTS_MAX));
        assert!(macs.iter().all(|mac| !mac.is_multicast()) && macs.contains(&MAC));
    }
}
