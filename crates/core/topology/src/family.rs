//! Arrangements by their names.

use core::fmt;
use core::str::FromStr;

use crate::field::Field;
use crate::graph::{CARDS_MAX, Graph};
use crate::paths::{Paths, PathsError};

mod algebraic;
mod regular;

/// An arrangement of links.
///
/// Each is written as `--links` takes it: `hyperx:4x4`, `torus:4x4`, `slim-fly:5`, `polar-fly:7`, `kautz:4`,
/// `dragonfly:4,2`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Family {
    /// Cards stand in a grid of these sizes. Each has a link to all that differ from it in one coordinate (Ahn and
    /// others, SC 2009). Of one size it is a full mesh; of two, g and k - g + 2, it is the Dragonfly of the OPTWEB
    /// paper (section 5.3) of g groups with k links a card.
    HyperX(Vec<usize>),
    /// In such a grid each has a link to the next and the one before in each coordinate; behind the last is the first.
    Torus(Vec<usize>),
    /// The graphs of `McKay`, Miller and Širáň: 2 q² cards, any two at most two links apart (Besta and Hoefler, SC
    /// 2014). q is a power of a prime, and 4 does not leave 2 of it.
    SlimFly(usize),
    /// The polarity graphs of Erdős and Rényi: q² + q + 1 cards, which are the points of a projective plane; two points
    /// whose product is zero are joined (Lakhotia and others, SC 2022). q is a power of a prime.
    PolarFly(usize),
    /// Words of two different letters of d + 1; a link leads from `ab` to each `bc`. Links are one way: d lead away
    /// from a card and d others to it (Kautz, 1968).
    Kautz(usize),
    /// Groups of `cards` cards that all have links to each other, `global` links from each card to other groups, and
    /// one link between any two groups (Kim and others, ISCA 2008). Any two are at most three links apart.
    Dragonfly {
        /// Cards of a group.
        cards: usize,
        /// Links of each card to other groups.
        global: usize,
    },
}

/// Why there is no such arrangement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FamilyError {
    /// The text names none.
    #[error(
        "invalid arrangement `{0}`: expected hyperx:AxB, torus:AxB, slim-fly:Q, polar-fly:Q, kautz:D or dragonfly:A,H"
    )]
    Syntax(String),
    /// Its number does not make one.
    #[error("there is no {family}: {why}")]
    None {
        /// The arrangement.
        family: Family,
        /// What is wrong with its numbers.
        why: &'static str,
    },
    /// It is too large for a path for each pair.
    #[error("cannot find paths through {family}")]
    Paths {
        /// The arrangement.
        family: Family,
        /// The reason.
        source: PathsError,
    },
}

impl Family {
    /// Cards. `None`: more than can be counted.
    fn count(&self) -> Option<usize> {
        match self {
            Self::HyperX(sizes) | Self::Torus(sizes) => sizes.iter().try_fold(1usize, |n, size| n.checked_mul(*size)),
            Self::SlimFly(q) => q.checked_mul(*q)?.checked_mul(2),
            Self::PolarFly(q) => q.checked_mul(*q)?.checked_add(*q)?.checked_add(1),
            Self::Kautz(d) => d.checked_mul(d.checked_add(1)?),
            Self::Dragonfly { cards, global } => cards.checked_mul(*global)?.checked_add(1)?.checked_mul(*cards),
        }
    }

    /// Its cards and links.
    ///
    /// # Errors
    /// [`FamilyError::None`]
    pub fn graph(&self) -> Result<Graph, FamilyError> {
        let none = |why| FamilyError::None { family: self.clone(), why };
        let cards = self.count().filter(|cards| *cards <= CARDS_MAX);
        let cards = cards.ok_or_else(|| none("it has more than 8,192 cards"))?;
        let field = |q: &usize| Field::new(*q).ok_or_else(|| none("its number is no power of a prime up to 256"));
        match self {
            Self::HyperX(sizes) | Self::Torus(sizes) if sizes.is_empty() || cards == 0 => {
                Err(none("each size has to be at least 1"))
            }
            Self::HyperX(sizes) => Ok(regular::hyperx(sizes)),
            Self::Torus(sizes) => Ok(regular::torus(sizes)),
            Self::Dragonfly { cards, global } if cards * global == 0 => Err(none("both numbers have to be at least 1")),
            Self::Dragonfly { cards, global } => Ok(regular::dragonfly(*cards, *global)),
            Self::Kautz(0) => Err(none("its number has to be at least 1")),
            Self::Kautz(d) => Ok(regular::kautz(*d)),
            Self::PolarFly(q) => Ok(algebraic::polar_fly(*q, &field(q)?)),
            // Of the smallest, two cards of which one link is all, more would be lost than gained.
            Self::SlimFly(q) if q % 4 == 2 || *q < 3 => {
                Err(none("its number has to be 3 or more, and 4 n, 4 n + 1 or 4 n - 1"))
            }
            Self::SlimFly(q) => Ok(algebraic::slim_fly(*q, &field(q)?)),
        }
    }

    /// A shortest path for each pair of its cards: through grids by a rule of their own, which no search betters.
    ///
    /// # Errors
    /// [`FamilyError::Paths`]
    pub fn paths(&self, graph: &Graph) -> Result<Paths, FamilyError> {
        let paths = match self {
            Self::HyperX(sizes) => Paths::by(graph, |from, to| regular::grid_path(sizes, false, from, to)),
            Self::Torus(sizes) => Paths::by(graph, |from, to| regular::grid_path(sizes, true, from, to)),
            _ => Paths::shortest(graph),
        };
        paths.map_err(|source| FamilyError::Paths { family: self.clone(), source })
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let grid = |sizes: &[usize]| sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join("x");
        match self {
            Self::HyperX(sizes) => write!(f, "hyperx:{}", grid(sizes)),
            Self::Torus(sizes) => write!(f, "torus:{}", grid(sizes)),
            Self::SlimFly(q) => write!(f, "slim-fly:{q}"),
            Self::PolarFly(q) => write!(f, "polar-fly:{q}"),
            Self::Kautz(d) => write!(f, "kautz:{d}"),
            Self::Dragonfly { cards, global } => write!(f, "dragonfly:{cards},{global}"),
        }
    }
}

impl FromStr for Family {
    type Err = FamilyError;

    fn from_str(text: &str) -> Result<Self, FamilyError> {
        let read = || {
            let (name, numbers) = text.split_once(':')?;
            let list = |between: char| numbers.split(between).map(|n| n.parse().ok()).collect::<Option<Vec<usize>>>();
            Some(match name {
                "hyperx" => Self::HyperX(list('x')?),
                "torus" => Self::Torus(list('x')?),
                "slim-fly" => Self::SlimFly(numbers.parse().ok()?),
                "polar-fly" => Self::PolarFly(numbers.parse().ok()?),
                "kautz" => Self::Kautz(numbers.parse().ok()?),
                "dragonfly" => match list(',')?[..] {
                    [cards, global] => Self::Dragonfly { cards, global },
                    _ => return None,
                },
                _ => return None,
            })
        };
        read().ok_or_else(|| FamilyError::Syntax(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::APART;

    fn graph(text: &str) -> Graph {
        text.parse::<Family>().unwrap().graph().unwrap_or_else(|e| panic!("{text}: {e}"))
    }

    /// Cards, links of a card, and the longest of all shortest paths.
    fn figures(text: &str) -> (usize, usize, u16) {
        let graph = graph(text);
        let rows = graph.rows();
        let longest = (0..graph.cards()).flat_map(|card| graph.distances(card, &rows)).max().unwrap();
        (graph.cards(), graph.degree(), longest)
    }

    #[test]
    fn each_has_the_cards_links_and_paths_that_its_inventors_say() {
        for (text, cards, degree, longest) in [
            ("hyperx:5", 5, 4, 1),
            ("hyperx:4x4", 16, 6, 2),
            ("hyperx:2x3x4", 24, 6, 3),
            ("torus:4x4", 16, 4, 4),
            ("torus:3x3x3", 27, 6, 3),
            ("torus:2x2", 4, 2, 2),
            ("polar-fly:2", 7, 3, 2),
            ("polar-fly:3", 13, 4, 2),
            ("polar-fly:4", 21, 5, 2),
            ("polar-fly:7", 57, 8, 2),
            ("polar-fly:9", 91, 10, 2),
            ("slim-fly:3", 18, 5, 2),
            ("slim-fly:4", 32, 6, 2),
            ("slim-fly:5", 50, 7, 2),
            ("slim-fly:7", 98, 11, 2),
            ("slim-fly:8", 128, 12, 2),
            ("slim-fly:9", 162, 13, 2),
            ("slim-fly:11", 242, 17, 2),
            ("kautz:2", 6, 2, 2),
            ("kautz:4", 20, 4, 2),
            ("dragonfly:4,2", 36, 5, 3),
            ("dragonfly:3,1", 12, 3, 3),
        ] {
            assert_eq!(figures(text), (cards, degree, longest), "{text}");
        }
    }

    #[test]
    fn all_but_kautz_have_links_back() {
        for text in ["hyperx:3x4", "torus:4x3", "polar-fly:5", "slim-fly:5", "slim-fly:7", "dragonfly:3,2"] {
            assert!(graph(text).is_mutual(), "{text}");
        }
        assert!(!graph("kautz:3").is_mutual());
    }

    #[test]
    fn the_dragonfly_of_the_paper_is_a_grid() {
        // Figure 20: 4 groups of 4 cards with 6 links each.
        let paper = graph("hyperx:4x4");
        assert_eq!((paper.cards(), paper.degree()), (16, 6));
        let rows = paper.rows();
        assert!((0..16).all(|card| !paper.distances(card, &rows).contains(&APART)));
    }

    #[test]
    fn names_are_written_as_they_are_read() {
        for text in ["hyperx:4x4", "torus:4x4x2", "slim-fly:5", "polar-fly:7", "kautz:4", "dragonfly:4,2"] {
            assert_eq!(text.parse::<Family>().unwrap().to_string(), text);
        }
        for bad in
            ["", "mesh", "hyperx", "hyperx:", "hyperx:4x", "polar-fly:x", "dragonfly:4", "dragonfly:1,2,3", "torus:-1"]
        {
            assert_eq!(bad.parse::<Family>(), Err(FamilyError::Syntax(bad.to_owned())), "{bad}");
        }
    }

    #[test]
    fn numbers_that_make_none_are_told() {
        for bad in [
            "hyperx:0x4",
            "torus:4x0",
            "slim-fly:6",
            "slim-fly:1",
            "slim-fly:2",
            "slim-fly:15",
            "polar-fly:6",
            "polar-fly:0",
            "kautz:0",
            "dragonfly:0,3",
            "dragonfly:3,0",
            "hyperx:100x100",
            "polar-fly:97",
            "kautz:99999999999999",
            "torus:4294967296x4294967296",
        ] {
            let family: Family = bad.parse().unwrap();
            let refused = family.graph().unwrap_err().to_string();
            assert!(refused.starts_with(&format!("there is no {bad}: ")), "{refused}");
        }
    }
}
