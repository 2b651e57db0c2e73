//! Operations of a group.

use crate::datatype::{Datatype, Op};

/// What a group does, in MPI's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Nobody goes on before all have come.
    Barrier,
    /// The root's elements, to rank `to`; none are a signal.
    Send {
        /// The receiver.
        to: usize,
    },
    /// The elements of each, to the rank so many after it; behind the last comes the first.
    Sendrecv {
        /// How many.
        by: usize,
    },
    /// The root's elements, to all.
    Broadcast,
    /// The root's blocks of `count` elements, one to each rank.
    Scatter,
    /// A block of each rank, to the root.
    Gather,
    /// A block of each rank, to all.
    Allgather,
    /// A block of each rank for each rank.
    Alltoall,
    /// The elements of all, reduced, to the root.
    Reduce,
    /// The elements of all, reduced, to all.
    Allreduce,
    /// The blocks of all, reduced; of the result, its own block to each.
    ReduceScatter,
}

/// An operation of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    /// What is done.
    pub kind: Kind,
    /// Elements of each rank, or of each block.
    pub count: u64,
    /// What the elements are.
    pub datatype: Datatype,
    /// How they are reduced.
    pub op: Op,
    /// The root, where there is one.
    pub root: usize,
}

/// Where a rank has its data. Regions do not overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buffers {
    /// What it gives: [`Operation::given`] bytes.
    pub from: u64,
    /// What it gets: [`Operation::got`] bytes.
    pub to: u64,
    /// Room for others' elements: [`Plan::scratch`](crate::Plan::scratch) bytes.
    pub scratch: u64,
}

impl Operation {
    /// Bytes of each rank, or of a block.
    pub const fn bytes(&self) -> u64 {
        match self.kind {
            Kind::Barrier => 0,
            _ => self.count.saturating_mul(self.datatype.size()),
        }
    }

    /// Bytes that a rank gives, at most: the same room on all.
    pub const fn given(&self, size: usize) -> u64 {
        match self.kind {
            Kind::Scatter | Kind::Alltoall | Kind::ReduceScatter => self.bytes().saturating_mul(size as u64),
            _ => self.bytes(),
        }
    }

    /// Bytes that a rank gets, at most.
    pub const fn got(&self, size: usize) -> u64 {
        match self.kind {
            Kind::Gather | Kind::Allgather | Kind::Alltoall => self.bytes().saturating_mul(size as u64),
            _ => self.bytes(),
        }
    }

    /// Bytes that this rank gets.
    pub const fn gets(&self, rank: usize, size: usize) -> u64 {
        match self.kind {
            Kind::Gather | Kind::Reduce if rank != self.root => 0,
            Kind::Send { to } if rank != to => 0,
            _ => self.got(size),
        }
    }

    /// Whether elements are reduced.
    pub const fn reduces(&self) -> bool {
        matches!(self.kind, Kind::Reduce | Kind::Allreduce | Kind::ReduceScatter)
    }
}
