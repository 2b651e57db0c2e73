//! One rack computes PTRANS.

use bytes::Bytes;
use rackloom_host::{Event, OpId, Outcome};
use rackloom_node::Duration;
use rackloom_rack::Maker;
use rackloom_wire::{MacAddr, ROLE_PRIVATE};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};

use super::Options;
use super::strip::{self, Strip};
use crate::error::{Result, StudyError};
use crate::rack::{Rack, RackOptions};

/// Where the time went, in seconds of virtual time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct Phases {
    /// Rounds.
    pub rounds: usize,
    /// Claiming, and loading the image into all cards.
    pub load_s: f64,
    /// Writing the operands.
    pub write_s: f64,
    /// Handing out held launches.
    pub launch_s: f64,
    /// From Go to the last completion.
    pub compute_s: f64,
    /// Reading the results.
    pub read_s: f64,
    /// Bytes on the host's wire towards the cards while operands were written.
    pub write_wire_bytes: u64,
    /// Bytes on the host's wire from the cards while results were read.
    pub read_wire_bytes: u64,
    /// Longest time that a kernel took on a card, summed over the rounds.
    pub kernel_s: f64,
    /// Elements of C compared, all of them right.
    pub elements: u64,
}

pub(super) fn measure(cards: usize, order: usize, options: &Options, image: &Bytes) -> Result<Phases> {
    let rack_options =
        RackOptions { jumbo: options.jumbo, memory: options.memory, ..RackOptions::new(cards, options.seed) };
    let mut rack = Rack::new(rack_options, Maker::shared())?;
    rack.discover()?;
    let start = rack.now();
    rack.claim()?;
    let all = rack.cards().to_vec();
    rack.load(&all, image)?;
    let rounds = rounds(cards, order, options);
    let mut run = Run { rack, seed: options.seed, phases: Phases { rounds, ..Phases::default() } };
    run.phases.load_s = (run.rack.now() - start).as_secs_f64();
    let strips: Vec<Strip> = strip::cut(order, rounds * cards).collect();
    for (round, strips) in strips.chunks(cards).enumerate() {
        let work: Vec<(MacAddr, &Strip)> = all.iter().copied().zip(strips).collect();
        run.round(u32::try_from(round).expect("few rounds") + 1, &work)?;
    }
    assert_eq!(run.phases.elements, order as u64 * order as u64);
    Ok(run.phases)
}

/// The fewest rounds whose strips fit each card and, all together, the machine.
fn rounds(cards: usize, order: usize, options: &Options) -> usize {
    let room = options.memory - ROLE_PRIVATE;
    let fits = |rounds: &usize| {
        let rows = order.div_ceil(rounds * cards);
        let bytes = strip::bytes(rows, order);
        bytes <= room && bytes * cards as u64 <= options.resident
    };
    (1..=order).find(fits).expect("a row on each card fits, as the caller has checked")
}

struct Run {
    rack: Rack,
    seed: u64,
    phases: Phases,
}

/// A piece of a strip's data: which card, and from which byte.
type Piece = (usize, u64);

impl Run {
    fn round(&mut self, number: u32, work: &[(MacAddr, &Strip)]) -> Result<()> {
        let start = self.rack.now();
        let before = self.rack.host_wire_bytes().0;
        self.write(work)?;
        let written = self.rack.now();
        self.phases.write_wire_bytes += self.rack.host_wire_bytes().0 - before;

        let launches: Vec<OpId> = self.rack.command(|host, now| {
            work.iter().map(|(card, strip)| host.launch(now, *card, strip.launch(number))).collect()
        });
        // The host does not tell that a held launch is accepted. Far longer than a round trip: all are.
        self.pass(HELD)?;
        let go = self.rack.now();
        self.rack.command(|host, now| host.go(now, number));
        let (done, end) = self.rack.finish("kernels", HOUR, launches)?;
        let kernel_ns = |outcome: &Outcome| match outcome {
            Outcome::Launched(report) => report.finished_ns - report.started_ns,
            _ => unreachable!("a launch gives a launch's outcome"),
        };
        self.phases.kernel_s += done.values().map(kernel_ns).max().unwrap_or(0) as f64 / 1e9;

        let before = self.rack.host_wire_bytes().1;
        self.read(work)?;
        self.phases.read_wire_bytes += self.rack.host_wire_bytes().1 - before;
        self.phases.write_s += (written - start).as_secs_f64();
        self.phases.launch_s += (go - written).as_secs_f64();
        self.phases.compute_s += (end - go).as_secs_f64();
        self.phases.read_s += (self.rack.now() - end).as_secs_f64();
        Ok(())
    }

    /// Writes the operands of all strips, a few pieces at a time for each card: the host's memory stays small.
    fn write(&mut self, work: &[(MacAddr, &Strip)]) -> Result<()> {
        let seed = self.seed;
        self.each_piece(
            work,
            Strip::input_bytes,
            |rack, card, strip, at| {
                let (addr, data) = strip.input(seed, at, PIECE);
                let next = at + data.len() as u64;
                (rack.command(|host, now| host.write(now, card, addr, data)), next)
            },
            |_, _, _| Ok(0),
        )?;
        Ok(())
    }

    /// Reads the results of all strips and compares every element.
    fn read(&mut self, work: &[(MacAddr, &Strip)]) -> Result<()> {
        let seed = self.seed;
        self.phases.elements += self.each_piece(
            work,
            Strip::array_bytes,
            |rack, card, strip, at| {
                let len = PIECE.min(strip.array_bytes() - at);
                let addr = strip.result_addr() + at;
                (rack.command(|host, now| host.read(now, card, addr, len)), at + len)
            },
            |strip, at, outcome| {
                let Outcome::Data(data) = outcome else { unreachable!("a read gives data") };
                let wrong =
                    |(i, j)| StudyError::Wrong { what: format!("C[{i}][{j}] is not B[{i}][{j}] + A[{j}][{i}]") };
                strip.check(seed, at, &data).map_err(wrong)?;
                Ok(data.len() as u64 / 4)
            },
        )?;
        Ok(())
    }

    /// Moves `bytes` of each strip piece by piece: `begin` starts a piece and says where the next begins, `end` takes
    /// its outcome and counts something. The sum of the counts.
    fn each_piece(
        &mut self,
        work: &[(MacAddr, &Strip)],
        bytes: fn(&Strip) -> u64,
        mut begin: impl FnMut(&mut Rack, MacAddr, &Strip, u64) -> (OpId, u64),
        mut end: impl FnMut(&Strip, u64, Outcome) -> Result<u64>,
    ) -> Result<u64> {
        let mut open: BTreeMap<OpId, Piece> = BTreeMap::new();
        let mut next: Vec<u64> = vec![0; work.len()];
        let mut wanted: VecDeque<usize> = (0..PIECES_OPEN).flat_map(|_| 0..work.len()).collect();
        let mut sum = 0;
        loop {
            while let Some(index) = wanted.pop_front() {
                let (card, strip) = work[index];
                if next[index] < bytes(strip) {
                    let (op, after) = begin(&mut self.rack, card, strip, next[index]);
                    open.insert(op, (index, next[index]));
                    next[index] = after;
                }
            }
            if open.is_empty() {
                return Ok(sum);
            }
            let mut arrived = None;
            self.rack.run_until("data", HOUR, |_, _, event| {
                if let Event::Completed { op, result } = event
                    && let Some(piece) = open.remove(&op)
                {
                    arrived = Some((piece, result?));
                }
                Ok(arrived.is_some())
            })?;
            let ((index, at), outcome) = arrived.expect("just seen");
            sum += end(work[index].1, at, outcome)?;
            wanted.push_back(index);
        }
    }

    /// Lets time pass in which no operation may fail.
    fn pass(&mut self, time: Duration) -> Result<()> {
        let until = self.rack.now() + time;
        while let Some((_, event)) = self.rack.next(until) {
            if let Event::Completed { result: Err(why), .. } = event {
                return Err(why.into());
            }
        }
        Ok(())
    }
}

/// Bytes of a piece: a thousandth of a strip of the full study.
const PIECE: u64 = 1 << 20;
/// Pieces under way for each card: one travels while the next is made.
const PIECES_OPEN: usize = 2;
/// How long held launches are given to arrive.
const HELD: Duration = Duration::from_micros(500);
const HOUR: Duration = Duration::from_secs(3600);
