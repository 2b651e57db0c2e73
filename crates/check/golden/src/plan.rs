//! Operations of a group as the planner makes programs of them.

use rackloom_collective::{Buffers, Group, Kind, Operation, Plan};

use crate::Fault;
use crate::link::reduction;

/// Most ranks of a group.
const RANKS_MAX: usize = 64;

/// An operation, and whose program is wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Planned {
    /// Elements of a rank, or of a block.
    pub count: u64,
    /// Where all ranks have what they give,
    pub from: u64,
    /// what they get,
    pub to: u64,
    /// and the room beside it.
    pub scratch: u64,
    /// Bytes of that room: an answer.
    pub room: u64,
    /// 1 reduce, 2 allreduce, 3 reduce_scatter.
    pub kind: u8,
    /// As a command has it.
    pub op: u8,
    /// As a command has it.
    pub datatype: u8,
    /// Who gets the result of reduce.
    pub root: u8,
    /// Whose program it is.
    pub rank: u8,
}

/// The program of a rank, whose ports to each are a row of `links`, 0 for none.
pub(crate) fn program(links: &[u8], asked: &mut Planned) -> Result<Vec<u8>, Fault> {
    let size = links.len().isqrt();
    if size == 0 || size > RANKS_MAX || size * size != links.len() || usize::from(asked.rank) >= size {
        return Err(Fault::Argument);
    }
    let rows = links.chunks_exact(size).map(|row| row.iter().map(|port| (*port != 0).then_some(*port)).collect());
    let group = Group::new(rows.collect());
    let kind = match asked.kind {
        1 => Kind::Reduce,
        2 => Kind::Allreduce,
        3 => Kind::ReduceScatter,
        _ => return Err(Fault::Argument),
    };
    let (op, datatype) = reduction(asked.op, asked.datatype)?;
    let operation = Operation { kind, count: asked.count, datatype, op, root: asked.root.into() };
    let plan = Plan::new(&operation, &group).map_err(|_| Fault::Refused)?;
    asked.room = plan.scratch();
    let programs = plan.programs(&Buffers { from: asked.from, to: asked.to, scratch: asked.scratch });
    Ok(programs[usize::from(asked.rank)].iter().flat_map(|command| command.encode()).collect())
}

#[cfg(test)]
mod tests {
    use rackloom_collective::COMMAND_BYTES;

    use super::*;

    #[test]
    fn two_ranks_have_programs_and_nonsense_has_none() {
        let links = [0, 1, 1, 0];
        let good = Planned { count: 4, to: 64, scratch: 128, kind: 2, op: 1, datatype: 3, ..Planned::default() };
        let program_of = |links: &[u8], asked: Planned| program(links, &mut { asked });
        let commands = program_of(&links, good).unwrap();
        assert!(!commands.is_empty() && commands.len().is_multiple_of(COMMAND_BYTES as usize));
        assert_eq!(program_of(&[0; 4], good), Err(Fault::Refused), "they are not joined");
        for bad in [Planned { kind: 4, ..good }, Planned { op: 9, ..good }, Planned { rank: 2, ..good }] {
            assert_eq!(program_of(&links, bad), Err(Fault::Argument));
        }
        assert_eq!(program_of(&links[..3], good), Err(Fault::Argument));
    }
}
