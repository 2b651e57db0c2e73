//! Operations under way on a mesh.

use rackloom_collective::{Buffers, COMMAND_BYTES, Memory, Operation, compile};

use crate::mesh::Mesh;
use crate::oracle::{inputs, oracle};

/// One operation of some cards: its buffers lie at `base` of each.
pub(crate) struct Work {
    pub(crate) operation: Operation,
    pub(crate) members: Vec<usize>,
    pub(crate) base: u64,
    pub(crate) id: u64,
    pub(crate) group: u64,
    pub(crate) inputs: Vec<Vec<u8>>,
}

impl Work {
    /// Bytes of memory that it needs on each card.
    pub(crate) fn bytes(operation: &Operation, ranks: usize) -> u64 {
        let n = ranks;
        operation.given(n) + operation.got(n) + operation.scratch(n) + 512 * COMMAND_BYTES
    }

    pub(crate) fn buffers(&self) -> Buffers {
        let n = self.members.len();
        let from = self.base + 512 * COMMAND_BYTES;
        let to = from + self.operation.given(n);
        Buffers { from, to, scratch: to + self.operation.got(n) }
    }

    pub(crate) fn begin(
        mesh: &mut Mesh,
        operation: Operation,
        members: &[usize],
        base: u64,
        id: u64,
        seed: u64,
    ) -> Self {
        let inputs = inputs(&operation, members.len(), seed);
        let work = Self { operation, members: members.to_vec(), base, id, group: id << 20, inputs };
        let (group, at) = (mesh.group(members), work.buffers());
        for (rank, card) in members.iter().enumerate() {
            mesh.cards[*card].1.write(at.from, &work.inputs[rank]).unwrap();
            let program = compile(&operation, &group, rank, &at).unwrap();
            mesh.start(*card, id, base, &program, (work.group, id as u32), 500);
        }
        work
    }

    /// Every byte of a rank that has ended well.
    pub(crate) fn check(&self, mesh: &mut Mesh, rank: usize) -> Result<(), String> {
        let Some(want) = oracle(&self.operation, &self.inputs, rank) else { return Ok(()) };
        let mut has = vec![0; want.len()];
        mesh.cards[self.members[rank]].1.read(self.buffers().to, &mut has).unwrap();
        if has == want { Ok(()) } else { Err(format!("{:?} rank {rank}: other bytes", self.operation)) }
    }

    /// All ranks have ended well, with the right bytes.
    pub(crate) fn check_all(&self, mesh: &mut Mesh) -> Result<(), String> {
        for (rank, card) in self.members.iter().enumerate() {
            let Some((_, report)) = mesh.ended.get(&(*card, self.id)) else { return Err("it has no end".into()) };
            if let Some(cause) = report.cause {
                return Err(format!("{:?} rank {rank}: {cause}: {report:?}", self.operation));
            }
            self.check(mesh, rank)?;
        }
        Ok(())
    }
}
