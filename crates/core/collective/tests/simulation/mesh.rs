//! Cards in a full mesh, their cables with faults, and virtual time.

use std::collections::BTreeMap;

use bytes::Bytes;
use rackloom_collective::{Command, Group, Memory, MemoryFailed, Report, Sequencer, SequencerConfig, Start};
use rackloom_node::{Duration, Instant, Rng};
use rackloom_wire::MacAddr;
use rackloom_wire::link::Kind;

use crate::cable::Cable;

/// Memory below this address is no program's.
pub(crate) const PRIVATE: u64 = 1 << 20;

pub(crate) struct Ddr(pub(crate) Vec<u8>);

impl Memory for Ddr {
    fn allows(&self, addr: u64, length: u64) -> bool {
        addr >= PRIVATE && addr.checked_add(length).is_some_and(|end| end <= PRIVATE + self.0.len() as u64)
    }
    fn read(&mut self, addr: u64, into: &mut [u8]) -> Result<(), MemoryFailed> {
        let at = (addr - PRIVATE) as usize;
        into.copy_from_slice(&self.0[at..at + into.len()]);
        Ok(())
    }
    fn write(&mut self, addr: u64, bytes: &[u8]) -> Result<(), MemoryFailed> {
        let at = (addr - PRIVATE) as usize;
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }
}

#[derive(Clone, Copy, Default)]
pub(crate) struct Faults {
    /// Frames of a thousand that are lost.
    pub(crate) loss: u64,
    pub(crate) twice: u64,
    pub(crate) late: u64,
    /// Bits between two that a cable flips, on average; 0: none is.
    pub(crate) flip_every: u64,
    /// Cards take damaged frames as well: to show that tests would see it.
    pub(crate) is_blind: bool,
}

/// Cards in a full mesh: port `q + 1` of card `p`, or `q` if `q > p`, leads to card `q`.
pub(crate) struct Mesh {
    pub(crate) cards: Vec<(Sequencer, Ddr)>,
    pub(crate) wires: BTreeMap<(Instant, u64), (usize, u8, Bytes)>,
    pub(crate) cut: Vec<(usize, usize)>,
    pub(crate) number: u64,
    pub(crate) now: Instant,
    pub(crate) faults: Faults,
    pub(crate) rng: Rng,
    cable: Cable,
    /// Frames that came damaged, which the check at their end has shown.
    pub(crate) damaged: u64,
    /// Frames with bytes of messages, by sender and receiver.
    pub(crate) data: BTreeMap<(usize, usize), u64>,
    pub(crate) ended: BTreeMap<(usize, u64), (Instant, Report)>,
}

pub(crate) fn port(from: usize, to: usize) -> u8 {
    if to > from { to as u8 } else { to as u8 + 1 }
}

pub(crate) fn far(from: usize, port: u8) -> usize {
    if usize::from(port) > from { port.into() } else { usize::from(port) - 1 }
}

/// Which of their links a group's cards use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    All,
    /// Those to the next and the last in the order of ranks: what is for others is passed on.
    Ring,
}

pub(crate) fn group(members: &[usize], links: Use) -> Group {
    let n = members.len();
    let uses = |a: usize, b: usize| a != b && (links == Use::All || (a + 1) % n == b || (b + 1) % n == a);
    let row = |a: usize| (0..n).map(|b| uses(a, b).then(|| port(members[a], members[b]))).collect();
    Group::new((0..n).map(row).collect())
}

pub(crate) fn config(n: usize, card: usize, epoch: u32) -> SequencerConfig {
    let mac = |port| MacAddr([2, port, 0, 0, 0, card as u8]);
    let links = (1..n as u8).map(|port| (port, mac(port))).collect();
    SequencerConfig::new(mac(0), links, epoch, 1408, false)
}

impl Mesh {
    pub(crate) fn new(n: usize, memory: usize, seed: u64, faults: Faults) -> Self {
        let mut rng = Rng::new(seed);
        let cards = (0..n).map(|card| {
            let epoch = 1 + rng.below(1 << 20) as u32;
            (Sequencer::new(Instant::ZERO, config(n, card, epoch)), Ddr(vec![0xee; memory]))
        });
        let cards = cards.collect();
        let (now, wires, cut, ended) = (Instant::ZERO, BTreeMap::new(), Vec::new(), BTreeMap::new());
        let cable = Cable::new(faults.flip_every, seed);
        Self { cards, wires, cut, number: 0, now, faults, rng, cable, damaged: 0, data: BTreeMap::new(), ended }
    }

    /// Starts a program whose commands lie at `at` of the card's memory.
    pub(crate) fn start(
        &mut self,
        card: usize,
        id: u64,
        at: u64,
        commands: &[Command],
        (group, sequence): (u64, u32),
        limit: u64,
    ) {
        let (sequencer, ddr) = &mut self.cards[card];
        let bytes: Vec<u8> = commands.iter().flat_map(Command::encode).collect();
        ddr.write(at, &bytes).unwrap();
        let limit = Duration::from_millis(limit);
        let start = Start { program: at, commands: commands.len() as u64, limit, group, sequence };
        sequencer.start(self.now, id, start, ddr).unwrap();
    }

    pub(crate) fn poll(&mut self) {
        for card in 0..self.cards.len() {
            let (sequencer, ddr) = &mut self.cards[card];
            while let Some((at, frame)) = sequencer.poll(self.now, ddr) {
                let to = far(card, at);
                if frame[15] == Kind::LinkData as u32 as u8 {
                    *self.data.entry((card, to)).or_default() += 1;
                }
                let is_cut = self.cut.contains(&(card.min(to), card.max(to)));
                if self.rng.below(1000) < self.faults.loss || is_cut {
                    continue;
                }
                let copies = 1 + u64::from(self.rng.below(1000) < self.faults.twice);
                for _ in 0..copies {
                    let (frame, is_whole) = self.cable.pass(&frame);
                    if !is_whole {
                        self.damaged += 1;
                        if !self.faults.is_blind {
                            continue;
                        }
                    }
                    let is_late = self.rng.below(1000) < self.faults.late;
                    let late = if is_late { self.rng.below(200_000) } else { 0 };
                    let at = self.now + Duration::from_nanos(1000 + late);
                    self.number += 1;
                    self.wires.insert((at, self.number), (to, port(to, card), frame));
                }
            }
            sequencer.check_invariants();
            while let Some((id, report)) = sequencer.next_ended() {
                assert!(self.ended.insert((card, id), (self.now, report)).is_none(), "it ends once");
            }
        }
    }

    /// Until nothing is due, or `limit`.
    pub(crate) fn run(&mut self, limit: Instant, until: impl Fn(&Self) -> bool) {
        self.poll();
        while !until(self) {
            let timers = self.cards.iter().filter_map(|(s, _)| s.deadline()).min();
            let next = self.wires.keys().next().map(|(at, _)| *at).into_iter().chain(timers).min();
            let Some(next) = next.map(|at| at.max(self.now)).filter(|at| *at <= limit) else { return };
            self.now = next;
            while let Some(entry) = self.wires.first_entry().filter(|e| e.key().0 <= next) {
                let (card, port, frame) = entry.remove();
                let (sequencer, ddr) = &mut self.cards[card];
                sequencer.handle_frame(next, port, &frame, ddr);
            }
            for (sequencer, _) in &mut self.cards {
                if sequencer.deadline().is_some_and(|at| at <= next) {
                    sequencer.handle_timeout(next);
                }
            }
            self.poll();
        }
    }
}
