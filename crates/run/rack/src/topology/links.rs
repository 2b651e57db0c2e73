//! Links between cards: which pairs have one.

use core::fmt;
use core::str::FromStr;

use rackloom_node::Port;
use rackloom_topology::Family;

use super::{CableEnds, CardPort, FarEnd, PORTS_MAX, TopologyError};

/// A shape of links, written `full`, `ring` or as a [`Family`]: `torus:4x4`, `polar-fly:3`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Links {
    /// Each card has a link to each other.
    Full,
    /// Each card has one to the next, and the last to the first.
    Ring,
    /// Cards stand in one of the known arrangements. Links of a card are cables, which go both ways, also where the
    /// arrangement uses one.
    Family(Family),
}

impl Links {
    /// Cards that make this shape. `None`: any number.
    ///
    /// # Errors
    /// [`TopologyError::Family`]
    pub fn cards(&self) -> Result<Option<usize>, TopologyError> {
        match self {
            Self::Full | Self::Ring => Ok(None),
            Self::Family(family) => Ok(Some(family.graph()?.cards())),
        }
    }

    /// The cables among so many cards, in ports from `first` on: as low as can be on each card.
    ///
    /// # Errors
    /// [`TopologyError::Shape`] if that many cards cannot stand so, [`TopologyError::Full`] if ports do not suffice.
    pub fn cables(&self, cards: u16, first: Port) -> Result<Vec<CableEnds>, TopologyError> {
        let graph = match self {
            Self::Full | Self::Ring if cards == 0 => return Ok(Vec::new()),
            Self::Full => Family::HyperX(vec![cards.into()]).graph()?,
            Self::Ring => Family::Torus(vec![cards.into()]).graph()?,
            Self::Family(family) => family.graph()?,
        };
        if graph.cards() != usize::from(cards) {
            return Err(TopologyError::Shape { links: self.clone(), due: graph.cards(), cards });
        }
        let mut next = vec![u16::from(first); usize::from(cards)];
        let mut end = |unit: usize| {
            let port = next[unit];
            next[unit] += 1;
            let port = Port::try_from(port).ok().filter(|port| *port < PORTS_MAX);
            let unit = unit as u16;
            port.map(|port| CardPort { unit, port }).ok_or(TopologyError::Full { unit })
        };
        let of = |a: usize| graph.neighbours(a).iter().map(move |b| (a, usize::from(*b)));
        let all = (0..graph.cards()).flat_map(of);
        // One cable for both directions: that from the card that comes first, or the only one.
        let cables = all.filter(|(a, b)| a < b || graph.link(*b, *a).is_none());
        cables.map(|(a, b)| Ok(CableEnds(end(a)?, FarEnd::Card(end(b)?)))).collect()
    }
}

impl fmt::Display for Links {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("full"),
            Self::Ring => f.write_str("ring"),
            Self::Family(family) => family.fmt(f),
        }
    }
}

impl FromStr for Links {
    type Err = TopologyError;

    fn from_str(text: &str) -> Result<Self, TopologyError> {
        match text {
            "full" => Ok(Self::Full),
            "ring" => Ok(Self::Ring),
            _ => text.parse().map(Self::Family).map_err(|_| TopologyError::Links(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Topology;

    fn cables(text: &str, cards: u16) -> Vec<String> {
        let links: Links = text.parse().unwrap();
        links.cables(cards, 1).unwrap().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn shapes_have_their_cables() {
        assert_eq!(cables("full", 3), ["0.1-1.1", "0.2-2.1", "1.2-2.2"]);
        assert_eq!(cables("full", 64).len(), 64 * 63 / 2);
        assert_eq!(cables("ring", 4), ["0.1-1.1", "0.2-3.1", "1.2-2.1", "2.2-3.2"]);
        assert_eq!(cables("ring", 2), ["0.1-1.1"]);
        assert_eq!(cables("torus:2x2", 4), ["0.1-1.1", "0.2-2.1", "1.2-3.1", "2.2-3.2"]);
        assert_eq!(cables("torus:3x3", 9).len(), 18);
        assert_eq!(cables("polar-fly:3", 13).len(), 24, "four of 13 have three links, the others four");
        // Of two cards that each lead to the other one cable does for both: three pairs of the letters.
        assert_eq!(cables("kautz:2", 6).len(), 12 - 3);
        assert!(cables("ring", 1).is_empty() && cables("full", 0).is_empty() && cables("ring", 0).is_empty());
    }

    #[test]
    fn shapes_are_written_as_they_are_read() {
        for text in ["full", "ring", "torus:3x4", "slim-fly:5"] {
            assert_eq!(text.parse::<Links>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for bad in ["", "mesh", "torus", "torus:2x", "torus:-1x2"] {
            assert!(matches!(bad.parse::<Links>(), Err(TopologyError::Links(_))), "{bad}");
        }
        let refused = |text: &str, cards| text.parse::<Links>().unwrap().cables(cards, 1).unwrap_err();
        assert_eq!(refused("torus:2x3", 5).to_string(), "torus:2x3 is made of 6 cards, and there are 5");
        assert!(matches!(refused("torus:0x0", 0), TopologyError::Family(_)));
        assert!(matches!(refused("polar-fly:6", 43), TopologyError::Family(_)));
        assert!(matches!(Links::Full.cables(65, 1), Err(TopologyError::Full { unit: 0 })));
        assert!(matches!(Links::Full.cables(64, 2), Err(TopologyError::Full { unit: 0 })));
    }

    #[test]
    fn links_stand_beside_cables_and_are_for_the_card() {
        use rackloom_card::PortService::{Link, Stream};
        let mac = rackloom_wire::MacAddr([2, 0, 0, 0, 0, 1]);
        let topology = Topology::parse("0.1-1.1").unwrap().with_links(&Links::Ring, 3).unwrap();
        let services: Vec<_> = topology.ports(mac).iter().map(|p| p.service).collect();
        assert_eq!(services, [Stream(0), Link, Link]);
        let listed = Topology::parse("0.1-1.1").unwrap().with_linked(Topology::parse("0.2-2.2").unwrap()).unwrap();
        let services: Vec<_> = listed.ports(mac).iter().map(|p| p.service).collect();
        assert_eq!(services, [Stream(0), Link]);
        let twice = Topology::parse("0.1-1.1").unwrap().with_linked(Topology::parse("2.1-0.1").unwrap());
        assert!(matches!(twice, Err(TopologyError::Taken(_))));
        let out = Topology::default().with_linked(Topology::parse("2.1-virtual:x").unwrap());
        assert!(matches!(out, Err(TopologyError::NotCard(_))));
    }
}
