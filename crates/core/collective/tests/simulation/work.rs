//! Operations under way on a mesh.

use rackloom_collective::{Buffers, COMMAND_BYTES, Memory, Operation, Plan};

use crate::mesh::{Mesh, Use, group};
use crate::oracle::{inputs, oracle};

/// One operation of some cards, with its program and buffers at the same addresses of each.
pub(crate) struct Work {
    pub(crate) operation: Operation,
    pub(crate) members: Vec<usize>,
    pub(crate) at: Buffers,
    pub(crate) id: u64,
    pub(crate) group: u64,
    pub(crate) inputs: Vec<Vec<u8>>,
}

impl Work {
    /// Bytes of memory that it needs on each card.
    pub(crate) fn bytes(operation: &Operation, members: &[usize], links: Use) -> u64 {
        let group = group(members, links);
        let plan = Plan::new(operation, &group).unwrap();
        Self::at(0, operation, &plan, members.len()).scratch + plan.scratch()
    }

    fn at(base: u64, operation: &Operation, plan: &Plan<'_>, size: usize) -> Buffers {
        let programs = plan.programs(&Buffers { from: 0, to: 0, scratch: 0 });
        let commands = programs.iter().map(|program| program.len() as u64).max().unwrap().max(1);
        let from = base + commands * COMMAND_BYTES;
        let to = from + operation.given(size);
        Buffers { from, to, scratch: to + operation.got(size) }
    }

    pub(crate) fn begin(
        mesh: &mut Mesh,
        operation: Operation,
        (members, links): (&[usize], Use),
        base: u64,
        id: u64,
        seed: u64,
    ) -> Self {
        let inputs = inputs(&operation, members.len(), seed);
        let group = group(members, links);
        let plan = Plan::new(&operation, &group).unwrap();
        let at = Self::at(base, &operation, &plan, members.len());
        let work = Self { operation, members: members.to_vec(), at, id, group: id << 20, inputs };
        for (rank, (card, program)) in members.iter().zip(plan.programs(&at)).enumerate() {
            mesh.cards[*card].1.write(at.from, &work.inputs[rank]).unwrap();
            mesh.start(*card, id, base, &program, (work.group, id as u32), 500);
        }
        work
    }

    /// Every byte of a rank that has ended well.
    pub(crate) fn check(&self, mesh: &mut Mesh, rank: usize) -> Result<(), String> {
        let Some(want) = oracle(&self.operation, &self.inputs, rank) else { return Ok(()) };
        let mut has = vec![0; want.len()];
        mesh.cards[self.members[rank]].1.read(self.at.to, &mut has).unwrap();
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
