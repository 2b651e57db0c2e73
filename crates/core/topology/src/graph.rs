//! Who is joined to whom.

use crate::bits::Bits;

/// Most cards of an arrangement.
pub const CARDS_MAX: usize = 8192;

/// Cards and the links from each to others, each with a number of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    /// By card: the cards that its links lead to, in their order.
    out: Vec<Vec<u16>>,
    /// By card: the number of its first link.
    first: Vec<u32>,
}

impl Graph {
    /// Of `cards` cards, with these links one way each; those that are named twice, or lead to where they come from,
    /// are left out.
    ///
    /// # Panics
    /// If there are more cards than [`CARDS_MAX`], or a link leads to none of them.
    pub fn directed(cards: usize, links: impl IntoIterator<Item = (usize, usize)>) -> Self {
        assert!(cards <= CARDS_MAX, "{cards} cards");
        let mut out = vec![Vec::new(); cards];
        for (from, to) in links.into_iter().filter(|(from, to)| from != to) {
            assert!(to < cards, "a link to card {to} of {cards}");
            out[from].push(to as u16);
        }
        let mut first = Vec::with_capacity(cards + 1);
        let mut links = 0;
        for to in &mut out {
            to.sort_unstable();
            to.dedup();
            first.push(links);
            links += to.len() as u32;
        }
        first.push(links);
        Self { out, first }
    }

    /// The same with links in both directions.
    ///
    /// # Panics
    /// As [`Graph::directed`].
    pub fn of(cards: usize, pairs: impl IntoIterator<Item = (usize, usize)>) -> Self {
        Self::directed(cards, pairs.into_iter().flat_map(|(a, b)| [(a, b), (b, a)]))
    }

    /// Cards.
    pub fn cards(&self) -> usize {
        self.out.len()
    }

    /// Links, each direction for itself.
    pub fn links(&self) -> usize {
        self.first.last().map_or(0, |links| *links as usize)
    }

    /// Most links that lead away from a card, or to one.
    pub fn degree(&self) -> usize {
        let mut to = vec![0; self.cards()];
        self.out.iter().flatten().for_each(|card| to[usize::from(*card)] += 1);
        self.out.iter().map(Vec::len).chain(to).max().unwrap_or(0)
    }

    /// The cards that links of this one lead to, in their order.
    pub fn neighbours(&self, card: usize) -> &[u16] {
        &self.out[card]
    }

    /// The number of the link from one card to another.
    pub fn link(&self, from: usize, to: usize) -> Option<usize> {
        let at = self.out[from].binary_search(&(to as u16)).ok()?;
        Some(self.first[from] as usize + at)
    }

    /// Whether each link has one back.
    pub fn is_mutual(&self) -> bool {
        let mut all = self.out.iter().enumerate().flat_map(|(from, to)| to.iter().map(move |to| (from, *to)));
        all.all(|(from, to)| self.link(to.into(), from).is_some())
    }

    /// By card, the cards that its links lead to.
    pub(crate) fn rows(&self) -> Vec<Bits> {
        let of = |to: &Vec<u16>| {
            let mut row = Bits::new(self.cards());
            to.iter().for_each(|card| row.insert((*card).into()));
            row
        };
        self.out.iter().map(of).collect()
    }

    /// Links on a shortest path from this card to each. [`APART`]: none leads there.
    pub(crate) fn distances(&self, from: usize, rows: &[Bits]) -> Vec<u16> {
        let mut distances = vec![APART; self.cards()];
        let mut seen = Bits::new(self.cards());
        let mut front = seen.clone();
        seen.insert(from);
        front.insert(from);
        for distance in 0..APART {
            let mut next = Bits::new(self.cards());
            for card in front.iter() {
                distances[card] = distance;
                next.add(&rows[card]);
            }
            next.remove(&seen);
            if next.is_empty() {
                break;
            }
            seen.add(&next);
            front = next;
        }
        distances
    }
}

/// A distance to where no path leads.
pub(crate) const APART: u16 = u16::MAX;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_have_numbers_and_directions() {
        let ring = Graph::directed(3, [(0, 1), (1, 2), (2, 0), (0, 0), (0, 1)]);
        assert_eq!((ring.cards(), ring.links(), ring.degree()), (3, 3, 1));
        assert_eq!([ring.link(0, 1), ring.link(2, 0), ring.link(1, 0)], [Some(0), Some(2), None]);
        assert!(!ring.is_mutual());
        assert_eq!(ring.distances(1, &ring.rows()), [2, 0, 1]);
        let line = Graph::of(4, [(0, 1), (1, 2)]);
        assert!(line.is_mutual());
        assert_eq!(line.distances(0, &line.rows()), [0, 1, 2, APART]);
        assert_eq!(Graph::directed(3, [(0, 2), (1, 2)]).degree(), 2, "two lead to one card");
    }
}
