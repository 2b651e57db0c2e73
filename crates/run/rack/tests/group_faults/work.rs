//! An operation of some of the cards, and how it has ended on each.

use rackloom_collective::{Buffers, Cause, Command, Operation, Plan, PlanError, REPORT_BYTES, Report, SURVEY_BYTES};
use rackloom_host::{Launch, OpId, Outcome};
use rackloom_node::{Duration, Instant};
use rackloom_wire::ROLE_PRIVATE;
use rackloom_wire::link::KERNEL;

use crate::oracle::{inputs, oracle};
use crate::yard::Yard;

/// What each operation has of every card's memory.
const ROOM: u64 = 3 << 20;
const PROGRAM: u64 = 4096;
const DATA: u64 = PROGRAM + (128 << 10);
/// What a program may take: no fault but a cancelled program may last so long.
pub(crate) const LIMIT: Duration = Duration::from_millis(400);

/// Starts a program of its own on a card, of the operation of this number. Where it has data is its own affair.
pub(crate) fn start(yard: &mut Yard, card: usize, commands: &[Command], number: u64, limit: Duration) -> OpId {
    let base = ROLE_PRIVATE + number * ROOM;
    yard.write(card, base + PROGRAM, commands.iter().flat_map(Command::encode).collect());
    let args = vec![base + PROGRAM, commands.len() as u64, limit.as_micros() as u64, 0xbeef << 20 | number, 1];
    launch(yard, card, args, base, 0)
}

/// Has a card begin programs one behind the other, as fast as it can: by one Go.
pub(crate) fn start_all(yard: &mut Yard, card: usize, programs: &[Vec<Command>]) -> Vec<OpId> {
    let go = yard.gos + 1;
    let ops = hold_all(yard, card, programs, |_| go);
    yard.command(|host, now| host.go(now, go));
    ops
}

/// Launches programs that wait for the Go that is theirs, each an operation of its own.
pub(crate) fn hold_all(yard: &mut Yard, card: usize, programs: &[Vec<Command>], go: impl Fn(u32) -> u32) -> Vec<OpId> {
    const APART: u64 = 16 << 10;
    let bases: Vec<_> = (0..).map(|place| ROLE_PRIVATE + place * APART).take(programs.len()).collect();
    for (base, commands) in bases.iter().zip(programs) {
        let bytes: Vec<u8> = commands.iter().flat_map(Command::encode).collect();
        assert!(PROGRAM + bytes.len() as u64 <= APART);
        yard.write(card, base + PROGRAM, bytes);
    }
    let limit = LIMIT.as_micros() as u64;
    let mut ops = Vec::new();
    for ((base, commands), number) in bases.iter().zip(programs).zip(0..) {
        let go = go(number);
        yard.gos = yard.gos.max(go);
        let args =
            vec![base + PROGRAM, commands.len() as u64, limit, 0xdada << 20, u64::from(go) << 8 | u64::from(number)];
        ops.push(launch(yard, card, args, *base, go));
    }
    yard.pass(Duration::from_millis(1));
    ops
}

/// When such a program ended, and its report.
pub(crate) fn report(yard: &mut Yard, op: OpId) -> (Instant, Report) {
    match yard.end(op) {
        (at, Ok(Outcome::Launched(done))) => (at, Report::decode(&done.output).expect("a report")),
        other => unreachable!("{other:?}"),
    }
}

fn launch(yard: &mut Yard, card: usize, args: Vec<u64>, report: u64, hold: u32) -> OpId {
    let (mac, output) = (yard.mac(card), (report, REPORT_BYTES));
    let launch = Launch { kernel: KERNEL, args, output, hold, ..Launch::default() };
    yard.command(|host, now| host.launch(now, mac, launch))
}

/// Each card asks who is at the other ends of its links, as a communicator has them do when it is made, and finds all
/// neighbours. What has restarted before is no fault of what begins after.
pub(crate) fn survey(yard: &mut Yard) -> Result<(), String> {
    let (base, cards) = (ROLE_PRIVATE + 4 * ROOM, 0..yard.size());
    let table = base + DATA;
    for card in cards.clone() {
        yard.write(card, base + PROGRAM, Command::Survey { to: table }.encode().to_vec());
    }
    let args = vec![base + PROGRAM, 1, LIMIT.as_micros() as u64, 0, 0];
    let ops: Vec<_> = cards.clone().map(|card| launch(yard, card, args.clone(), base, 0)).collect();
    for (card, op) in cards.zip(ops) {
        let (_, result) = yard.end(op);
        let Ok(Outcome::Launched(done)) = result else { return Err(format!("card {card}: {result:?}")) };
        if done.value != 0 {
            return Err(format!("the survey of card {card} ends with {}", done.value));
        }
        let has = yard.read(card, table, SURVEY_BYTES).map_err(|why| why.to_string())?;
        if has != yard.neighbours(card) {
            return Err(format!("card {card} has neighbours {has:?}"));
        }
    }
    Ok(())
}

/// How an operation has ended on a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Well,
    /// Its report says so.
    Failed(Report),
    /// The host has no report: the card is gone, or it has cancelled the program itself.
    Lost,
}

pub(crate) struct Work {
    pub(crate) operation: Operation,
    pub(crate) members: Vec<usize>,
    inputs: Vec<Vec<u8>>,
    at: Buffers,
    go: u32,
    pub(crate) ops: Vec<OpId>,
}

impl Work {
    /// Writes data and programs to the cards, and launches them so that they wait for their Go. Operations of different
    /// `place` may be under way at once.
    pub(crate) fn prepare(
        yard: &mut Yard,
        operation: Operation,
        members: &[usize],
        place: u64,
        seed: u64,
    ) -> Result<Self, PlanError> {
        let group = yard.group(members);
        let plan = Plan::new(&operation, &group)?;
        let base = ROLE_PRIVATE + place * ROOM;
        let to = base + DATA + plan.given().next_multiple_of(64);
        let at = Buffers { from: base + DATA, to, scratch: to + plan.got().next_multiple_of(64) };
        assert!(at.scratch + plan.scratch() <= base + ROOM);
        yard.gos += 1;
        let inputs = inputs(&operation, members.len(), seed);
        let mut work = Self { operation, members: members.to_vec(), inputs, at, go: yard.gos, ops: Vec::new() };
        for ((card, input), program) in members.iter().zip(work.inputs.clone()).zip(plan.programs(&at)) {
            let bytes: Vec<u8> = program.iter().flat_map(Command::encode).collect();
            assert!(PROGRAM + bytes.len() as u64 <= DATA);
            yard.write(*card, at.from, input);
            yard.write(*card, base + PROGRAM, bytes);
            // Nothing of an operation before it passes for this one's result.
            yard.write(*card, at.to, vec![0xee; plan.got() as usize]);
            let (go, limit) = (u64::from(work.go), LIMIT.as_micros() as u64);
            let args = vec![base + PROGRAM, program.len() as u64, limit, 0xfeed << 20 | place, go];
            work.ops.push(launch(yard, *card, args, base, work.go));
        }
        Ok(work)
    }

    /// All its programs begin.
    pub(crate) fn go(&self, yard: &mut Yard) {
        yard.command(|host, now| host.go(now, self.go));
    }

    /// When and how it has ended on each card; every byte of those on which it went well is compared.
    pub(crate) fn end(&self, yard: &mut Yard) -> Result<Vec<(Instant, End)>, String> {
        let mut ends = Vec::new();
        for (rank, op) in self.ops.iter().enumerate() {
            let (at, result) = yard.end(*op);
            let mut end = match result {
                Err(_) => End::Lost,
                Ok(Outcome::Launched(done)) => {
                    let report = Report::decode(&done.output).ok_or("what it wrote is no report")?;
                    if done.value != report.cause.map_or(0, |cause| cause as u64) {
                        return Err(format!("rank {rank}: {report:?}, and the launch says {}", done.value));
                    }
                    if report.cause.is_none() { End::Well } else { End::Failed(report) }
                }
                Ok(other) => unreachable!("{other:?}"),
            };
            if end == End::Well {
                let want = oracle(&self.operation, &self.inputs, rank).unwrap_or_default();
                match yard.read(self.members[rank], self.at.to, want.len() as u64) {
                    Ok(has) if has != want => return Err(format!("rank {rank} has other bytes")),
                    Ok(_) => {}
                    // It has left since.
                    Err(_) => end = End::Lost,
                }
            }
            ends.push((at, end));
        }
        Ok(ends)
    }

    /// The cause of a rank's end, and the card that it names.
    pub(crate) fn named(&self, yard: &Yard, rank: usize, report: &Report) -> Option<(Cause, usize)> {
        Some((report.cause?, yard.neighbour(self.members[rank], report.link)?))
    }
}
