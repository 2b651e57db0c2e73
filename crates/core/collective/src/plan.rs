//! Operations of a group, as a program for each of its ranks.

use crate::algorithm::{Way, ways};
use crate::blocks::Blocks;
use crate::check::{ProgramError, check};
use crate::datatype::{Datatype, Op};
use crate::group::{Group, Routes};
use crate::operation::{Buffers, Kind, Operation};
use crate::phase::{Local, Place};
use crate::program::{COMMANDS_MAX, Command, MESSAGE_MAX};
use crate::schedule::{Schedule, schedule};
use crate::waits::relax;

/// Bytes that a link could move while a round begins, as long as nobody has measured it: a round costs as much as so
/// many bytes. It decides where more rounds of shorter messages are better.
const ROUND: u64 = 32 << 10;

/// Why there is no plan for an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// No way leads from one rank to another by links between ranks: other cards do not pass messages on.
    #[error("no links between cards of the group lead from rank {from} to rank {to}")]
    Apart {
        /// The sender.
        from: usize,
        /// The receiver.
        to: usize,
    },
    /// A rank is none of the group's.
    #[error("rank {rank} is not in a group of {size}")]
    Rank {
        /// The rank.
        rank: usize,
        /// Ranks of the group.
        size: usize,
    },
    /// A message would be longer than messages may be.
    #[error("{bytes} bytes are more than a message may have, {MESSAGE_MAX}")]
    Long {
        /// Its bytes.
        bytes: u64,
    },
    /// There is no such operation on such elements.
    #[error("no {op} of {datatype}")]
    Type {
        /// The operation.
        op: Op,
        /// The elements.
        datatype: Datatype,
    },
    /// There is not a number of elements for each block.
    #[error("{given} numbers of elements were given for {due} blocks")]
    Counts {
        /// Numbers that were given.
        given: usize,
        /// Blocks that the operation has.
        due: usize,
    },
    /// So many ranks with so few links need longer programs than there may be.
    #[error("a program would have {commands} commands, and may have {COMMANDS_MAX}")]
    Commands {
        /// Commands of the longest program.
        commands: usize,
    },
    /// The programs would not end well, which is a bug of this crate.
    #[error("the plan is wrong")]
    Wrong(#[from] ProgramError),
}

/// How a group does an operation: which bytes go over which link, in which round.
///
/// Ranks without a link between them send to each other through ranks that have one: those take whole messages and put
/// them on. Of several ways the plan takes the one that costs least on these links; on all of them elements are reduced
/// in the order of ranks, so a result has the same bits on every run and every topology.
#[derive(Debug)]
pub struct Plan<'a> {
    operation: Operation,
    group: &'a Group,
    blocks: Blocks,
    way: Way,
    schedules: Vec<Schedule>,
    /// Bytes of each place for bytes on their way.
    relay: u64,
}

impl<'a> Plan<'a> {
    /// Plans an operation. Its programs have passed [`check`].
    ///
    /// # Errors
    /// See [`PlanError`].
    pub fn new(operation: &Operation, group: &'a Group) -> Result<Self, PlanError> {
        Self::for_round(operation, group, ROUND)
    }

    /// The same for cards and links of which was measured how many bytes a link moves while a round begins.
    ///
    /// # Errors
    /// See [`PlanError`].
    pub fn for_round(operation: &Operation, group: &'a Group, round: u64) -> Result<Self, PlanError> {
        Self::with(operation, group, Blocks::alike(operation, group.size()), round)
    }

    /// Plans an operation whose blocks differ: of so many elements is that of each rank, or for alltoall that from each
    /// rank for each, row by row. `operation.count` says nothing.
    ///
    /// # Errors
    /// See [`PlanError`]; also for operations without blocks.
    pub fn of_blocks(operation: &Operation, group: &'a Group, counts: &[u64]) -> Result<Self, PlanError> {
        let blocks = Blocks::of(operation, group.size(), counts);
        let blocks = blocks.map_err(|due| PlanError::Counts { given: counts.len(), due })?;
        Self::with(&Operation { count: 0, ..*operation }, group, blocks, ROUND)
    }

    fn with(operation: &Operation, group: &'a Group, blocks: Blocks, round: u64) -> Result<Self, PlanError> {
        let size = group.size();
        let to = if let Kind::Send { to } = operation.kind { to } else { 0 };
        if let Some(rank) = [operation.root, to].into_iter().find(|rank| *rank >= size) {
            return Err(PlanError::Rank { rank, size });
        }
        if operation.reduces() && !operation.op.takes(operation.datatype) {
            return Err(PlanError::Type { op: operation.op, datatype: operation.datatype });
        }
        let of_blocks = (0..size).map(|rank| blocks.gives(rank).max(blocks.gets(rank))).max().unwrap_or(0);
        let bytes = if has_blocks(operation.kind) { of_blocks } else { operation.bytes() };
        if bytes > MESSAGE_MAX {
            return Err(PlanError::Long { bytes });
        }
        if let Some((from, to)) = Routes::new(group).apart() {
            return Err(PlanError::Apart { from, to });
        }
        let (mut best, mut longest): (Option<Self>, usize) = (None, 0);
        for way in ways(operation, group, &blocks) {
            let plan = Self::of(*operation, group, blocks.clone(), way);
            let commands = plan.commands();
            longest = longest.max(commands);
            if commands as u64 <= COMMANDS_MAX && best.as_ref().is_none_or(|best| plan.cost(round) < best.cost(round)) {
                best = Some(plan);
            }
        }
        let best = best.ok_or(PlanError::Commands { commands: longest })?;
        check(group, &best.programs(&best.buffers()))?;
        Ok(best)
    }

    fn of(operation: Operation, group: &'a Group, blocks: Blocks, way: Way) -> Self {
        let schedules = way.phases.iter().map(|phase| schedule(phase, group.size())).collect();
        let passing = way.phases.iter().flat_map(|phase| &phase.hops).filter(|hop| hop.dest == Place::Relay);
        // Places begin at multiples of a beat of memory.
        let relay = passing.map(|hop| hop.length).max().unwrap_or(0).next_multiple_of(64);
        Self { operation, group, blocks, way, schedules, relay }
    }

    /// Rounds in which messages go.
    pub fn rounds(&self) -> usize {
        self.schedules.iter().map(|schedule| schedule.rounds.len()).sum()
    }

    /// Bytes that go over a link one after the other, where in each round all wait for the longest message.
    pub fn bytes(&self) -> u64 {
        let of_round = |(phase, round): (usize, &Vec<usize>)| {
            round.iter().map(|at| self.way.phases[phase].hops[*at].length).max().unwrap_or(0)
        };
        self.schedules.iter().enumerate().flat_map(|(i, s)| s.rounds.iter().map(move |r| (i, r))).map(of_round).sum()
    }

    fn cost(&self, round: u64) -> u64 {
        self.rounds() as u64 * round + self.bytes()
    }

    /// Bytes that a rank gives, at most: the same room on all.
    pub fn given(&self) -> u64 {
        let size = self.group.size();
        match has_blocks(self.operation.kind) {
            true => (0..size).map(|rank| self.blocks.gives(rank)).max().unwrap_or(0),
            false => self.operation.given(size),
        }
    }

    /// Bytes that this rank gives.
    pub fn gives(&self, rank: usize) -> u64 {
        match self.operation.kind {
            Kind::Send { .. } | Kind::Broadcast | Kind::Scatter if rank != self.operation.root => 0,
            kind if has_blocks(kind) => self.blocks.gives(rank),
            _ => self.operation.given(self.group.size()),
        }
    }

    /// Bytes that a rank gets, at most.
    pub fn got(&self) -> u64 {
        let size = self.group.size();
        match has_blocks(self.operation.kind) {
            true => (0..size).map(|rank| self.blocks.gets(rank)).max().unwrap_or(0),
            false => self.operation.got(size),
        }
    }

    /// Bytes that this rank gets.
    pub fn gets(&self, rank: usize) -> u64 {
        match self.operation.kind {
            Kind::Gather if rank != self.operation.root => 0,
            kind if has_blocks(kind) => self.blocks.gets(rank),
            _ => self.operation.gets(rank, self.group.size()),
        }
    }

    /// Bytes of room that each rank needs beside what it gives and gets.
    pub fn scratch(&self) -> u64 {
        let places = self.schedules.iter().map(|schedule| schedule.relays_max).max().unwrap_or(0);
        self.passing() + places as u64 * self.relay
    }

    /// Where the places for bytes on their way begin.
    const fn passing(&self) -> u64 {
        self.way.scratch.next_multiple_of(64)
    }

    /// Buffers one behind the other, from address 0 on.
    pub fn buffers(&self) -> Buffers {
        let to = self.given();
        Buffers { from: 0, to, scratch: to + self.got() }
    }

    /// Commands of the longest program, at most.
    fn commands(&self) -> usize {
        let mut commands = vec![0; self.group.size()];
        for (phase, schedule) in self.way.phases.iter().zip(&self.schedules) {
            phase.beside.iter().chain(&phase.then).for_each(|(rank, _)| commands[*rank] += 1);
            for hop in schedule.rounds.iter().flatten().map(|at| &phase.hops[*at]) {
                commands[hop.from] += 1;
                commands[hop.to] += 1 + usize::from(hop.fold.is_some());
            }
            commands.iter_mut().for_each(|n| *n += schedule.rounds.len());
        }
        commands.into_iter().max().unwrap_or(0)
    }

    /// Each rank's program, for buffers that lie there on all of them.
    pub fn programs(&self, at: &Buffers) -> Vec<Vec<Command>> {
        let mut programs = vec![Vec::new(); self.group.size()];
        let mut number = 0u16;
        for (i, schedule) in self.schedules.iter().enumerate() {
            let mut beside = self.way.phases[i].beside.clone();
            for round in &schedule.rounds {
                self.round(&mut programs, (i, &round[..]), number, &mut beside, at);
                number += 1;
            }
            // Of ranks that no message concerned.
            let then = &self.way.phases[i].then;
            beside.iter().chain(then).for_each(|(rank, local)| programs[*rank].push(self.local(local, at)));
        }
        programs.iter_mut().for_each(|program| relax(program));
        programs
    }

    /// What ranks do in one round: all begin to take, begin to put, and wait for all.
    fn round(
        &self,
        programs: &mut [Vec<Command>],
        (phase, round): (usize, &[usize]),
        tag: u16,
        beside: &mut Vec<(usize, Local)>,
        at: &Buffers,
    ) {
        let (hops, size) = (&self.way.phases[phase].hops, self.group.size());
        let mut of: Vec<(Vec<usize>, Vec<usize>)> = vec![Default::default(); size];
        for hop in round {
            of[hops[*hop].to].0.push(*hop);
            of[hops[*hop].from].1.push(*hop);
        }
        for (me, (mut takes, mut puts)) in of.into_iter().enumerate() {
            if takes.is_empty() && puts.is_empty() {
                continue;
            }
            // From the next rank on: so not all begin with the same.
            takes.sort_by_key(|hop| (hops[*hop].from + size - me) % size);
            puts.sort_by_key(|hop| (hops[*hop].to + size - me) % size);
            let program = &mut programs[me];
            for hop in &takes {
                let link = self.group.port(me, hops[*hop].from).expect("they are joined");
                let addr = self.addr(phase, hops[*hop].dest, Some(*hop), at);
                program.push(Command::Take { link, tag, addr, length: hops[*hop].length as u32 });
            }
            for hop in puts {
                let link = self.group.port(me, hops[hop].to).expect("they are joined");
                let addr = self.addr(phase, hops[hop].source, hops[hop].after, at);
                program.push(Command::Put { link, tag, addr, length: hops[hop].length as u32 });
            }
            beside.retain(|(rank, local)| {
                if *rank == me {
                    program.push(self.local(local, at));
                }
                *rank != me
            });
            program.push(Command::Wait);
            for hop in takes.iter().map(|hop| &hops[*hop]) {
                if let Some(from) = hop.fold {
                    program.push(self.local(&Local::Reduce { from, to: hop.dest, length: hop.length }, at));
                }
            }
        }
    }

    fn local(&self, local: &Local, at: &Buffers) -> Command {
        let Operation { op, datatype, .. } = self.operation;
        let addr = |place| self.addr(0, place, None, at);
        match *local {
            Local::Copy { from, to, length } => Command::Copy { from: addr(from), to: addr(to), length: length as u32 },
            Local::Reduce { from, to, length } => {
                let count = (length / datatype.size()) as u32;
                Command::Reduce { op, datatype, from: addr(from), to: addr(to), count }
            }
        }
    }

    /// The address of a place; of bytes on their way, that which message `relay` of the phase has brought.
    fn addr(&self, phase: usize, place: Place, relay: Option<usize>, at: &Buffers) -> u64 {
        match place {
            Place::From(offset) => at.from + offset,
            Place::To(offset) => at.to + offset,
            Place::Scratch(offset) => at.scratch + offset,
            Place::Relay => {
                let relay = relay.expect("a message brought it");
                at.scratch + self.passing() + self.schedules[phase].relays[relay] as u64 * self.relay
            }
        }
    }
}

const fn has_blocks(kind: Kind) -> bool {
    matches!(kind, Kind::Scatter | Kind::Gather | Kind::Allgather | Kind::Alltoall | Kind::ReduceScatter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::tests::group;

    fn mesh(n: usize) -> Group {
        group(n, &(0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b))).collect::<Vec<_>>())
    }

    fn ring(n: usize) -> Group {
        group(n, &(0..n).map(|a| (a, (a + 1) % n)).collect::<Vec<_>>())
    }

    fn of(kind: Kind, bytes: u64) -> Operation {
        Operation { kind, count: bytes, datatype: Datatype::I8, op: Op::Sum, root: 0 }
    }

    /// Rounds, and bytes that a link moves one after the other, in parts of those of one rank.
    fn costs(kind: Kind, group: &Group, bytes: u64) -> (usize, f64) {
        let plan = Plan::new(&of(kind, bytes), group).unwrap();
        (plan.rounds(), plan.bytes() as f64 / bytes as f64)
    }

    #[test]
    fn small_operations_take_as_many_rounds_as_the_longest_way_has_links() {
        for kind in [Kind::Barrier, Kind::Broadcast, Kind::Allreduce, Kind::Allgather, Kind::Alltoall, Kind::Gather] {
            assert_eq!(costs(kind, &mesh(8), 64).0, 1, "{kind:?}");
        }
        assert_eq!(costs(Kind::Barrier, &ring(8), 1).0, 4);
        assert_eq!(costs(Kind::Broadcast, &ring(8), 64).0, 4);
        assert_eq!(costs(Kind::Allgather, &ring(9), 64).0, 4);
    }

    #[test]
    fn large_operations_come_near_the_bounds() {
        const BYTES: u64 = 24 << 20;
        let near = |kind, group: &Group, bound: f64| {
            let (rounds, part) = costs(kind, group, BYTES);
            assert!(part >= bound - 1e-6, "{kind:?}: {part} is less than can be, {bound}");
            assert!(part <= bound * 1.1, "{kind:?}: {part} in {rounds} rounds, and the bound is {bound}");
        };
        // All links of the root at once.
        near(Kind::Broadcast, &mesh(8), 1.0 / 7.0);
        near(Kind::Send { to: 3 }, &mesh(8), 1.0 / 7.0);
        near(Kind::Broadcast, &ring(8), 1.0 / 2.0);
        near(Kind::Send { to: 3 }, &ring(8), 1.0 / 2.0);
        near(Kind::Allgather, &ring(9), 4.0);
        near(Kind::Alltoall, &mesh(8), 1.0);
        // 2 (n-1) / n of it over n - 1 links.
        near(Kind::Allreduce, &mesh(8), 2.0 / 8.0);
        // In rank order there is one way to add on a ring; its results have the other direction.
        let (_, part) = costs(Kind::Allreduce, &ring(8), BYTES);
        assert!(part < 1.25, "{part}");
    }

    #[test]
    fn what_cannot_be_planned_is_told() {
        let apart = group(3, &[(0, 1)]);
        let error = Plan::new(&of(Kind::Barrier, 0), &apart).unwrap_err();
        assert_eq!(error, PlanError::Apart { from: 0, to: 2 });
        let far = Operation { root: 3, ..of(Kind::Gather, 1) };
        assert_eq!(Plan::new(&far, &mesh(3)).unwrap_err(), PlanError::Rank { rank: 3, size: 3 });
        assert!(matches!(Plan::new(&of(Kind::Send { to: 9 }, 1), &mesh(3)), Err(PlanError::Rank { rank: 9, .. })));
        assert!(matches!(Plan::new(&of(Kind::Alltoall, 128 << 20), &mesh(3)), Err(PlanError::Long { .. })));
        let floats = Operation { datatype: Datatype::F32, op: Op::Xor, ..of(Kind::Reduce, 1) };
        assert!(matches!(Plan::new(&floats, &mesh(3)), Err(PlanError::Type { .. })));
    }
}
