//! Ways to do an operation, from which the plan takes the one that costs least.

use crate::blocks::Blocks;
use crate::group::{Group, Routes};
use crate::operation::{Kind, Operation};
use crate::phase::{Hop, Local, Phase, Place};

/// A way to do an operation: its phases, and the room that each rank needs for others' elements.
#[derive(Debug)]
pub(crate) struct Way {
    pub(crate) phases: Vec<Phase>,
    pub(crate) scratch: u64,
}

impl Way {
    fn new(phases: Vec<Phase>) -> Self {
        Self { phases, scratch: 0 }
    }
}

/// Into so many pieces long messages are cut, so that a rank passes one on while the next comes.
const PIECES: [u64; 4] = [1, 4, 16, 64];
/// A piece has at least as many bytes.
const PIECE_MIN: u64 = 4096;

/// All ways to do an operation of a group whose ranks are joined.
pub(crate) fn ways(operation: &Operation, group: &Group, blocks: &Blocks) -> Vec<Way> {
    let make = Maker { operation, group, blocks, bytes: operation.bytes() };
    let pieces = || PIECES.into_iter().filter(|n| *n == 1 || make.bytes / n >= PIECE_MIN);
    let each = |way: &dyn Fn(u64) -> Option<Way>| pieces().filter_map(way).collect::<Vec<_>>();
    let reduced = |first: Way| [vec![first, make.parts()], each(&|n| make.chain(n))].into_iter().flatten().collect();
    match operation.kind {
        Kind::Barrier => vec![make.barrier()],
        Kind::Send { to } if to == operation.root => vec![make.own()],
        Kind::Send { to } => {
            each(&|n| make.send(to, n)).into_iter().chain(each(&|n| make.send_over_all(to, n))).collect()
        }
        Kind::Sendrecv { by } => vec![make.shift(by)],
        Kind::Broadcast => {
            each(&|n| make.broadcast(n)).into_iter().chain(each(&|n| make.broadcast_over_all(n))).collect()
        }
        Kind::Scatter | Kind::Gather | Kind::Alltoall => vec![make.blocks()],
        Kind::Allgather => vec![make.allgather()],
        Kind::Reduce => reduced(make.gather_and_fold()),
        Kind::Allreduce => reduced(make.all_fold()),
        Kind::ReduceScatter => vec![make.reduce_scatter()],
    }
}

struct Maker<'a> {
    operation: &'a Operation,
    group: &'a Group,
    blocks: &'a Blocks,
    /// Bytes of each rank.
    bytes: u64,
}

impl Maker<'_> {
    fn size(&self) -> usize {
        self.group.size()
    }

    fn ranks(&self) -> std::ops::Range<usize> {
        0..self.size()
    }

    /// Each tells all others that it has come.
    fn barrier(&self) -> Way {
        let (mut routes, mut phase) = (Routes::new(self.group), Phase::default());
        for rank in self.ranks() {
            let tree = routes.tree(rank, None).expect("ranks are joined");
            phase.spread(&tree, Place::From(0), Place::To(0), 0, None);
        }
        Way::new(vec![phase])
    }

    /// The root sends to itself.
    fn own(&self) -> Way {
        let copy = Local::Copy { from: Place::From(0), to: Place::To(0), length: self.bytes };
        Way::new(vec![Phase { then: vec![(self.operation.root, copy)], ..Phase::default() }])
    }

    /// Along a shortest way.
    fn send(&self, to: usize, pieces: u64) -> Option<Way> {
        let mut phase = Phase::default();
        let way = Routes::new(self.group).path(self.operation.root, to, None)?;
        for (at, length) in cut(self.bytes, pieces) {
            phase.send(&way, Place::From(at), Place::To(at), length, None);
        }
        if self.bytes == 0 {
            phase.send(&way, Place::From(0), Place::To(0), 0, None);
        }
        Some(Way::new(vec![phase]))
    }

    /// From each to the rank so many after it.
    fn shift(&self, by: usize) -> Way {
        let (mut routes, mut phase) = (Routes::new(self.group), Phase::default());
        for from in self.ranks() {
            let (to, length) = ((from + by) % self.size(), self.bytes);
            if from == to {
                phase.beside.push((from, Local::Copy { from: Place::From(0), to: Place::To(0), length }));
            } else if length > 0 {
                let way = routes.path(from, to, None).expect("ranks are joined");
                phase.send(&way, Place::From(0), Place::To(0), length, None);
            }
        }
        Way::new(vec![phase])
    }

    /// A part over each of the root's links from which a way leads on.
    fn send_over_all(&self, to: usize, pieces: u64) -> Option<Way> {
        let root = self.operation.root;
        let mut routes = Routes::new(self.group);
        let neighbours = routes.neighbours(root).to_vec();
        let on = neighbours.into_iter().filter_map(|next| routes.path(next, to, Some(root)));
        let ways: Vec<Vec<usize>> = on.map(|on| [vec![root], on].concat()).collect();
        let mut phase = Phase::default();
        for (way, (start, part)) in ways.iter().zip(cut(self.bytes, ways.len() as u64)) {
            for (at, length) in cut(part, pieces) {
                phase.send(way, Place::From(start + at), Place::To(start + at), length, None);
            }
        }
        (ways.len() > 1).then(|| Way::new(vec![phase]))
    }

    /// Along one tree.
    fn broadcast(&self, pieces: u64) -> Option<Way> {
        let tree = Routes::new(self.group).tree(self.operation.root, None)?;
        let mut phase = self.with_own();
        for (at, length) in cut(self.bytes, pieces) {
            phase.spread(&tree, Place::From(at), Place::To(at), length, None);
        }
        Some(Way::new(vec![phase]))
    }

    /// A part over each of the root's links, and from its other end along a tree of its own to all.
    fn broadcast_over_all(&self, pieces: u64) -> Option<Way> {
        let root = self.operation.root;
        let mut routes = Routes::new(self.group);
        let neighbours = routes.neighbours(root).to_vec();
        let of = |next: usize| Some([vec![(root, next)], routes.tree(next, Some(root))?].concat());
        let trees: Vec<_> = neighbours.into_iter().filter_map(of).collect();
        let mut phase = self.with_own();
        for (tree, (start, part)) in trees.iter().zip(cut(self.bytes, trees.len() as u64)) {
            for (at, length) in cut(part, pieces) {
                phase.spread(tree, Place::From(start + at), Place::To(start + at), length, None);
            }
        }
        (trees.len() > 1).then(|| Way::new(vec![phase]))
    }

    /// A broadcast's phase: the root, too, gets what it gives.
    fn with_own(&self) -> Phase {
        let own = Local::Copy { from: Place::From(0), to: Place::To(0), length: self.bytes };
        Phase { beside: vec![(self.operation.root, own)], ..Phase::default() }
    }

    /// A block from each who has one for each, along shortest ways. Where all have, the ways of all are chosen
    /// together.
    fn blocks(&self) -> Way {
        let (mut routes, mut phase) = (Routes::new(self.group), Phase::default());
        let together = (self.operation.kind == Kind::Alltoall).then(|| routes.of_all()).flatten();
        let pairs = self.ranks().flat_map(|from| self.ranks().map(move |step| (from, (from + step) % self.size())));
        for (from, to) in pairs.filter(|(from, to)| self.goes(*from, *to)) {
            let length = self.blocks.bytes(from, to);
            let source = Place::From(self.blocks.given_at(from, to));
            let dest = Place::To(self.blocks.got_at(from, to));
            if from == to {
                phase.beside.push((from, Local::Copy { from: source, to: dest, length }));
            } else if length > 0 {
                let way = match &together {
                    Some(paths) => {
                        let on = paths.at(from, to).iter().map(|rank| usize::from(*rank));
                        std::iter::once(from).chain(on).collect()
                    }
                    None => routes.path(from, to, None).expect("ranks are joined"),
                };
                phase.send(&way, source, dest, length, None);
            }
        }
        Way::new(vec![phase])
    }

    /// Whether a block goes from one rank to another.
    fn goes(&self, from: usize, to: usize) -> bool {
        match self.operation.kind {
            Kind::Scatter => from == self.operation.root,
            Kind::Gather => to == self.operation.root,
            _ => true,
        }
    }

    /// Each block along a tree of its own.
    fn allgather(&self) -> Way {
        let (mut routes, mut phase) = (Routes::new(self.group), Phase::default());
        for rank in self.ranks() {
            let (dest, length) = (Place::To(self.blocks.got_at(rank, rank)), self.blocks.bytes(rank, rank));
            phase.beside.push((rank, Local::Copy { from: Place::From(0), to: dest, length }));
            self.spread(&mut routes, &mut phase, rank, (Place::From(0), dest, length));
        }
        Way::new(vec![phase])
    }

    fn spread(&self, routes: &mut Routes<'_>, phase: &mut Phase, root: usize, what: (Place, Place, u64)) {
        let (source, dest, length) = what;
        if length > 0 {
            let tree = routes.tree(root, None).expect("ranks are joined");
            phase.spread(&tree, source, dest, length, None);
        }
    }

    /// All to the root, which reduces.
    fn gather_and_fold(&self) -> Way {
        let (root, b) = (self.operation.root, self.bytes);
        let (mut routes, mut phase) = (Routes::new(self.group), Phase::default());
        for rank in self.ranks().filter(|rank| *rank != root && b > 0) {
            let way = routes.path(rank, root, None).expect("ranks are joined");
            phase.send(&way, Place::From(0), Place::Scratch(rank as u64 * b), b, None);
        }
        self.fold(&mut phase, root, (Place::From(0), Place::Scratch(0), Place::To(0)), b);
        Way { phases: vec![phase], scratch: self.size() as u64 * b }
    }

    /// All to all, and each reduces.
    fn all_fold(&self) -> Way {
        let b = self.bytes;
        let (mut routes, mut phase) = (Routes::new(self.group), Phase::default());
        for rank in self.ranks() {
            self.spread(&mut routes, &mut phase, rank, (Place::From(0), Place::Scratch(rank as u64 * b), b));
            self.fold(&mut phase, rank, (Place::From(0), Place::Scratch(0), Place::To(0)), b);
        }
        Way { phases: vec![phase], scratch: self.size() as u64 * b }
    }

    /// Each rank reduces its own part; then all get all parts, or the root does.
    fn parts(&self) -> Way {
        let parts: Vec<_> = cut_exactly(self.bytes, self.size() as u64);
        let (mut routes, mut first) = (Routes::new(self.group), Phase::default());
        for (to, (at, length)) in parts.iter().copied().enumerate() {
            self.reduce_part(&mut routes, &mut first, to, (at, at), length);
        }
        let (mut routes, mut second) = (Routes::new(self.group), Phase::default());
        for (rank, (at, length)) in parts.iter().copied().enumerate().filter(|(_, (_, length))| *length > 0) {
            let place = Place::To(at);
            match self.operation.kind {
                Kind::Allreduce => self.spread(&mut routes, &mut second, rank, (place, place, length)),
                _ => {
                    let way = routes.path(rank, self.operation.root, None).expect("ranks are joined");
                    second.send(&way, place, place, length, None);
                }
            }
        }
        let longest = parts.iter().map(|(_, length)| *length).max().unwrap_or(0);
        Way { phases: vec![first, second], scratch: self.size() as u64 * longest }
    }

    /// Each rank reduces its own block.
    fn reduce_scatter(&self) -> Way {
        let (mut routes, mut phase) = (Routes::new(self.group), Phase::default());
        for to in self.ranks() {
            let length = self.blocks.bytes(to, to);
            self.reduce_part(&mut routes, &mut phase, to, (self.blocks.given_at(to, to), 0), length);
        }
        Way { phases: vec![phase], scratch: self.size() as u64 * self.blocks.longest() }
    }

    /// A part of what each gives goes to one rank, which reduces it: from the one offset, to the other.
    fn reduce_part(&self, routes: &mut Routes<'_>, phase: &mut Phase, to: usize, at: (u64, u64), length: u64) {
        for step in 1..self.size() {
            let from = (to + step) % self.size();
            if length > 0 {
                let way = routes.path(from, to, None).expect("ranks are joined");
                phase.send(&way, Place::From(at.0), Place::Scratch(from as u64 * length), length, None);
            }
        }
        self.fold(phase, to, (Place::From(at.0), Place::Scratch(0), Place::To(at.1)), length);
    }

    /// A rank reduces its own elements and those of others, which lie in its scratch, in the order of ranks.
    fn fold(&self, phase: &mut Phase, me: usize, (own, others, to): (Place, Place, Place), length: u64) {
        for rank in self.ranks().filter(|_| length > 0) {
            let from = if rank == me { own } else { others.plus(rank as u64 * length) };
            let local = match rank {
                0 => Local::Copy { from, to, length },
                _ => Local::Reduce { from, to, length },
            };
            phase.then.push((me, local));
        }
    }

    /// Pieces go from rank to rank in their order, and each reduces its own onto them; the results come back the same
    /// way to all, or go to the root. On each link a result's bytes once, however many ranks there are.
    fn chain(&self, pieces: u64) -> Option<Way> {
        let mut routes = Routes::new(self.group);
        if !routes.is_chain() || self.size() < 3 {
            return None;
        }
        let last = self.size() - 1;
        let back: Vec<_> = (1..=last).rev().map(|rank| (rank, rank - 1)).collect();
        let home = routes.path(last, self.operation.root, None)?;
        let mut phase = Phase::default();
        for (at, length) in cut(self.bytes, pieces) {
            let mut after = None;
            for to in 1..=last {
                let source = if to == 1 { Place::From(at) } else { Place::To(at) };
                let fold = Some(Place::From(at));
                phase.hops.push(Hop { from: to - 1, to, source, dest: Place::To(at), length, after, fold });
                after = Some(phase.hops.len() - 1);
            }
            match self.operation.kind {
                Kind::Allreduce => phase.spread(&back, Place::To(at), Place::To(at), length, after),
                _ => _ = phase.send(&home, Place::To(at), Place::To(at), length, after),
            }
        }
        Some(Way::new(vec![phase]))
    }
}

/// Cuts bytes into pieces at multiples of 64, which whole elements fill. There are no empty ones.
fn cut(bytes: u64, pieces: u64) -> Vec<(u64, u64)> {
    cut_exactly(bytes, pieces).into_iter().filter(|(_, length)| *length > 0).collect()
}

/// The same with empty ones.
fn cut_exactly(bytes: u64, pieces: u64) -> Vec<(u64, u64)> {
    let start = |n: u64| if n == pieces { bytes } else { bytes / 64 * n / pieces * 64 };
    (0..pieces).map(|n| (start(n), start(n + 1) - start(n))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_all_of_it_and_end_between_elements() {
        for (bytes, pieces) in [(0, 3), (1, 3), (64, 2), (1000, 7), (1 << 20, 64)] {
            let cut = cut_exactly(bytes, pieces);
            assert_eq!(cut.len() as u64, pieces);
            assert!(cut.iter().all(|(at, _)| at % 64 == 0 || *at == bytes));
            assert_eq!(cut.iter().fold(0, |at, piece| if piece.0 == at { at + piece.1 } else { u64::MAX }), bytes);
        }
        assert_eq!(cut(64, 2), [(0, 64)].map(|(_, n)| (0, n)));
    }
}
