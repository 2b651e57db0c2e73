//! Groups of cards that work together over their links.

mod error;
mod seat;

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bytes::Bytes;
use rackloom_collective::{Buffers, Command, Group, Operation, Plan, REPORT_BYTES, Report};
use rackloom_host::{CardName, Launch, LaunchReport};
use rackloom_live::random_u64;
use rackloom_sync::lock;
use rackloom_wire::{MacAddr, link::KERNEL};

use crate::desk::{DATA, Desk, PROGRAM, REPORT};
use crate::{Error, Pending, Rack};
pub use error::CommError;
pub use seat::Seat;

/// What is launched on a card, and not over.
type Running = Pending<LaunchReport>;

/// A group of cards, rank by rank, that are joined by links: each to each, or by way of others of the group. This
/// process has claimed all of them, or the card of one rank: then the others' do the same operations in the same order.
///
/// A group uses its cards' memory from the lowest address that is a host's. Operations of groups that share cards take
/// turns; those of others run beside each other. Calls may come from several threads. `R` is a reference to the
/// connection, or an `Arc` of it.
#[derive(Debug)]
pub struct Communicator<R> {
    rack: R,
    cards: Vec<CardName>,
    group: Group,
    /// The ranks that this process has claimed.
    own: Vec<Place>,
    /// The group's number, which no other group guesses.
    id: u64,
    /// Operations so far.
    sequence: AtomicU32,
    limit: Duration,
    /// Memory of the card that has least.
    memory: u64,
    seats: Vec<Seat>,
}

/// A card that this process has claimed, and its rank.
#[derive(Debug, Clone, Copy)]
struct Place {
    card: CardName,
    rank: usize,
}

/// What an operation gave.
#[derive(Debug, Clone)]
pub struct Operated {
    /// What each rank of this process got; empty where it gets nothing.
    pub outputs: Vec<Bytes>,
    /// The longest time that a card's program ran, by the card's own clock.
    pub time: Duration,
}

/// An operation that is ready to be begun, again and again: each rank's program, and where its data lies. It belongs to
/// the communicator that made it.
#[derive(Debug)]
pub struct Prepared {
    /// No other operation of the connection has it.
    number: u64,
    /// The communicator's.
    group: u64,
    programs: Vec<Vec<Command>>,
    at: Buffers,
    /// Bytes that any of them gives, at most.
    room: u64,
    /// Bytes that each rank gives, and gets.
    bytes: Vec<(u64, u64)>,
}

impl Prepared {
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
}

impl<R: Deref<Target = Rack>> Communicator<R> {
    /// A group of these cards, in the order of ranks, all claimed by this connection. Each says who is at the other
    /// ends of its links. An operation fails that is not done within `limit`.
    ///
    /// # Errors
    /// [`CommError::Card`]: also for a card without links.
    ///
    /// # Panics
    /// If there is no card.
    pub fn new(rack: R, cards: &[MacAddr], limit: Duration) -> Result<Self, CommError> {
        let seats = Seat::survey(&rack, cards)?;
        let own = (0..seats.len()).collect::<Vec<_>>();
        Ok(Self::of(rack, seats, &own, random_u64(), limit))
    }

    /// The group of these seats, of which this connection has claimed that of `rank` alone. All ranks' processes give
    /// the same seats and the same `id`, which no other group has.
    ///
    /// # Panics
    /// If `rank` is none of them.
    pub fn join(rack: R, seats: Vec<Seat>, rank: usize, id: u64, limit: Duration) -> Self {
        Self::of(rack, seats, &[rank], id, limit)
    }

    fn of(rack: R, seats: Vec<Seat>, own: &[usize], id: u64, limit: Duration) -> Self {
        let cards: Vec<_> = seats.iter().map(|seat| seat.card).collect();
        let own = own.iter().map(|rank| Place { card: cards[*rank], rank: *rank }).collect();
        let (group, memory) = (Seat::group(&seats), seats.iter().map(|seat| seat.memory).min().unwrap_or(0));
        Self { rack, cards, group, own, id, sequence: AtomicU32::new(0), limit, memory, seats }
    }

    /// A group of some of these ranks, all of this process: the first of `ranks` is its rank 0.
    ///
    /// # Panics
    /// If there is none, or one is not of this process or named twice.
    pub fn part(&self, ranks: &[usize]) -> Self
    where
        R: Clone,
    {
        let is_own = |rank: &usize| self.own.iter().any(|place| place.rank == *rank);
        assert!(ranks.iter().all(is_own) && (1..ranks.len()).all(|i| !ranks[..i].contains(&ranks[i])));
        let seats: Vec<_> = ranks.iter().map(|rank| self.seats[*rank].clone()).collect();
        let own = (0..seats.len()).collect::<Vec<_>>();
        Self::of(self.rack.clone(), seats, &own, random_u64(), self.limit)
    }

    /// Groups of ranks of one colour each, as MPI's split makes them: by colour, and in each by key and then by rank.
    /// Ranks without a colour are in none.
    ///
    /// # Panics
    /// If there is not a colour and a key for each rank, or a rank is not of this process.
    pub fn split(&self, colours: &[Option<u32>], keys: &[i64]) -> Vec<Self>
    where
        R: Clone,
    {
        assert!(colours.len() == self.cards.len() && keys.len() == self.cards.len());
        let mut of = std::collections::BTreeMap::<u32, Vec<usize>>::new();
        for (rank, colour) in colours.iter().enumerate() {
            if let Some(colour) = colour {
                of.entry(*colour).or_default().push(rank);
            }
        }
        let part = |mut ranks: Vec<usize>| {
            ranks.sort_by_key(|rank| keys[*rank]);
            self.part(&ranks)
        };
        of.into_values().map(part).collect()
    }

    /// The group of the cards that are left, in their order: of those that still answer and that this process holds.
    /// A card that has started again is not among them before it is claimed again.
    ///
    /// # Errors
    /// None is left; the network is lost.
    ///
    /// # Panics
    /// If a rank is not of this process.
    pub fn shrink(&self) -> Result<Self, CommError>
    where
        R: Clone,
    {
        assert_eq!(self.own.len(), self.cards.len(), "other processes have ranks of the group");
        let mut why = None;
        let mut left = Vec::new();
        for place in &self.own {
            match Seat::survey(&self.rack, &[place.card.mac]) {
                Ok(_) => left.push(place.card.mac),
                Err(error) => why = Some(error),
            }
        }
        match (left.is_empty(), why) {
            (true, Some(why)) => Err(why),
            _ => Self::new(self.rack.clone(), &left, self.limit),
        }
    }

    /// The cards, rank by rank.
    pub fn cards(&self) -> &[CardName] {
        &self.cards
    }

    /// Does an operation. Each rank of this process gives its own of `inputs`.
    ///
    /// # Errors
    /// [`CommError`] names the card, and whom it waited for.
    ///
    /// # Panics
    /// If there is not one input for each rank of this process, or one is longer than what a rank gives.
    pub fn run(&self, operation: &Operation, inputs: &[Bytes]) -> Result<Operated, CommError> {
        self.run_prepared(&self.prepare(operation, None)?, inputs)
    }

    /// Does an operation whose blocks differ: MPI's scatterv, gatherv, allgatherv, alltoallv and reduce_scatter. Of so
    /// many elements is the block of each rank; for alltoall, that from each rank for each, row by row.
    /// `operation.count` says nothing. Blocks lie one behind the other.
    ///
    /// # Errors
    /// See [`run`](Self::run).
    ///
    /// # Panics
    /// As [`run`](Self::run).
    pub fn run_blocks(&self, operation: &Operation, counts: &[u64], inputs: &[Bytes]) -> Result<Operated, CommError> {
        self.run_prepared(&self.prepare(operation, Some(counts))?, inputs)
    }

    /// Does an operation that was made ready by this communicator. Its programs are not written again if no other
    /// operation has used the cards since.
    ///
    /// # Errors
    /// See [`run`](Self::run).
    ///
    /// # Panics
    /// As [`run`](Self::run); or if another communicator made it ready.
    pub fn run_prepared(&self, prepared: &Prepared, inputs: &[Bytes]) -> Result<Operated, CommError> {
        assert_eq!(prepared.group, self.id, "it is another communicator's");
        assert_eq!(inputs.len(), self.own.len());
        assert!(inputs.iter().all(|input| input.len() as u64 <= prepared.room));
        let desks: Vec<_> = turns_of(&self.rack, &self.own);
        let _turns: Vec<_> = desks.iter().map(|desk| lock(&desk.turn)).collect();
        let writes: Vec<_> = self.own.iter().zip(inputs).filter(|(_, input)| !input.is_empty()).collect();
        let write = |(place, input): (&Place, &Bytes)| self.rack.write(place.card.mac, prepared.at.from, input.clone());
        let writes: Vec<_> = writes.into_iter().map(write).collect();
        writes.into_iter().try_for_each(Pending::wait)?;
        self.place(prepared, &desks)?;
        let time = self.launch(prepared)?;
        let read = |place: &Place| match prepared.gets(place.rank) {
            0 => None,
            bytes => Some(self.rack.read(place.card.mac, prepared.at.to, bytes)),
        };
        let reads: Vec<_> = self.own.iter().map(read).collect();
        let outputs = reads.into_iter().map(|read| read.map_or(Ok(Bytes::new()), Pending::wait));
        Ok(Operated { outputs: outputs.collect::<Result<_, Error>>()?, time })
    }

    /// Does an operation some times, on whatever lies in the cards' memory, and gives the time of each. The programs
    /// are written once.
    ///
    /// # Errors
    /// See [`run`](Self::run).
    pub fn repeat(&self, operation: &Operation, times: u32) -> Result<Vec<Duration>, CommError> {
        let prepared = self.prepare(operation, None)?;
        let desks = turns_of(&self.rack, &self.own);
        let _turns: Vec<_> = desks.iter().map(|desk| lock(&desk.turn)).collect();
        self.place(&prepared, &desks)?;
        (0..times).map(|_| self.launch(&prepared)).collect()
    }

    /// Makes an operation ready: plans it, and has each rank's program. `counts` as for
    /// [`run_blocks`](Self::run_blocks).
    ///
    /// # Errors
    /// [`CommError::Plan`]; [`CommError::Memory`].
    pub fn prepare(&self, operation: &Operation, counts: Option<&[u64]>) -> Result<Prepared, CommError> {
        let plan = match counts {
            None => Plan::new(operation, &self.group),
            Some(counts) => Plan::of_blocks(operation, &self.group, counts),
        };
        let plan = plan.map_err(|source| CommError::plan(&self.cards, source))?;
        let room = |bytes: u64| bytes.next_multiple_of(64);
        let to = DATA + room(plan.given());
        let at = Buffers { from: DATA, to, scratch: to + room(plan.got()) };
        let needs = at.scratch + plan.scratch();
        if needs > self.memory {
            return Err(CommError::Memory { needs, has: self.memory });
        }
        let bytes = (0..self.cards.len()).map(|rank| (plan.gives(rank), plan.gets(rank))).collect();
        let number = self.rack.desks.number();
        Ok(Prepared { number, group: self.id, programs: plan.programs(&at), at, room: plan.given(), bytes })
    }

    /// Writes the operation's programs where they do not lie already.
    fn place(&self, prepared: &Prepared, desks: &[Arc<Desk>]) -> Result<(), Error> {
        if desks.iter().all(|desk| desk.program.load(Ordering::Relaxed) == prepared.number) {
            return Ok(());
        }
        let programs: Vec<_> = self.own.iter().map(|place| &prepared.programs[place.rank]).collect();
        write_programs(&self.rack, &self.own, &programs)?;
        desks.iter().for_each(|desk| desk.program.store(prepared.number, Ordering::Relaxed));
        Ok(())
    }

    /// Has each card run the program that was written to it: all begun by one Go, if all are this process's.
    fn launch(&self, prepared: &Prepared) -> Result<Duration, CommError> {
        let sequence = self.sequence.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        let go = if self.own.len() == self.cards.len() { self.rack.desks.go() } else { 0 };
        let lengths: Vec<_> = self.own.iter().map(|place| prepared.programs[place.rank].len()).collect();
        let ran = launch(&self.rack, &self.own, &lengths, self.limit, (self.id, sequence), go)?;
        let failed = self.own.iter().zip(&ran.reports).filter(|(_, report)| report.cause.is_some());
        let failed: Vec<_> = failed.map(|(place, report)| (place.rank, *report)).collect();
        match CommError::first(&self.cards, &self.group, &failed) {
            Some(error) => Err(error),
            None => Ok(ran.time),
        }
    }
}

/// How programs have ended.
struct Ran {
    time: Duration,
    reports: Vec<Report>,
}

/// The desks of cards, in an order in which nobody who takes turns waits in a circle.
fn turns_of(rack: &Rack, places: &[Place]) -> Vec<Arc<Desk>> {
    let mut cards: Vec<_> = places.iter().map(|place| place.card.mac).collect();
    cards.sort();
    cards.dedup();
    cards.into_iter().map(|card| rack.desks.of(card)).collect()
}

fn write_programs(rack: &Rack, places: &[Place], programs: &[&Vec<Command>]) -> Result<(), Error> {
    let write = |(place, program): (&Place, &&Vec<Command>)| {
        let bytes: Vec<u8> = program.iter().flat_map(Command::encode).collect();
        rack.write(place.card.mac, PROGRAM, bytes.into())
    };
    let writes: Vec<_> = places.iter().zip(programs).map(write).collect();
    writes.into_iter().try_for_each(Pending::wait)
}

/// Has each card run the program of so many commands that was written to it, and waits for all of them. They begin with
/// one Go; with number 0, each at once.
fn launch(
    rack: &Rack,
    places: &[Place],
    lengths: &[usize],
    limit: Duration,
    (group, sequence): (u64, u32),
    go: u32,
) -> Result<Ran, CommError> {
    let limit = u64::try_from(limit.as_micros()).unwrap_or(u64::MAX);
    let begin = |(place, length): (&Place, &usize)| {
        let args = vec![PROGRAM, *length as u64, limit, group, sequence.into()];
        let launch = Launch { kernel: KERNEL, args, output: (REPORT, REPORT_BYTES), hold: go, ..Launch::default() };
        rack.launch(place.card.mac, launch)
    };
    let running: Vec<Running> = places.iter().zip(lengths).map(begin).collect();
    if go > 0 {
        rack.go(go)?;
    }
    // All of them end: by their own time at the latest.
    let ended: Vec<_> = running.into_iter().map(Pending::wait).collect();
    let mut ran = Ran { time: Duration::ZERO, reports: Vec::new() };
    for (place, result) in places.iter().zip(ended) {
        let done = result.map_err(|source| CommError::Card { card: place.card, source })?;
        ran.time = ran.time.max(Duration::from_nanos(done.finished_ns.saturating_sub(done.started_ns)));
        ran.reports.push(Report::decode(&done.output).ok_or(CommError::Report { card: place.card })?);
    }
    Ok(ran)
}
