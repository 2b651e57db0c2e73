//! Groups of cards, and ways through their links.

use rackloom_topology::{Graph, Paths};

/// Cards that work together: rank by rank, the port of its link to each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    links: Vec<Vec<Option<u8>>>,
}

impl Group {
    /// `links[a][b]` is the port of rank `a` whose cable leads to rank `b`.
    ///
    /// # Panics
    /// If there is no rank, or a row is not as long as there are ranks.
    pub fn new(links: Vec<Vec<Option<u8>>>) -> Self {
        assert!(!links.is_empty() && links.iter().all(|row| row.len() == links.len()));
        Self { links }
    }

    /// Ranks.
    pub fn size(&self) -> usize {
        self.links.len()
    }

    /// The port of rank `from` whose cable leads to rank `to`.
    pub fn port(&self, from: usize, to: usize) -> Option<u8> {
        *self.links.get(from)?.get(to)?
    }

    /// The rank to which the port of `from` leads.
    pub fn at(&self, from: usize, port: u8) -> Option<usize> {
        self.links.get(from)?.iter().position(|link| *link == Some(port))
    }

    /// Whether both know of the link that joins them.
    pub(crate) fn is_joined(&self, a: usize, b: usize) -> bool {
        self.port(a, b).is_some() && self.port(b, a).is_some()
    }
}

/// Shortest ways through a group's own links. Of those, the ones are taken that were taken least before.
#[derive(Debug)]
pub(crate) struct Routes<'a> {
    group: &'a Group,
    /// Links from each rank to each, and how often they were taken.
    neighbours: Vec<Vec<usize>>,
    load: Vec<Vec<u32>>,
}

/// Ranks whose ways are chosen together, at most.
const TOGETHER_MAX: usize = 64;

/// A rank that no way leads to.
const FAR: u32 = u32::MAX;

impl<'a> Routes<'a> {
    pub(crate) fn new(group: &'a Group) -> Self {
        let n = group.size();
        let of = |a: usize| (1..n).map(|step| (a + step) % n).filter(|b| group.is_joined(a, *b)).collect();
        Self { group, neighbours: (0..n).map(of).collect(), load: vec![vec![0; n]; n] }
    }

    pub(crate) fn size(&self) -> usize {
        self.group.size()
    }

    pub(crate) fn neighbours(&self, rank: usize) -> &[usize] {
        &self.neighbours[rank]
    }

    /// Links to each rank from this one, without passing `avoided`.
    fn distances(&self, from: usize, avoided: Option<usize>) -> Vec<u32> {
        let mut distances = vec![FAR; self.size()];
        distances[from] = 0;
        let mut queue = std::collections::VecDeque::from([from]);
        while let Some(a) = queue.pop_front() {
            for &b in &self.neighbours[a] {
                if distances[b] == FAR && Some(b) != avoided {
                    distances[b] = distances[a] + 1;
                    queue.push_back(b);
                }
            }
        }
        distances
    }

    /// From each rank but `root` the one before it on the way from `root`, nearest ranks first: pairs of the two.
    /// `None`: not all can be reached, without passing `avoided`.
    pub(crate) fn tree(&mut self, root: usize, avoided: Option<usize>) -> Option<Vec<(usize, usize)>> {
        let distances = self.distances(root, avoided);
        let mut ranks: Vec<_> = (0..self.size()).filter(|r| *r != root && Some(*r) != avoided).collect();
        ranks.sort_by_key(|rank| distances[*rank]);
        let mut pairs = Vec::new();
        for rank in ranks {
            let before = self.neighbours[rank].iter().copied().filter(|b| distances[*b] < distances[rank]);
            let parent = before.min_by_key(|b| self.load[*b][rank])?;
            self.load[parent][rank] += 1;
            pairs.push((parent, rank));
        }
        Some(pairs)
    }

    /// A shortest way, with both ends, without passing `avoided`.
    pub(crate) fn path(&mut self, from: usize, to: usize, avoided: Option<usize>) -> Option<Vec<usize>> {
        let distances = self.distances(to, avoided);
        let mut path = vec![from];
        let mut at = from;
        while at != to {
            let closer = self.neighbours[at].iter().copied().filter(|b| distances[*b] < distances[at]);
            let next = closer.min_by_key(|b| self.load[at][*b])?;
            self.load[at][next] += 1;
            path.push(next);
            at = next;
        }
        Some(path)
    }

    /// A shortest way from each rank to each, so that links carry alike if all are used. `None`: there are so
    /// many ranks that the search would take seconds.
    pub(crate) fn of_all(&self) -> Option<Paths> {
        if self.size() > TOGETHER_MAX {
            return None;
        }
        let of = |(from, to): (usize, &Vec<usize>)| to.iter().map(move |to| (from, *to)).collect::<Vec<_>>();
        let graph = Graph::directed(self.size(), self.neighbours.iter().enumerate().flat_map(of));
        Paths::shortest(&graph).ok()
    }

    /// The first two ranks that no way joins.
    pub(crate) fn apart(&self) -> Option<(usize, usize)> {
        let to = self.distances(0, None).iter().position(|distance| *distance == FAR)?;
        Some((0, to))
    }

    /// Whether each rank is joined to the next.
    pub(crate) fn is_chain(&self) -> bool {
        (1..self.size()).all(|rank| self.group.is_joined(rank - 1, rank))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A group in which these pairs are joined, by ports in their order.
    pub(crate) fn group(size: usize, pairs: &[(usize, usize)]) -> Group {
        let mut links = vec![vec![None; size]; size];
        let mut next = vec![1; size];
        for (a, b) in pairs.iter().flat_map(|(a, b)| [(*a, *b), (*b, *a)]) {
            links[a][b] = Some(next[a]);
            next[a] += 1;
        }
        Group::new(links)
    }

    #[test]
    fn ways_are_shortest_and_take_turns() {
        let ring = group(4, &[(0, 1), (1, 2), (2, 3), (3, 0)]);
        let mut routes = Routes::new(&ring);
        assert_eq!(routes.path(0, 1, None), Some(vec![0, 1]));
        let ways: Vec<_> = (0..2).map(|_| routes.path(0, 2, None).unwrap()).collect();
        assert_eq!(ways, [[0, 3, 2], [0, 1, 2]], "the link to 1 was taken before, then the other");
        assert_eq!(routes.tree(1, Some(0)).unwrap(), [(1, 2), (2, 3)]);
        assert!(routes.is_chain() && routes.apart().is_none());
        assert_eq!(ring.at(1, 2), Some(2));
    }

    #[test]
    fn ranks_that_nothing_joins_are_told() {
        let apart = group(4, &[(0, 1), (2, 3)]);
        let mut routes = Routes::new(&apart);
        assert_eq!((routes.apart(), routes.path(0, 2, None), routes.tree(0, None)), (Some((0, 2)), None, None));
        let mut links = vec![vec![None; 2]; 2];
        links[0][1] = Some(1);
        assert_eq!(Routes::new(&Group::new(links)).apart(), Some((0, 1)), "one of them does not know it");
    }
}
