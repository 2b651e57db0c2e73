//! Operations of a group, as a program for each of its ranks.

use crate::datatype::{Datatype, Op};
use crate::program::{COMMANDS_MAX, Command, MESSAGE_MAX};
use rackloom_wire::link::EAGER;

/// Cards that work together: rank by rank, the port of its link to each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    links: Vec<Vec<Option<u8>>>,
}

impl Group {
    /// `links[a][b]` is the port of rank `a` whose cable leads to rank `b`.
    ///
    /// # Panics
    /// If there is no rank, or a row is not as long as there are ranks.
    pub fn new(links: Vec<Vec<Option<u8>>>) -> Self {
        assert!(!links.is_empty() && links.iter().all(|row| row.len() == links.len()));
        Self { links }
    }

    /// Ranks.
    pub fn size(&self) -> usize {
        self.links.len()
    }

    /// The port of rank `from` whose cable leads to rank `to`.
    pub fn port(&self, from: usize, to: usize) -> Option<u8> {
        *self.links.get(from)?.get(to)?
    }

    fn link(&self, from: usize, to: usize) -> Result<u8, PlanError> {
        self.links[from][to].ok_or(PlanError::NoLink { from, to })
    }
}

/// What a group does, in MPI's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Nobody goes on before all have come.
    Barrier,
    /// The root's elements, to rank `to`.
    Send {
        /// The receiver.
        to: usize,
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
    /// Room for others' elements: [`Operation::scratch`] bytes.
    pub scratch: u64,
}

/// Why there is no program for an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Two ranks have to send to each other, and no cable joins them.
    #[error("no link joins rank {from} and rank {to}, and cards do not forward")]
    NoLink {
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

    /// Bytes of room that a rank needs beside, at most.
    pub const fn scratch(&self, size: usize) -> u64 {
        match self.kind {
            Kind::Reduce | Kind::Allreduce | Kind::ReduceScatter => self.bytes().saturating_mul(size as u64),
            _ => 0,
        }
    }

    /// Whether elements are reduced.
    pub const fn reduces(&self) -> bool {
        matches!(self.kind, Kind::Reduce | Kind::Allreduce | Kind::ReduceScatter)
    }
}

/// The program of rank `me`. Elements are reduced in the order of ranks, so a result is the same, bit for bit, on every
/// run and every topology.
///
/// # Errors
/// See [`PlanError`].
pub fn compile(operation: &Operation, group: &Group, me: usize, at: &Buffers) -> Result<Vec<Command>, PlanError> {
    let size = group.size();
    let to = if let Kind::Send { to } = operation.kind { to } else { 0 };
    if let Some(rank) = [me, operation.root, to].into_iter().find(|rank| *rank >= size) {
        return Err(PlanError::Rank { rank, size });
    }
    if operation.reduces() && !operation.op.takes(operation.datatype) {
        return Err(PlanError::Type { op: operation.op, datatype: operation.datatype });
    }
    let bytes = operation.given(size).max(operation.got(size));
    if bytes > MESSAGE_MAX {
        return Err(PlanError::Long { bytes });
    }
    let mut plan = Plan { operation, group, me, at, commands: Vec::new() };
    plan.make(to)?;
    plan.commands.push(Command::Wait);
    debug_assert!(plan.commands.len() as u64 <= COMMANDS_MAX, "64 ranks need less");
    Ok(plan.commands)
}

struct Plan<'a> {
    operation: &'a Operation,
    group: &'a Group,
    me: usize,
    at: &'a Buffers,
    commands: Vec<Command>,
}

impl Plan<'_> {
    fn make(&mut self, to: usize) -> Result<(), PlanError> {
        let (me, root, b, at) = (self.me, self.operation.root, self.operation.bytes(), *self.at);
        let block = move |base: u64| move |rank: usize| (base + rank as u64 * b, b);
        let whole = move |base: u64| move |_: usize| (base, b);
        match self.operation.kind {
            Kind::Barrier => self.exchange(0, &whole(at.from), &whole(at.to))?,
            Kind::Send { to } if to == root => self.copy_own(me == root, at.from, at.to, b),
            Kind::Send { .. } if me == root => self.put(0, to, (at.from, b))?,
            Kind::Send { .. } if me == to => self.take(0, root, (at.to, b))?,
            Kind::Send { .. } => {}
            Kind::Broadcast if me == root => {
                self.put_all(0, &whole(at.from))?;
                self.copy(at.from, at.to, b);
            }
            Kind::Scatter if me == root => {
                self.put_all(0, &block(at.from))?;
                self.copy(block(at.from)(me).0, at.to, b);
            }
            Kind::Broadcast | Kind::Scatter => self.take(0, root, (at.to, b))?,
            Kind::Gather if me == root => {
                self.take_all(0, &block(at.to))?;
                self.copy(at.from, block(at.to)(me).0, b);
            }
            Kind::Gather => self.put(0, root, (at.from, b))?,
            Kind::Allgather => {
                self.exchange(0, &whole(at.from), &block(at.to))?;
                self.copy(at.from, block(at.to)(me).0, b);
            }
            Kind::Alltoall => {
                self.exchange(0, &block(at.from), &block(at.to))?;
                self.copy(block(at.from)(me).0, block(at.to)(me).0, b);
            }
            Kind::Reduce if me == root => {
                self.take_all(0, &block(at.scratch))?;
                self.fold(at.from, &block(at.scratch), at.to);
            }
            Kind::Reduce => self.put(0, root, (at.from, b))?,
            Kind::ReduceScatter => {
                self.exchange(0, &block(at.from), &block(at.scratch))?;
                self.fold(block(at.from)(me).0, &block(at.scratch), at.to);
            }
            Kind::Allreduce if b <= EAGER.into() => {
                self.exchange(0, &whole(at.from), &block(at.scratch))?;
                self.fold(at.from, &block(at.scratch), at.to);
            }
            Kind::Allreduce => self.allreduce()?,
        }
        Ok(())
    }

    /// Each rank reduces its part, and all get all parts: on each link twice the part, where one step takes the whole.
    fn allreduce(&mut self) -> Result<(), PlanError> {
        let (me, n, at) = (self.me, self.group.size() as u64, *self.at);
        let (count, wide) = (self.operation.count, self.operation.datatype.size());
        let first = move |rank: usize| rank as u64 * count / n * wide;
        let part = move |base: u64| move |rank: usize| (base + first(rank), first(rank + 1) - first(rank));
        let own = first(me + 1) - first(me);
        let others = move |rank: usize| (at.scratch + rank as u64 * own, own);
        self.exchange(0, &part(at.from), &others)?;
        self.fold(at.from + first(me), &others, at.to + first(me));
        self.exchange(1, &|_| (at.to + first(me), own), &part(at.to))
    }

    /// Puts to all others and takes from them, and waits for nothing.
    fn exchange(
        &mut self,
        tag: u16,
        gives: &dyn Fn(usize) -> (u64, u64),
        gets: &dyn Fn(usize) -> (u64, u64),
    ) -> Result<(), PlanError> {
        self.take_all(tag, gets)?;
        self.put_all(tag, gives)
    }

    /// The other ranks, from the next on: so not all begin with the same.
    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let (me, n) = (self.me, self.group.size());
        (1..n).map(move |step| (me + step) % n)
    }

    fn put_all(&mut self, tag: u16, gives: &dyn Fn(usize) -> (u64, u64)) -> Result<(), PlanError> {
        self.others().try_for_each(|rank| self.put(tag, rank, gives(rank)))
    }

    fn take_all(&mut self, tag: u16, gets: &dyn Fn(usize) -> (u64, u64)) -> Result<(), PlanError> {
        self.others().try_for_each(|rank| self.take(tag, rank, gets(rank)))
    }

    fn put(&mut self, tag: u16, rank: usize, (addr, length): (u64, u64)) -> Result<(), PlanError> {
        let link = self.group.link(self.me, rank)?;
        self.commands.push(Command::Put { link, tag, addr, length: length as u32 });
        Ok(())
    }

    fn take(&mut self, tag: u16, rank: usize, (addr, length): (u64, u64)) -> Result<(), PlanError> {
        let link = self.group.link(self.me, rank)?;
        self.commands.push(Command::Take { link, tag, addr, length: length as u32 });
        Ok(())
    }

    fn copy_own(&mut self, is_mine: bool, from: u64, to: u64, length: u64) {
        if is_mine {
            self.copy(from, to, length);
        }
    }

    fn copy(&mut self, from: u64, to: u64, length: u64) {
        self.commands.push(Command::Copy { from, to, length: length as u32 });
    }

    /// Waits for what others give, and reduces it with our own, rank after rank.
    fn fold(&mut self, own: u64, others: &dyn Fn(usize) -> (u64, u64), to: u64) {
        self.commands.push(Command::Wait);
        let length = others(self.me).1;
        let (op, datatype) = (self.operation.op, self.operation.datatype);
        let count = (length / datatype.size()) as u32;
        for rank in 0..self.group.size() {
            let from = if rank == self.me { own } else { others(rank).0 };
            match rank {
                0 => self.copy(from, to, length),
                _ => self.commands.push(Command::Reduce { op, datatype, from, to, count }),
            }
        }
    }
}
