//! Groups of cards that work together over their links.

mod error;

use std::time::Duration;

use bytes::Bytes;
use rackloom_collective::{
    Buffers, COMMAND_BYTES, COMMANDS_MAX, Command, Group, Operation, REPORT_BYTES, Report, SURVEY_BYTES, compile,
};
use rackloom_host::{CardName, Launch};
use rackloom_wire::{MacAddr, ROLE_PRIVATE, link::KERNEL};

use crate::{Error, Pending, Rack};
pub use error::CommError;

/// What is launched on a card, and not over.
type Running = Pending<rackloom_host::LaunchReport>;

/// A group of cards, rank by rank, that are claimed and joined by links. It uses memory from the lowest address that is
/// a host's, on all of them, and does one operation at a time.
#[derive(Debug)]
pub struct Communicator<'a> {
    rack: &'a Rack,
    cards: Vec<CardName>,
    group: Group,
    /// The group's number, which no other group guesses.
    id: u64,
    /// Operations so far.
    sequence: u32,
    limit: Duration,
}

/// What an operation gave.
#[derive(Debug, Clone)]
pub struct Operated {
    /// What each rank got; empty where it gets nothing.
    pub outputs: Vec<Bytes>,
    /// The longest time that a card's program ran, by the card's own clock.
    pub time: Duration,
}

/// Where reports, programs and data lie.
const REPORT: u64 = ROLE_PRIVATE;
const PROGRAM: u64 = REPORT + 4096;
const DATA: u64 = PROGRAM + COMMANDS_MAX * COMMAND_BYTES;
/// How long a question about neighbours may take: longer than cards wait for an answer.
const SURVEY: Duration = Duration::from_secs(10);

impl<'a> Communicator<'a> {
    /// A group of these cards, in the order of ranks, all claimed by this connection. Each says who is at the other
    /// ends of its links. An operation fails that is not done within `limit`.
    ///
    /// # Errors
    /// [`CommError::Card`]: also for a card without links.
    pub fn new(rack: &'a Rack, cards: &[MacAddr], limit: Duration) -> Result<Self, CommError> {
        let known = rack.cards()?;
        let name = |mac: &MacAddr| CardName { mac: *mac, unit: known.iter().find(|c| c.mac == *mac).map(|c| c.unit) };
        let cards: Vec<_> = cards.iter().map(name).collect();
        let size = cards.len();
        let mut comm = Self { rack, group: Group::new(vec![vec![None; size]; size]), cards, id: 0, sequence: 0, limit };
        let programs = vec![vec![Command::Survey { to: DATA }]; size];
        comm.launch(&programs, SURVEY)?;
        let mut links = Vec::new();
        for card in &comm.cards {
            let table = rack.read(card.mac, DATA, SURVEY_BYTES).wait()?;
            let leads_to = |to: &CardName| {
                let row = |row: &[u8]| row[7] == 1 && row[..6] == to.mac.0;
                let port = table.chunks_exact(16).position(row)?;
                u8::try_from(port).ok()
            };
            links.push(comm.cards.iter().map(leads_to).collect());
        }
        comm.group = Group::new(links);
        let [a, b] = [crate::random_mac(), crate::random_mac()]
            .map(|m| u64::from_be_bytes([0, 0, m.0[0], m.0[1], m.0[2], m.0[3], m.0[4], m.0[5]]));
        comm.id = a << 24 ^ b;
        Ok(comm)
    }

    /// The cards, rank by rank.
    pub fn cards(&self) -> &[CardName] {
        &self.cards
    }

    /// Does an operation. Each rank gives its own of `inputs`.
    ///
    /// # Errors
    /// [`CommError`] names the card, and whom it waited for.
    ///
    /// # Panics
    /// If there is not one input for each rank, or one is longer than what a rank gives.
    pub fn run(&mut self, operation: &Operation, inputs: &[Bytes]) -> Result<Operated, CommError> {
        let size = self.cards.len();
        let given = operation.given(size);
        assert!(inputs.len() == size && inputs.iter().all(|input| input.len() as u64 <= given));
        let room = |bytes: u64| bytes.next_multiple_of(64);
        let to = DATA + room(given);
        let at = Buffers { from: DATA, to, scratch: to + room(operation.got(size)) };
        let programs: Vec<_> = (0..size)
            .map(|rank| compile(operation, &self.group, rank, &at))
            .collect::<Result<_, _>>()
            .map_err(|source| CommError::plan(&self.cards, source))?;
        let writes: Vec<_> = self.cards.iter().zip(inputs).filter(|(_, input)| !input.is_empty()).collect();
        let writes: Vec<_> =
            writes.into_iter().map(|(c, input)| self.rack.write(c.mac, at.from, input.clone())).collect();
        writes.into_iter().try_for_each(Pending::wait)?;
        let time = self.launch(&programs, self.limit)?;
        let read = |rank: usize| match operation.gets(rank, size) {
            0 => Ok(Bytes::new()),
            bytes => self.rack.read(self.cards[rank].mac, at.to, bytes).wait(),
        };
        Ok(Operated { outputs: (0..size).map(read).collect::<Result<_, Error>>()?, time })
    }

    /// Has each card run its program, all begun by one Go, and waits for all of them.
    fn launch(&mut self, programs: &[Vec<Command>], limit: Duration) -> Result<Duration, CommError> {
        self.sequence = self.sequence.wrapping_add(1);
        let go = self.sequence.max(1);
        let limit = u64::try_from(limit.as_micros()).unwrap_or(u64::MAX);
        let mut writes = Vec::new();
        for (card, program) in self.cards.iter().zip(programs) {
            let bytes: Vec<u8> = program.iter().flat_map(Command::encode).collect();
            writes.push(self.rack.write(card.mac, PROGRAM, bytes.into()));
        }
        writes.into_iter().try_for_each(Pending::wait)?;
        let begin = |(card, program): (&CardName, &Vec<Command>)| {
            let args = vec![PROGRAM, program.len() as u64, limit, self.id, self.sequence.into()];
            let launch = Launch { kernel: KERNEL, args, output: (REPORT, REPORT_BYTES), hold: go, ..Launch::default() };
            self.rack.launch(card.mac, launch)
        };
        let running: Vec<Running> = self.cards.iter().zip(programs).map(begin).collect();
        self.rack.go(go)?;
        // All of them end: by their own time at the latest.
        let ended: Vec<_> = running.into_iter().map(Pending::wait).collect();
        let mut time = Duration::ZERO;
        let mut failed: Vec<(usize, Report)> = Vec::new();
        for (rank, result) in ended.into_iter().enumerate() {
            let done = result.map_err(|source| CommError::Card { card: self.cards[rank], source })?;
            time = time.max(Duration::from_nanos(done.finished_ns.saturating_sub(done.started_ns)));
            let report = Report::decode(&done.output).ok_or(CommError::Report { card: self.cards[rank] })?;
            if report.cause.is_some() {
                failed.push((rank, report));
            }
        }
        match CommError::first(&self.cards, &self.group, &failed) {
            Some(error) => Err(error),
            None => Ok(time),
        }
    }
}
