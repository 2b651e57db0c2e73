//! The operations that are compared, with the programs that cards of gateware have run and the cycles that these took.

use rackloom_collective::{Buffers, Command, Datatype, Group, Kind, Op, Operation, Plan};
use rackloom_topology::Family;

use crate::error::{Result, StudyError};
use crate::group::of_graph;

/// What the bench has measured (`gateware/tb/collectives/test_rl_collective_mesh.py`): cycles of each rank.
const CYCLES: &str = include_str!("../../gateware/cycles.txt");

/// Where the programs' data begins: the programs themselves lie before it.
const DATA_AT: u64 = 128 << 10;

const KINDS: [(&str, Kind); 11] = [
    ("barrier", Kind::Barrier),
    ("send", Kind::Send { to: 1 }),
    ("sendrecv", Kind::Sendrecv { by: 1 }),
    ("broadcast", Kind::Broadcast),
    ("scatter", Kind::Scatter),
    ("gather", Kind::Gather),
    ("allgather", Kind::Allgather),
    ("alltoall", Kind::Alltoall),
    ("reduce", Kind::Reduce),
    ("allreduce", Kind::Allreduce),
    ("reduce-scatter", Kind::ReduceScatter),
];
/// Cycles after which cards come to barriers.
const LATE: [u64; 4] = [0, 0, 1000, 2000];
/// So many one after the other.
const BARRIERS: [(&str, usize); 7] = [
    ("1-barrier", 1),
    ("2-barriers", 2),
    ("3-barriers", 3),
    ("4-barriers", 4),
    ("6-barriers", 6),
    ("10-barriers", 10),
    ("20-barriers", 20),
];
const SIZES: [u64; 4] = [64, 1 << 10, 16 << 10, 64 << 10];
/// These are long enough for several paths or phases, or for both directions of one link.
const LONG: [(&str, usize); 4] = [("send", 4), ("sendrecv", 2), ("broadcast", 4), ("allreduce", 4)];
const LONG_BYTES: u64 = 256 << 10;

/// What ranks run.
enum What {
    /// The plan of an operation.
    Planned(Kind),
    /// A message from rank 0 to rank 1 alone.
    Message,
    /// A copy alone.
    Copy,
    /// A reduction alone.
    Reduction,
    /// Waits alone, so many.
    Waits(usize),
    /// So many barriers, one after the other.
    Barriers(usize),
}

/// Programs of some ranks, each joined to each.
pub(super) struct Case {
    pub(super) operation: &'static str,
    what: What,
    pub(super) ranks: usize,
    /// Bytes of each rank, or of a block.
    pub(super) bytes: u64,
    /// Cycles after which each rank gets its Go.
    pub(super) gos: Vec<u64>,
}

impl Case {
    /// All that the bench has measured: first operations,
    pub(super) fn operations() -> Vec<Self> {
        let mut all = Vec::new();
        for (operation, kind) in KINDS {
            let sizes = if kind == Kind::Barrier { &[0][..] } else { &SIZES };
            for ranks in [2, 3, 4] {
                let of = |bytes: &u64| Self::new(operation, What::Planned(kind), ranks, *bytes);
                all.extend(sizes.iter().map(of));
                all.extend(LONG.contains(&(operation, ranks)).then(|| of(&LONG_BYTES)));
            }
        }
        all
    }

    /// then what is alone on cards, of which the model's times are,
    pub(super) fn alone() -> Vec<Self> {
        let mut all: Vec<Self> =
            [0, 64, 1408, 2816, 24 << 10].map(|bytes| Self::new("message", What::Message, 2, bytes)).into();
        // One that comes before its take, which has its Go that late.
        let early = |bytes| Self { gos: vec![0, 3000], ..Self::new("early-message", What::Message, 2, bytes) };
        all.extend([64, 16 << 10].map(early));
        let waits = [("16-commands", 16), ("17-commands", 17), ("32-commands", 32)];
        all.extend(waits.map(|(name, count)| Self::new(name, What::Waits(count), 1, 0)));
        all.extend([64, 1024, 2048].map(|bytes| Self::new("copy", What::Copy, 1, bytes)));
        all.extend([64, 1024, 2048].map(|bytes| Self::new("reduction", What::Reduction, 1, bytes)));
        all
    }

    /// and barriers of cards that come one after the other, as in the paper's figure 9.
    pub(super) fn barriers() -> Vec<Self> {
        let some = |(name, count)| Self { gos: LATE.to_vec(), ..Self::new(name, What::Barriers(count), LATE.len(), 0) };
        BARRIERS.into_iter().map(some).collect()
    }

    fn new(operation: &'static str, what: What, ranks: usize, bytes: u64) -> Self {
        Self { operation, what, ranks, bytes, gos: vec![0; ranks] }
    }

    /// How many barriers it has, one after the other.
    pub(super) const fn barriers_of(&self) -> usize {
        if let What::Barriers(count) = self.what { count } else { 0 }
    }

    fn name(&self) -> String {
        format!("{} {} {}", self.operation, self.ranks, self.bytes)
    }

    pub(super) fn group(&self) -> Group {
        match self.ranks {
            1 => Group::new(vec![vec![None]]),
            ranks => of_graph(&Family::HyperX(vec![ranks]).graph().expect("there is a mesh of so few")),
        }
    }

    /// The program of each rank.
    pub(super) fn programs(&self, group: &Group) -> Result<Vec<Vec<Command>>> {
        let (from, to, length) = (DATA_AT, DATA_AT + (64 << 10), self.bytes as u32);
        let reduction = Command::Reduce { op: Op::Sum, datatype: Datatype::F32, from, to, count: length / 4 };
        Ok(match self.what {
            What::Planned(kind) => self.planned(kind, group)?,
            What::Message => vec![
                vec![Command::Put { link: 1, tag: 0, addr: from, length }, Command::Wait],
                vec![Command::Take { link: 1, tag: 0, addr: to, length }, Command::Wait],
            ],
            What::Copy => vec![vec![Command::Copy { from, to, length }]],
            What::Reduction => vec![vec![reduction]],
            What::Waits(count) => vec![vec![Command::Wait; count]],
            What::Barriers(count) => {
                let once = self.planned(Kind::Barrier, group)?;
                once.into_iter().map(|program| again(&program, count)).collect()
            }
        })
    }

    fn planned(&self, kind: Kind, group: &Group) -> Result<Vec<Vec<Command>>> {
        let operation = Operation { kind, count: self.bytes / 4, datatype: Datatype::F32, op: Op::Sum, root: 0 };
        let failed = |source| StudyError::Plan { operation: self.operation, ranks: self.ranks, source };
        let plan = Plan::new(&operation, group).map_err(failed)?;
        let to = DATA_AT + plan.given().next_multiple_of(64);
        let scratch = to + plan.got().next_multiple_of(64);
        Ok(plan.programs(&Buffers { from: DATA_AT, to, scratch }))
    }

    /// Cycles of each rank on gateware, from its Go on.
    pub(super) fn measured(&self) -> Result<Vec<u64>> {
        let missing = || StudyError::Unmeasured { row: self.name() };
        let name = format!("{}: ", self.name());
        let line = CYCLES.lines().find_map(|line| line.strip_prefix(&name)).ok_or_else(missing)?;
        let cycles: Option<Vec<u64>> = line.split(' ').map(|cycles| cycles.parse().ok()).collect();
        cycles.filter(|cycles| cycles.len() == self.ranks).ok_or_else(missing)
    }
}

/// A program of signals so often, with tags of their own.
fn again(program: &[Command], count: usize) -> Vec<Command> {
    let tagged = |turn: usize| {
        program.iter().map(move |command| {
            let mut command = *command;
            if let Command::Put { tag, .. } | Command::Take { tag, .. } = &mut command {
                *tag += turn as u16;
            }
            command
        })
    };
    (0..count).flat_map(tagged).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;

    /// The programs of all cases, as the bench reads them: a block for each case, of its name with the ranks' Gos and
    /// of a line for each rank. A command has the fields of its bytes in memory; `-` is a rank without any.
    fn programs() -> Result<String> {
        let mut blocks = Vec::new();
        let all = Case::operations().into_iter().chain(Case::alone()).chain(Case::barriers());
        for case in all {
            let gos: Vec<String> = case.gos.iter().map(u64::to_string).collect();
            let mut block = format!("{} {}", case.name(), gos.join(" "));
            for program in case.programs(&case.group())? {
                let commands: Vec<String> = program.iter().map(fields).collect();
                let line = if commands.is_empty() { "-" } else { &commands.join(" ") };
                write!(block, "\n{line}").expect("a string takes it");
            }
            blocks.push(block);
        }
        Ok(blocks.join("\n\n") + "\n")
    }

    fn fields(command: &Command) -> String {
        let bytes = command.encode();
        let number =
            |at: usize, length: usize| bytes[at..at + length].iter().fold(0u64, |n, byte| n << 8 | u64::from(*byte));
        let all = [(0, 1), (1, 1), (2, 2), (4, 4), (8, 8), (16, 8)].map(|(at, length)| number(at, length).to_string());
        all.join(".")
    }

    #[test]
    fn programs_are_those_that_the_bench_runs() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/gateware/programs.txt");
        let now = programs().unwrap();
        if std::env::var_os("RACKLOOM_BLESS").is_some() {
            std::fs::write(path, &now).unwrap();
        }
        let written = std::fs::read_to_string(path).unwrap();
        assert!(written == now, "plans have changed: RACKLOOM_BLESS=1 writes {path}, and then the bench has to run");
    }
}
