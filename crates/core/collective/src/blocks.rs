//! Where blocks lie in what ranks give and get: one behind the other, in the order of ranks.

use crate::operation::{Kind, Operation};
use crate::program::MESSAGE_MAX;

/// The blocks of an operation that has blocks.
#[derive(Debug, Clone)]
pub(crate) struct Blocks {
    kind: Kind,
    size: usize,
    /// Bytes of each rank's block; for alltoall, of that from each rank for each.
    bytes: Vec<u64>,
}

impl Blocks {
    /// Blocks of one length.
    pub(crate) fn alike(operation: &Operation, size: usize) -> Self {
        let count = if operation.kind == Kind::Alltoall { size * size } else { size };
        Self { kind: operation.kind, size, bytes: vec![operation.bytes(); count] }
    }

    /// Blocks of so many elements: a number for each rank, or for alltoall one from each rank for each.
    ///
    /// # Errors
    /// How many numbers there have to be.
    pub(crate) fn of(operation: &Operation, size: usize, counts: &[u64]) -> Result<Self, usize> {
        let due = match operation.kind {
            Kind::Alltoall => size * size,
            Kind::Scatter | Kind::Gather | Kind::Allgather | Kind::ReduceScatter => size,
            _ => 0,
        };
        if counts.len() != due || due == 0 {
            return Err(due);
        }
        let wide = operation.datatype.size();
        let bytes = counts.iter().map(|count| count.saturating_mul(wide).min(MESSAGE_MAX + 1)).collect();
        Ok(Self { kind: operation.kind, size, bytes })
    }

    /// Bytes that a rank gives.
    pub(crate) fn gives(&self, rank: usize) -> u64 {
        match self.kind {
            Kind::Gather | Kind::Allgather => self.bytes[rank],
            _ => (0..self.size).map(|to| self.bytes(rank, to)).sum(),
        }
    }

    /// Bytes that it gets.
    pub(crate) fn gets(&self, rank: usize) -> u64 {
        match self.kind {
            Kind::Gather | Kind::Allgather | Kind::Alltoall => (0..self.size).map(|from| self.bytes(from, rank)).sum(),
            _ => self.bytes[rank],
        }
    }

    /// Bytes that go from one rank to another.
    pub(crate) fn bytes(&self, from: usize, to: usize) -> u64 {
        match self.kind {
            Kind::Alltoall => self.bytes[from * self.size + to],
            Kind::Gather | Kind::Allgather => self.bytes[from],
            _ => self.bytes[to],
        }
    }

    /// Where they begin in what the one gives.
    pub(crate) fn given_at(&self, from: usize, to: usize) -> u64 {
        match self.kind {
            Kind::Gather | Kind::Allgather => 0,
            _ => (0..to).map(|rank| self.bytes(from, rank)).sum(),
        }
    }

    /// Where they begin in what the other gets.
    pub(crate) fn got_at(&self, from: usize, to: usize) -> u64 {
        match self.kind {
            Kind::Gather | Kind::Allgather | Kind::Alltoall => (0..from).map(|rank| self.bytes(rank, to)).sum(),
            _ => 0,
        }
    }

    /// The longest of them.
    pub(crate) fn longest(&self) -> u64 {
        self.bytes.iter().copied().max().unwrap_or(0)
    }
}
