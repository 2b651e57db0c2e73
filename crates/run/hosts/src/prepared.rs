//! An operation that was looked at, and may be done again and again.

use rackloom_collective::{Kind, Operation};

use crate::HostError;
use crate::segment::PIECE;
use crate::steps::{Move, steps};

/// Bytes that a rank gives or gets, at most: addresses of blocks stay far from where they would wrap.
const BYTES_MAX: u64 = 1 << 40;
/// A message is cut into so many pieces at least, so that one is read while the next is written.
const CUTS: usize = 8;
/// Shorter pieces than this cost more to hand over than they gain.
const PIECE_MIN: usize = 4 << 10;

/// An operation of a group of so many hosts.
#[derive(Debug, Clone)]
pub struct HostPrepared {
    pub(crate) operation: Operation,
    pub(crate) size: usize,
    /// Bytes of each block, if they differ.
    counts: Option<Vec<usize>>,
    /// What all ranks have to mean alike.
    pub(crate) meant: u64,
    /// What moves, if nothing is reduced, and the bytes of the longest message.
    pub(crate) steps: Vec<Vec<Move>>,
    pub(crate) longest: usize,
    /// What each rank gives and gets.
    bytes: Vec<(u64, u64)>,
}

impl HostPrepared {
    /// As [`HostGroup::prepare`](crate::HostGroup::prepare).
    pub(crate) fn new(operation: &Operation, size: usize, counts: Option<&[u64]>) -> Result<Self, HostError> {
        let rank = |rank: usize| if rank < size { Ok(()) } else { Err(HostError::Rank { rank, size }) };
        match operation.kind {
            Kind::Send { to } => rank(to).and_then(|()| rank(operation.root))?,
            Kind::Broadcast | Kind::Scatter | Kind::Gather | Kind::Reduce => rank(operation.root)?,
            _ => {}
        }
        if operation.reduces() && !operation.op.takes(operation.datatype) {
            return Err(HostError::Type { op: operation.op, datatype: operation.datatype });
        }
        let blocks = match operation.kind {
            Kind::Alltoall => size * size,
            Kind::Scatter | Kind::Gather | Kind::Allgather | Kind::ReduceScatter => size,
            _ => 0,
        };
        let mut operation = *operation;
        let counts = match counts {
            Some(counts) if counts.len() != blocks => {
                return Err(HostError::Blocks(format!("{} blocks where the operation has {blocks}", counts.len())));
            }
            counts => counts,
        };
        let of = |count: u64| count.checked_mul(operation.datatype.size()).filter(|bytes| *bytes <= BYTES_MAX);
        let block = |i: usize| of(counts.map_or(operation.count, |counts| counts[i]));
        let whole = if operation.kind == Kind::Barrier || counts.is_some() { Some(0) } else { of(operation.count) };
        let each = whole.and_then(|_| (0..blocks).map(block).collect::<Option<Vec<_>>>());
        let each = each.ok_or_else(|| HostError::Blocks("a rank has more than a terabyte".to_owned()))?;
        if counts.is_some() || operation.kind == Kind::Barrier {
            operation.count = 0;
        }
        let one = operation.bytes();
        let all: u64 = each.iter().sum();
        let bytes = (0..size).map(|r| {
            let is_root = r == operation.root;
            let row = || each[r * size..(r + 1) * size].iter().sum();
            let column = || (0..size).map(|from| each[from * size + r]).sum();
            let when = |yes: bool, bytes: u64| if yes { bytes } else { 0 };
            match operation.kind {
                Kind::Barrier => (0, 0),
                Kind::Send { to } => (when(is_root, one), when(r == to, one)),
                Kind::Sendrecv { .. } | Kind::Allreduce => (one, one),
                Kind::Broadcast => (when(is_root, one), one),
                Kind::Scatter => (when(is_root, all), each[r]),
                Kind::Gather => (each[r], when(is_root, all)),
                Kind::Allgather => (each[r], all),
                Kind::Alltoall => (row(), column()),
                Kind::Reduce => (one, when(is_root, one)),
                Kind::ReduceScatter => (all, each[r]),
            }
        });
        let bytes = bytes.collect();
        let meant = meant(&operation, counts);
        let each: Vec<_> = each.iter().map(|bytes| *bytes as usize).collect();
        let steps = steps(&operation, size, &each);
        let longest = steps.iter().flatten().map(|m| m.bytes).max().unwrap_or(0);
        let counts = counts.map(|_| each);
        Ok(Self { operation, size, counts, meant, steps, longest, bytes })
    }

    /// Bytes that a rank gives.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn gives(&self, rank: usize) -> u64 {
        self.bytes[rank].0
    }

    /// Bytes that a rank gets.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn gets(&self, rank: usize) -> u64 {
        self.bytes[rank].1
    }

    /// Where a block begins among all, one behind the other, and its bytes.
    pub(crate) fn block(&self, i: usize) -> (usize, usize) {
        match &self.counts {
            Some(counts) => (counts[..i].iter().sum(), counts[i]),
            None => (i * self.operation.bytes() as usize, self.operation.bytes() as usize),
        }
    }

    /// Bytes of a piece of an operation whose longest message has so many, of ranks that have so many processors. If
    /// all write and then read, and share processors, nobody reads while another writes: a cut only costs a change.
    pub(crate) fn piece(&self, longest: usize, processors: usize) -> usize {
        let all_write = matches!(self.operation.kind, Kind::Sendrecv { .. } | Kind::Allgather | Kind::Alltoall);
        let cuts = if all_write && self.size > processors { 1 } else { CUTS };
        (longest / cuts).next_multiple_of(64).clamp(PIECE_MIN, PIECE)
    }

    /// Whether it may have its result where its input is, without a copy of that: also if others fetch it from there.
    pub(crate) const fn is_done_in_place(&self, is_direct: bool) -> bool {
        match self.operation.kind {
            Kind::Barrier | Kind::Send { .. } | Kind::Broadcast | Kind::Reduce | Kind::Allreduce => true,
            Kind::Sendrecv { .. } => !is_direct,
            Kind::Scatter | Kind::Gather | Kind::Allgather | Kind::Alltoall | Kind::ReduceScatter => false,
        }
    }
}

/// A hash of what ranks have to mean alike: of kind, root, type, and lengths.
fn meant(operation: &Operation, counts: Option<&[u64]>) -> u64 {
    let (kind, peer) = match operation.kind {
        Kind::Barrier => (1, 0),
        Kind::Send { to } => (2, to),
        Kind::Sendrecv { by } => (3, by),
        Kind::Broadcast => (4, 0),
        Kind::Scatter => (5, 0),
        Kind::Gather => (6, 0),
        Kind::Allgather => (7, 0),
        Kind::Alltoall => (8, 0),
        Kind::Reduce => (9, 0),
        Kind::Allreduce => (10, 0),
        Kind::ReduceScatter => (11, 0),
    };
    let words =
        [kind, peer as u64, operation.root as u64, operation.datatype as u64, operation.op as u64, operation.count];
    let mix = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    words.iter().chain(counts.unwrap_or_default()).fold(0, |hash, word| mix(hash, *word))
}
