//! In which slot a block goes over which link.

use crate::graph::Graph;
use crate::paths::Paths;

/// In which order blocks are given their slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// All over their first links, then all over their second: fewest slots, and cards keep much.
    ByLink,
    /// One after the other over all links, as soon as can be: cards keep little, and some slots stay empty.
    ByBlock,
}

/// Each card sends a block to each other, at once: the slots in which blocks go over the links of their paths. All
/// links move in the same slots, a block in each, and a block goes on in a later slot than it came.
#[derive(Debug, Clone)]
pub struct Schedule {
    paths: Paths,
    /// By link of all paths.
    slots: Vec<u16>,
    len: usize,
}

impl Schedule {
    /// Gives each block the first slots that are free.
    ///
    /// # Panics
    /// If it would need more than 65,535 slots, which is more than a link of [`CARDS_MAX`](crate::CARDS_MAX) cards on
    /// short paths carries.
    pub fn new(graph: &Graph, paths: Paths, order: Order) -> Self {
        let cards = paths.cards();
        let mut free = Free::new(graph.links());
        let mut schedule = Self { slots: vec![0; paths.links()], paths, len: 0 };
        let behind = |n: usize| (0..cards).map(move |from| (from, (from + n) % cards));
        let pairs = || (1..cards).flat_map(behind);
        match order {
            // Blocks with few links to go wait for those with many.
            Order::ByLink => {
                for place in 0..schedule.paths.longest() {
                    for left in (1..=schedule.paths.longest() - place).rev() {
                        let due = |(from, to): &(usize, usize)| schedule.paths.range(*from, *to).len() == place + left;
                        for (from, to) in pairs().filter(due).collect::<Vec<_>>() {
                            schedule.give(graph, &mut free, (from, to), place);
                        }
                    }
                }
            }
            Order::ByBlock => {
                for (from, to) in pairs() {
                    (0..schedule.paths.range(from, to).len())
                        .for_each(|place| schedule.give(graph, &mut free, (from, to), place));
                }
            }
        }
        schedule
    }

    /// Gives the block of a pair its slot at a place of its path.
    fn give(&mut self, graph: &Graph, free: &mut Free, (from, to): (usize, usize), place: usize) {
        let (on, start) = (self.paths.at(from, to), self.paths.range(from, to).start);
        let (at, since) = match place {
            0 => (from, 0),
            _ => (on[place - 1].into(), usize::from(self.slots[start + place - 1]) + 1),
        };
        let slot = free.take(graph.link(at, on[place].into()).expect("paths are made of links"), since);
        self.slots[start + place] = u16::try_from(slot).expect("no link carries so much");
        self.len = self.len.max(slot + 1);
    }

    /// Slots until all have all.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there is nothing to do.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The paths.
    pub const fn paths(&self) -> &Paths {
        &self.paths
    }

    /// The slots of a block, one for each link of its path.
    pub fn slots(&self, from: usize, to: usize) -> &[u16] {
        &self.slots[self.paths.range(from, to)]
    }

    /// When the last block is there, if each link sends its blocks in the order of their slots, each as soon as the one
    /// before is out and it has come itself: a link takes `block` for a block, which comes `latency` after its last bit
    /// has left. In the unit of both.
    pub fn time(&self, graph: &Graph, block: u64, latency: u64) -> u64 {
        let cards = self.paths.cards();
        let mut by_slot: Vec<Vec<(u32, u16)>> = vec![Vec::new(); self.len];
        for pair in 0..cards * cards {
            let slots = self.slots(pair / cards, pair % cards).iter().enumerate();
            slots.for_each(|(place, slot)| by_slot[usize::from(*slot)].push((pair as u32, place as u16)));
        }
        let mut is_free = vec![0; graph.links()];
        let mut came = vec![0; cards * cards];
        for (pair, place) in by_slot.into_iter().flatten().map(|(pair, place)| (pair as usize, usize::from(place))) {
            let on = self.paths.at(pair / cards, pair % cards);
            let at = if place == 0 { pair / cards } else { on[place - 1].into() };
            let link = graph.link(at, on[place].into()).expect("paths are made of links");
            is_free[link] = is_free[link].max(came[pair]) + block;
            came[pair] = is_free[link] + latency;
        }
        came.into_iter().max().unwrap_or(0)
    }

    #[cfg(test)]
    pub(crate) fn slots_mut(&mut self, from: usize, to: usize) -> &mut [u16] {
        let range = self.paths.range(from, to);
        &mut self.slots[range]
    }
}

/// The slots of each link that no block has.
struct Free(Vec<Vec<u64>>);

impl Free {
    fn new(links: usize) -> Self {
        Self(vec![Vec::new(); links])
    }

    /// Takes the first free slot of a link from `since` on.
    fn take(&mut self, link: usize, since: usize) -> usize {
        let taken = &mut self.0[link];
        let mut word = since / 64;
        let mut before = (1u64 << (since % 64)) - 1;
        loop {
            if word >= taken.len() {
                taken.resize(word + 1, 0);
            }
            let bit = (taken[word] | before).trailing_ones() as usize;
            if bit < 64 {
                taken[word] |= 1 << bit;
                return word * 64 + bit;
            }
            (word, before) = (word + 1, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_free_slot_is_taken() {
        let mut free = Free::new(2);
        assert_eq!([free.take(0, 0), free.take(0, 0), free.take(1, 0)], [0, 1, 0]);
        assert_eq!([free.take(0, 63), free.take(0, 63), free.take(0, 2)], [63, 64, 2]);
        (0..200).for_each(|_| _ = free.take(1, 0));
        assert_eq!(free.take(1, 0), 201);
    }

    #[test]
    fn time_is_that_of_the_links_in_a_row() {
        let line = Graph::of(3, [(0, 1), (1, 2)]);
        let schedule = Schedule::new(&line, Paths::shortest(&line).unwrap(), Order::ByLink);
        // Each end's link to the middle carries the block for the other end and that for the middle; the middle's links
        // carry its own and the one that passes.
        assert_eq!(schedule.len(), 2);
        assert_eq!(schedule.time(&line, 100, 0), 200);
        assert_eq!(
            schedule.time(&line, 100, 30),
            260,
            "the one that passes comes 30 after the slot's end, and goes on"
        );
    }
}
