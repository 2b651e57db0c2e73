//! What moves in an operation that moves bytes as they are.

use rackloom_collective::{Kind, Operation};

use crate::segment::SLOTS;

/// Bytes of one rank for some.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Move {
    pub(crate) from: usize,
    /// A bit for each rank of the group; also for the one that gives them.
    pub(crate) to: u64,
    pub(crate) bytes: usize,
    /// Where they are in what the one gives, and in what the others get.
    pub(crate) give: usize,
    pub(crate) get: usize,
}

/// What moves among `n` ranks, in steps in each of which a rank publishes at most as many pieces as a ring has: then
/// nobody waits for room that only its own taking would make. `blocks` has the bytes of each block. Operations that
/// reduce have none.
pub(crate) fn steps(operation: &Operation, n: usize, blocks: &[usize]) -> Vec<Vec<Move>> {
    let (root, bytes) = (operation.root, operation.bytes() as usize);
    let all = u64::MAX >> (64 - n);
    match operation.kind {
        Kind::Send { to } => vec![vec![Move { from: root, to: 1 << to, bytes, give: 0, get: 0 }]],
        Kind::Sendrecv { by } => {
            let to = |from: usize| 1 << ((from + by % n) % n);
            vec![(0..n).map(|from| Move { from, to: to(from), bytes, give: 0, get: 0 }).collect()]
        }
        Kind::Broadcast => vec![vec![Move { from: root, to: all, bytes, give: 0, get: 0 }]],
        Kind::Scatter => {
            let part = |(q, give): (usize, usize)| Move { from: root, to: 1 << q, bytes: blocks[q], give, get: 0 };
            let parts: Vec<_> = starts(blocks).enumerate().map(part).collect();
            parts.chunks(SLOTS).map(<[_]>::to_vec).collect()
        }
        Kind::Gather | Kind::Allgather => {
            let to = if operation.kind == Kind::Gather { 1 << root } else { all };
            let part = |(from, get): (usize, usize)| Move { from, to, bytes: blocks[from], give: 0, get };
            vec![starts(blocks).enumerate().map(part).collect()]
        }
        Kind::Alltoall => {
            // Blocks lie by rank, of what is given by that which gets them and of what is got by that which gave them.
            let row = |from: usize| starts(&blocks[from * n..(from + 1) * n]);
            let give: Vec<usize> = (0..n).flat_map(row).collect();
            let mut get = vec![0; n * n];
            for from in 1..n {
                (0..n).for_each(|q| get[from * n + q] = get[(from - 1) * n + q] + blocks[(from - 1) * n + q]);
            }
            // Each begins with the next rank: so not all read the same ring at a time.
            let part = |s: usize, from: usize| {
                let (q, at) = ((from + s) % n, from * n + (from + s) % n);
                Move { from, to: 1 << q, bytes: blocks[at], give: give[at], get: get[at] }
            };
            let part = |at: usize| part(at / n, at % n);
            let parts: Vec<_> = (0..n * n).map(part).collect();
            parts.chunks(SLOTS * n).map(<[_]>::to_vec).collect()
        }
        Kind::Barrier | Kind::Reduce | Kind::Allreduce | Kind::ReduceScatter => Vec::new(),
    }
}

/// Where each block begins, one behind the other.
fn starts(blocks: &[usize]) -> impl Iterator<Item = usize> {
    blocks.iter().scan(0, |at, bytes| Some(std::mem::replace(at, *at + bytes)))
}

#[cfg(test)]
mod tests {
    use rackloom_collective::{Datatype, Op};

    use super::*;

    #[test]
    fn nobody_publishes_more_in_a_step_than_a_ring_has() {
        for n in [1, 2, 16, 17, 40, 64] {
            for kind in [Kind::Scatter, Kind::Alltoall, Kind::Allgather, Kind::Gather] {
                let operation = Operation { kind, count: 3, datatype: Datatype::I8, op: Op::Sum, root: n - 1 };
                let blocks: Vec<_> = (0..if kind == Kind::Alltoall { n * n } else { n }).map(|i| i % 5).collect();
                let steps = steps(&operation, n, &blocks);
                let most = |step: &Vec<Move>| (0..n).map(|r| step.iter().filter(|m| m.from == r).count()).max();
                assert!(steps.iter().all(|step| most(step) <= Some(SLOTS)), "{n} {kind:?}");
                assert_eq!(steps.iter().map(Vec::len).sum::<usize>(), blocks.len());
            }
        }
    }

    #[test]
    fn blocks_of_an_alltoall_lie_by_rank() {
        let operation = Operation { kind: Kind::Alltoall, count: 0, datatype: Datatype::I8, op: Op::Sum, root: 0 };
        // Row by row: what rank 0 gives, and so on.
        let all = steps(&operation, 3, &[1, 2, 4, 8, 16, 32, 64, 128, 256]).concat();
        let of = |from: usize, to: usize| all.iter().find(|m| m.from == from && m.to == 1 << to).unwrap();
        let at = |from, to| (of(from, to).bytes, of(from, to).give, of(from, to).get);
        assert_eq!((at(0, 2), at(1, 0), at(2, 1)), ((4, 3, 0), (8, 0, 1), (128, 64, 18)));
    }
}
