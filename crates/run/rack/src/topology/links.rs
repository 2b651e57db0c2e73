//! Links between cards: which pairs have one.

use core::fmt;
use core::str::FromStr;

use rackloom_node::Port;

use super::{CableEnds, CardPort, FarEnd, PORTS_MAX, TopologyError};

/// A shape of links, written `full`, `ring` or `torus:AxB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// Each card has a link to each other.
    Full,
    /// Each card has one to the next, and the last to the first.
    Ring,
    /// Cards stand in rows of the second number, as many as the first says; each row and each column is a ring.
    Torus(u16, u16),
}

impl Links {
    /// The cables among so many cards, in ports from `first` on: as low as can be on each card.
    ///
    /// # Errors
    /// [`TopologyError::Shape`] if that many cards cannot stand so, [`TopologyError::Port`] if ports do not suffice.
    pub(crate) fn cables(self, cards: u16, first: Port) -> Result<Vec<CableEnds>, TopologyError> {
        let ring = |n: u16| (0..if n > 2 { n } else { n.saturating_sub(1) }).map(move |i| (i, (i + 1) % n));
        let pairs: Vec<(u16, u16)> = match self {
            Self::Full => (0..cards).flat_map(|a| (a + 1..cards).map(move |b| (a, b))).collect(),
            Self::Ring => ring(cards).collect(),
            Self::Torus(rows, columns) => {
                let fits = rows > 0 && columns > 0 && rows.checked_mul(columns) == Some(cards);
                if !fits {
                    return Err(TopologyError::Shape { rows, columns, cards });
                }
                let in_rows =
                    (0..rows).flat_map(|r| ring(columns).map(move |(a, b)| (r * columns + a, r * columns + b)));
                let in_columns =
                    (0..columns).flat_map(|c| ring(rows).map(move |(a, b)| (a * columns + c, b * columns + c)));
                in_rows.chain(in_columns).collect()
            }
        };
        let mut next = vec![u16::from(first); usize::from(cards)];
        let mut end = |unit: u16| {
            let port = next[usize::from(unit)];
            next[usize::from(unit)] += 1;
            let port = Port::try_from(port).ok().filter(|port| *port < PORTS_MAX);
            port.map(|port| CardPort { unit, port }).ok_or(TopologyError::Full { unit })
        };
        pairs.into_iter().map(|(a, b)| Ok(CableEnds(end(a)?, FarEnd::Card(end(b)?)))).collect()
    }
}

impl fmt::Display for Links {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("full"),
            Self::Ring => f.write_str("ring"),
            Self::Torus(rows, columns) => write!(f, "torus:{rows}x{columns}"),
        }
    }
}

impl FromStr for Links {
    type Err = TopologyError;

    fn from_str(text: &str) -> Result<Self, TopologyError> {
        let torus = || {
            let (rows, columns) = text.strip_prefix("torus:")?.split_once('x')?;
            Some(Self::Torus(rows.parse().ok()?, columns.parse().ok()?))
        };
        match text {
            "full" => Ok(Self::Full),
            "ring" => Ok(Self::Ring),
            _ => torus().ok_or_else(|| TopologyError::Links(text.to_owned())),
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
        assert_eq!(cables("ring", 4), ["0.1-1.1", "1.2-2.1", "2.2-3.1", "3.2-0.2"]);
        assert_eq!(cables("ring", 2), ["0.1-1.1"]);
        assert_eq!(cables("torus:2x2", 4), ["0.1-1.1", "2.1-3.1", "0.2-2.2", "1.2-3.2"]);
        assert_eq!(cables("torus:3x3", 9).len(), 18);
        assert!(cables("ring", 1).is_empty() && cables("full", 0).is_empty() && cables("ring", 0).is_empty());
    }

    #[test]
    fn shapes_are_written_as_they_are_read() {
        for text in ["full", "ring", "torus:3x4"] {
            assert_eq!(text.parse::<Links>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for bad in ["", "mesh", "torus", "torus:2", "torus:2x", "torus:-1x2"] {
            assert!(matches!(bad.parse::<Links>(), Err(TopologyError::Links(_))), "{bad}");
        }
        assert!(matches!(Links::Torus(2, 3).cables(5, 1), Err(TopologyError::Shape { .. })));
        assert!(matches!(Links::Torus(0, 0).cables(0, 1), Err(TopologyError::Shape { .. })));
        assert!(matches!(Links::Full.cables(65, 1), Err(TopologyError::Full { unit: 0 })));
        assert!(matches!(Links::Full.cables(64, 2), Err(TopologyError::Full { unit: 0 })));
    }

    #[test]
    fn links_stand_beside_cables_and_are_for_the_card() {
        use rackloom_card::PortService::{Link, Stream};
        let mac = rackloom_wire::MacAddr([2, 0, 0, 0, 0, 1]);
        let topology = Topology::parse("0.1-1.1").unwrap().with_links(Links::Ring, 3).unwrap();
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
