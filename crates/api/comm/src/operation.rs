//! Operations as C programs write them.
#![allow(unsafe_code)]

use rackloom::{Datatype, Op, Operation, OperationKind as Kind};

use crate::failure::Failure;

/// `rl_operation` of the header.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct COperation {
    kind: u32,
    datatype: u32,
    op: u32,
    root: u32,
    peer: u32,
    reserved: u32,
    count: u64,
    counts: *const u64,
}

impl COperation {
    /// The operation, and the elements of its blocks if they differ.
    ///
    /// # Errors
    /// It is none of a group of so many.
    ///
    /// # Safety
    /// `counts` is null, or has as many numbers as the operation has blocks.
    pub(crate) unsafe fn read(&self, size: usize) -> Result<(Operation, Option<Vec<u64>>), Failure> {
        let none = |what: &str, number: u32| Failure::Invalid(format!("there is no {what} {number}"));
        let peer = self.peer as usize;
        let kind = match self.kind {
            1 => Kind::Barrier,
            2 => Kind::Send { to: peer },
            3 => Kind::Sendrecv { by: peer },
            4 => Kind::Broadcast,
            5 => Kind::Scatter,
            6 => Kind::Gather,
            7 => Kind::Allgather,
            8 => Kind::Alltoall,
            9 => Kind::Reduce,
            10 => Kind::Allreduce,
            11 => Kind::ReduceScatter,
            other => return Err(none("operation", other)),
        };
        let datatype = Datatype::ALL.into_iter().find(|t| *t as u32 == self.datatype);
        let datatype = datatype.ok_or_else(|| none("type", self.datatype))?;
        let op = Op::ALL.into_iter().find(|op| *op as u32 == self.op).ok_or_else(|| none("op", self.op))?;
        if self.reserved != 0 {
            return Err(Failure::Invalid("`reserved` of the operation is not 0".to_owned()));
        }
        let blocks = match kind {
            Kind::Alltoall => size * size,
            Kind::Scatter | Kind::Gather | Kind::Allgather | Kind::ReduceScatter => size,
            _ => 0,
        };
        let counts = match (self.counts.is_null(), blocks) {
            (true, _) => None,
            (false, 0) => return Err(Failure::Invalid("`counts` of an operation without blocks".to_owned())),
            // SAFETY: the caller says that they are there.
            (false, blocks) => Some(unsafe { std::slice::from_raw_parts(self.counts, blocks) }.to_vec()),
        };
        Ok((Operation { kind, count: self.count, datatype, op, root: self.root as usize }, counts))
    }
}
