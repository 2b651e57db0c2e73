//! A shortest path from each card to each, so that links carry alike.

use crate::bits::Bits;
use crate::graph::{APART, Graph};

/// A path for each pair of cards.
///
/// Blocks that go over several links go over the first ones first, so loads are counted for each place on a path: of
/// paths that are equally short, the one is taken whose links have carried least at that place. Then each that could go
/// another way is looked at again, some times.
#[derive(Debug, Clone)]
pub struct Paths {
    cards: usize,
    /// By pair: where its cards begin among all.
    first: Vec<u32>,
    /// The cards of each path behind its first.
    on: Vec<u16>,
}

/// Links of all paths together, at most: some hundred megabytes of memory, and fewer slots than can be counted.
const LINKS_MAX: u32 = 1 << 26;

/// Why there is not a path for each pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathsError {
    /// No path joins two cards.
    #[error("no path leads from card {from} to card {to}")]
    Apart {
        /// The one.
        from: usize,
        /// The other.
        to: usize,
    },
    /// There are too many, or too long ones.
    #[error("its paths have more than 67,108,864 links in all")]
    Long,
}

/// How often paths are looked at again.
const ROUNDS: usize = 8;

impl Paths {
    /// Paths for all pairs.
    ///
    /// # Errors
    /// See [`PathsError`].
    pub fn shortest(graph: &Graph) -> Result<Self, PathsError> {
        let mut choice = Choice::new(graph);
        let pairs = || (0..graph.cards()).flat_map(|from| (0..graph.cards()).map(move |to| (from, to)));
        let mut first = Vec::with_capacity(graph.cards().pow(2) + 1);
        let mut end = 0u32;
        for (from, to) in pairs() {
            first.push(end);
            match choice.distance(from, to) {
                APART => return Err(PathsError::Apart { from, to }),
                links if end + u32::from(links) > LINKS_MAX => return Err(PathsError::Long),
                links => end += u32::from(links),
            }
        }
        first.push(end);
        let mut paths = Self { cards: graph.cards(), first, on: vec![0; end as usize] };
        let mut others = Vec::new();
        // From each card to one as far behind it: so no card's links are all taken before another's.
        let behind = |n: usize| (0..graph.cards()).map(move |from| (from, (from + n) % graph.cards()));
        for (from, to) in (1..graph.cards()).flat_map(behind) {
            let has_others = choice.path(from, to, paths.at_mut(from, to));
            if has_others {
                others.push((from as u16, to as u16));
            }
        }
        for round in 1..=ROUNDS {
            choice.round = round;
            for (from, to) in others.iter().map(|(from, to)| (usize::from(*from), usize::from(*to))) {
                choice.forget(from, paths.at(from, to));
                choice.path(from, to, paths.at_mut(from, to));
            }
        }
        Ok(paths)
    }

    /// The paths that a rule says: of each pair the cards behind the first.
    ///
    /// # Errors
    /// [`PathsError::Long`]
    pub fn by(graph: &Graph, path: impl Fn(usize, usize) -> Vec<u16>) -> Result<Self, PathsError> {
        let cards = graph.cards();
        let mut paths = Self { cards, first: Vec::with_capacity(cards * cards + 1), on: Vec::new() };
        for (from, to) in (0..cards).flat_map(|from| (0..cards).map(move |to| (from, to))) {
            paths.first.push(paths.on.len() as u32);
            paths.on.extend(path(from, to));
            if paths.on.len() > LINKS_MAX as usize {
                return Err(PathsError::Long);
            }
        }
        paths.first.push(paths.on.len() as u32);
        Ok(paths)
    }

    /// Cards.
    pub const fn cards(&self) -> usize {
        self.cards
    }

    /// The cards of a path behind its first: the last is `to`. None from a card to itself.
    pub fn at(&self, from: usize, to: usize) -> &[u16] {
        &self.on[self.range(from, to)]
    }

    fn at_mut(&mut self, from: usize, to: usize) -> &mut [u16] {
        let range = self.range(from, to);
        &mut self.on[range]
    }

    /// Where a path is among the links of all paths.
    pub(crate) fn range(&self, from: usize, to: usize) -> std::ops::Range<usize> {
        let pair = from * self.cards + to;
        self.first[pair] as usize..self.first[pair + 1] as usize
    }

    /// Links of all paths together.
    pub fn links(&self) -> usize {
        self.on.len()
    }

    /// By link: blocks that it carries, if each card sends one to each other.
    pub fn loads(&self, graph: &Graph) -> Vec<u32> {
        let mut loads = vec![0; graph.links()];
        for (from, to) in (0..self.cards).flat_map(|from| (0..self.cards).map(move |to| (from, to))) {
            let mut at = from;
            for next in self.at(from, to).iter().map(|next| usize::from(*next)) {
                loads[graph.link(at, next).expect("paths are made of links")] += 1;
                at = next;
            }
        }
        loads
    }

    /// Links of the longest path: the diameter.
    pub fn longest(&self) -> usize {
        self.first.windows(2).map(|ends| (ends[1] - ends[0]) as usize).max().unwrap_or(0)
    }

    /// Links of a path on average, those from a card to itself not counted.
    pub fn mean(&self) -> f64 {
        self.links() as f64 / (self.cards * self.cards.saturating_sub(1)).max(1) as f64
    }
}

struct Choice<'a> {
    graph: &'a Graph,
    rows: Vec<Bits>,
    /// By card, the cards whose links lead to it.
    columns: Vec<Bits>,
    distances: Vec<u16>,
    /// By place on a path and link: blocks that it carries there.
    loads: Vec<Vec<u32>>,
    /// How often all have been looked at.
    round: usize,
}

impl<'a> Choice<'a> {
    fn new(graph: &'a Graph) -> Self {
        let cards = graph.cards();
        let rows = graph.rows();
        let mut columns = vec![Bits::new(cards); cards];
        rows.iter().enumerate().for_each(|(from, row)| row.iter().for_each(|to| columns[to].insert(from)));
        let distances: Vec<u16> = (0..cards).flat_map(|from| graph.distances(from, &rows)).collect();
        let longest = distances.iter().copied().filter(|d| *d != APART).max().unwrap_or(0);
        let loads = vec![vec![0; graph.links()]; longest.into()];
        Self { graph, rows, columns, distances, loads, round: 0 }
    }

    fn distance(&self, from: usize, to: usize) -> u16 {
        self.distances[from * self.graph.cards() + to]
    }

    fn link(&self, from: usize, to: usize) -> usize {
        self.graph.link(from, to).expect("paths are made of links")
    }

    /// Takes the path whose links have carried least at their places, and says whether there was another as short.
    fn path(&mut self, from: usize, to: usize, on: &mut [u16]) -> bool {
        let has_others = match on {
            [] => false,
            [last] => {
                *last = to as u16;
                false
            }
            [middle, last] => {
                *last = to as u16;
                let (best, is_only) = self.middle(from, to);
                *middle = best;
                !is_only
            }
            _ => {
                self.long(from, to, on);
                true
            }
        };
        self.count(from, on, 1);
        has_others
    }

    fn forget(&mut self, from: usize, on: &[u16]) {
        self.count(from, on, u32::MAX);
    }

    /// Adds so much, modulo 2^32, to what the links of a path carry.
    fn count(&mut self, from: usize, on: &[u16], more: u32) {
        let mut at = from;
        for (place, next) in on.iter().map(|next| usize::from(*next)).enumerate() {
            let link = self.link(at, next);
            self.loads[place][link] = self.loads[place][link].wrapping_add(more);
            at = next;
        }
    }

    /// What one more block costs a link at a place: the more, the more it carries in all and there. Of a high power, so
    /// that the link that carries most matters most.
    fn cost(&self, place: usize, link: usize) -> u64 {
        let all: u64 = self.loads.iter().map(|loads| u64::from(loads[link])).sum();
        (all + 1).saturating_pow(4).saturating_add(u64::from(self.loads[place][link]).saturating_pow(4))
    }

    /// The best card between two, and whether it is the only one.
    fn middle(&self, from: usize, to: usize) -> (u16, bool) {
        let mut all = self.rows[from].both(&self.columns[to]).peekable();
        let first = all.next().expect("a path of two links is there");
        if all.peek().is_none() {
            return (first as u16, true);
        }
        let load = |next: usize| self.cost(0, self.link(from, next)).saturating_add(self.cost(1, self.link(next, to)));
        // Among equals each pair begins to look at another, and in each round at another: who changes nothing may make
        // room for who does.
        let turn = (from * 7 + to * 13 + self.round) % self.graph.cards();
        let key = |next: &usize| (load(*next), (next + self.graph.cards() - turn) % self.graph.cards());
        (std::iter::once(first).chain(all).min_by_key(key).expect("there are two at least") as u16, false)
    }

    /// The best of all paths of several links: place by place, to each card the one that costs least.
    fn long(&self, from: usize, to: usize, on: &mut [u16]) {
        let mut layers = vec![vec![(from, 0u64, 0)]];
        for place in 0..on.len() {
            let mut layer: Vec<(usize, u64, usize)> = Vec::new();
            for (before, (at, cost, _)) in layers[place].iter().enumerate() {
                for next in self.graph.neighbours(*at).iter().map(|next| usize::from(*next)) {
                    if usize::from(self.distance(next, to)) + place + 1 != on.len() {
                        continue;
                    }
                    let cost = (*cost).saturating_add(self.cost(place, self.link(*at, next)));
                    match layer.iter_mut().find(|(card, ..)| *card == next) {
                        Some((_, least, from)) if cost < *least => (*least, *from) = (cost, before),
                        Some(_) => {}
                        None => layer.push((next, cost, before)),
                    }
                }
            }
            layers.push(layer);
        }
        let mut at = 0;
        for (place, layer) in layers.iter().skip(1).enumerate().rev() {
            let (card, _, before) = layer[at];
            on[place] = card as u16;
            at = before;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Family;

    fn of(text: &str) -> (Graph, Paths) {
        let family: Family = text.parse().unwrap();
        let graph = family.graph().unwrap();
        let paths = family.paths(&graph).unwrap();
        (graph, paths)
    }

    #[test]
    fn paths_are_shortest_and_follow_links() {
        for text in [
            "torus:4x5",
            "torus:2x3x4",
            "hyperx:3x4x2",
            "polar-fly:5",
            "slim-fly:5",
            "kautz:3",
            "dragonfly:4,2",
            "hyperx:7",
        ] {
            let (graph, paths) = of(text);
            let rows = graph.rows();
            for from in 0..graph.cards() {
                let distances = graph.distances(from, &rows);
                for (to, distance) in distances.iter().enumerate() {
                    let on = paths.at(from, to);
                    assert_eq!(on.len(), usize::from(*distance), "{text}: {from} to {to}");
                    let mut at = from;
                    for next in on.iter().map(|next| usize::from(*next)) {
                        assert!(graph.link(at, next).is_some(), "{text}: {from} to {to} by {on:?}");
                        at = next;
                    }
                    assert_eq!(at, to);
                }
            }
        }
    }

    #[test]
    fn links_carry_alike() {
        // In tori, grids of one size and Kautz graphs all links carry the mean; a search comes close to it.
        for (text, more) in
            [("torus:5x5", 0), ("torus:4x4", 0), ("hyperx:5x5", 0), ("kautz:3", 1), ("dragonfly:4,2", 4)]
        {
            let (graph, paths) = of(text);
            let loads = paths.loads(&graph);
            let most = loads.iter().max().copied().unwrap();
            assert!(most as usize <= paths.links().div_ceil(graph.links()) + more, "{text}: {loads:?}");
        }
    }

    #[test]
    fn a_search_balances_a_ring_and_a_torus_that_it_does_not_know() {
        for (text, most) in [("torus:4", 2), ("torus:6", 5), ("torus:4x4", 9), ("torus:3x3", 3), ("hyperx:4x4", 4)] {
            let graph = text.parse::<Family>().unwrap().graph().unwrap();
            let loads = Paths::shortest(&graph).unwrap().loads(&graph);
            assert!(loads.iter().all(|load| *load <= most), "{text}: {loads:?}");
        }
    }

    #[test]
    fn cards_that_nothing_joins_are_told() {
        assert_eq!(Paths::shortest(&Graph::of(3, [(0, 1)])).unwrap_err(), PathsError::Apart { from: 0, to: 2 });
        assert_eq!(Paths::shortest(&Graph::of(1, [])).unwrap().links(), 0);
    }

    #[test]
    fn long_rings_have_distances_and_longer_ones_are_refused() {
        let ring = |n: usize| Graph::of(n, (0..n).map(|a| (a, (a + 1) % n)));
        let long = ring(520);
        assert_eq!(long.distances(0, &long.rows()).into_iter().max(), Some(260));
        assert_eq!(Paths::shortest(&ring(1000)).unwrap_err(), PathsError::Long);
        let family: Family = "torus:8192".parse().unwrap();
        assert!(family.paths(&family.graph().unwrap()).is_err());
    }
}
