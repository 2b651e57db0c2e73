//! The card's programs over its links: launches that the sequencer runs.

use rackloom_collective::{
    self as collective, LinkCounters, MemoryFailed, NotStarted, Report, Sequencer, SequencerConfig, Start,
};
use rackloom_node::{Duration, Instant};
use rackloom_role as role;
use rackloom_wire::link::{CONTEXTS, MESSAGE_JUMBO, MESSAGE_STANDARD};
use rackloom_wire::{self as wire};

use crate::Config;
use crate::launches::Launch;
use crate::memory::is_hosts;
use crate::ports::PortService;
use crate::shell::Shell;

/// The sequencer, and the launches that it runs.
#[derive(Debug)]
pub(crate) struct Collectives {
    pub(crate) sequencer: Sequencer,
    /// Launches that wait for a Go, or run: with when they began.
    pub(crate) launches: Vec<(Launch, Option<Instant>)>,
    /// Whose turn it is where other ports have frames as well.
    pub(crate) is_next: bool,
}

/// Argument words of a program's launch: where its commands lie, how many there are, microseconds that it may take,
/// group, and sequence.
pub(crate) const ARGS: usize = 5;
/// Longest time of a program: nobody holds a context for longer.
const LIMIT_MAX: Duration = Duration::from_secs(600);

impl Collectives {
    /// The sequencer of a card in its first life; `None` if the card has no links.
    pub(crate) fn new(config: &Config) -> Option<Self> {
        let links: Vec<_> = (1..).zip(&config.ports).filter(|(_, p)| p.service == PortService::Link).collect();
        let links: Vec<_> = links.into_iter().map(|(port, p)| (port, p.mac)).collect();
        let longest = if config.bulk > wire::BULK_STANDARD { MESSAGE_JUMBO } else { MESSAGE_STANDARD };
        (!links.is_empty()).then(|| {
            // The boot number is random, so a life before this one is not taken for it.
            let epoch = (config.boot & 0x3fff_ffff).max(1);
            let config = SequencerConfig::new(config.mac, links, epoch, longest, config.pace.is_live());
            Self { sequencer: Sequencer::new(Instant::ZERO, config), launches: Vec::new(), is_next: false }
        })
    }

    /// Launches that are accepted and have not ended.
    pub(crate) fn queued(&self) -> usize {
        self.launches.len()
    }

    /// Whether there is a context for another launch.
    pub(crate) fn has_room(&self) -> bool {
        self.launches.len() < CONTEXTS.into()
    }

    /// Takes a launch, whose program relies from now on on the lives that its neighbours have.
    pub(crate) fn accept(&mut self, launch: Launch) {
        self.sequencer.expect(launch.seq.into());
        self.launches.push((launch, None));
    }

    /// Starts the launches that wait for nothing. Those that cannot be started are given back.
    pub(crate) fn start(&mut self, now: Instant, memory: &Ddr<'_>) -> Vec<Launch> {
        let mut refused = Vec::new();
        for (launch, began) in self.launches.iter_mut().filter(|(launch, began)| launch.go == 0 && began.is_none()) {
            let [program, commands, limit, group, sequence] = launch.args[..] else { continue };
            let limit = Duration::from_micros(limit).min(LIMIT_MAX);
            let start = Start { program, commands, limit, group, sequence: sequence as u32 };
            match self.sequencer.start(now, launch.seq.into(), start, memory) {
                Ok(()) => *began = Some(now),
                Err(NotStarted::Busy | NotStarted::Invalid) => refused.push(launch.clone()),
            }
        }
        self.launches.retain(|(launch, _)| refused.iter().all(|r| r.seq != launch.seq));
        refused
    }

    /// The next launch that has ended, when it began, and how it went.
    pub(crate) fn next_ended(&mut self) -> Option<(Launch, Instant, Report)> {
        let (id, report) = self.sequencer.next_ended()?;
        let at = self.launches.iter().position(|(launch, _)| u64::from(launch.seq) == id)?;
        let (launch, began) = self.launches.remove(at);
        Some((launch, began.unwrap_or_default(), report))
    }

    /// A launch is called off.
    pub(crate) fn cancel(&mut self, seq: u32) -> Option<(Launch, Option<Instant>)> {
        let at = self.launches.iter().position(|(launch, _)| launch.seq == seq)?;
        self.sequencer.cancel(seq.into());
        Some(self.launches.remove(at))
    }

    /// Its claim is over, or the card starts anew.
    pub(crate) fn end_of(collectives: &mut Option<Self>, now: Instant) {
        if let Some(collectives) = collectives {
            collectives.sequencer.reset(now);
            collectives.launches.clear();
        }
    }

    pub(crate) const fn handle_starvation(&mut self) {
        self.sequencer.handle_starvation();
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        self.sequencer.handle_timeout(now);
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.sequencer.deadline()
    }

    pub(crate) fn counters(&self) -> LinkCounters {
        self.sequencer.counters()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.sequencer.bytes()
            + self.launches.iter().map(|(l, _)| size_of::<Launch>() + l.args.len() * 8).sum::<usize>()
    }

    pub(crate) fn check_invariants(&self) {
        self.sequencer.check_invariants();
        assert!(self.launches.len() <= CONTEXTS.into());
    }
}

/// DDR as programs see it.
pub(crate) struct Ddr<'a> {
    pub(crate) shell: &'a mut Shell,
    pub(crate) ddr: &'a dyn role::Memory,
}

impl collective::Memory for Ddr<'_> {
    fn allows(&self, addr: u64, length: u64) -> bool {
        is_hosts(self.ddr.len(), addr, length)
    }

    fn read(&mut self, addr: u64, into: &mut [u8]) -> Result<(), MemoryFailed> {
        let read = self.ddr.read(addr, into);
        self.shell.access(read).ok_or(MemoryFailed)
    }

    fn write(&mut self, addr: u64, bytes: &[u8]) -> Result<(), MemoryFailed> {
        let written = self.ddr.write(addr, bytes);
        self.shell.access(written).ok_or(MemoryFailed)
    }
}
