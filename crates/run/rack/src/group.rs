//! A group of cards in virtual time, and a host that has claimed them.

use std::collections::BTreeMap;

use bytes::Bytes;
use rackloom_card::{Config, Pace};
use rackloom_collective::{Buffers, Command, Group, Operation, Plan, PlanError, REPORT_BYTES, Report};
use rackloom_host::{ClaimOptions, Config as HostConfig, Event, Host, Launch, OpError, OpId, Outcome};
use rackloom_node::{Duration, Either, Instant};
use rackloom_sim::{Cable, Faults};
use rackloom_wire::link::KERNEL;
use rackloom_wire::{MacAddr, ROLE_PRIVATE};

use crate::{FarEnd, Kind, Links, Maker, RackSpec, SimRack, Slot, Topology};

const HOST: MacAddr = MacAddr([2, 0, 0, 0, 0, 99]);
const REPORT: u64 = ROLE_PRIVATE;
const PROGRAM: u64 = REPORT + 4096;
const DATA: u64 = PROGRAM + (128 << 10);
/// What a program may take, by its card's clock.
const LIMIT: Duration = Duration::from_secs(60);

/// What a group of cards is like.
#[derive(Debug, Clone)]
pub struct GroupSpec {
    /// How many cards.
    pub cards: u16,
    /// Their kinds, in turns.
    pub kinds: [Kind; 2],
    /// What joins them.
    pub links: Links,
    /// Bytes of each card's memory.
    pub memory: u64,
    /// What every cable is like.
    pub cable: Cable,
    /// Faults of every cable.
    pub faults: Faults,
    /// All faults are drawn from it.
    pub seed: u64,
}

/// Why a group does not do an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GroupError {
    /// There is no plan for it.
    #[error("cannot plan the operation")]
    Plan(#[from] PlanError),
    /// Buffers of this size do not fit.
    #[error("the operation needs {needs} bytes of each card's memory, and one has {has}")]
    Memory {
        /// Bytes up to the end of the buffers.
        needs: u64,
        /// Bytes of a card.
        has: u64,
    },
}

/// A group of cards in virtual time. Their links and memories work as those of live ones; time is that of the
/// cables, and of nothing else.
#[derive(Debug)]
pub struct SimGroup {
    rack: SimRack<Host>,
    host: Slot,
    cards: Vec<MacAddr>,
    group: Group,
    memory: u64,
    ended: BTreeMap<OpId, Result<Outcome, OpError>>,
    gos: u32,
}

impl SimGroup {
    /// Cards with these links, claimed by a host.
    ///
    /// # Panics
    /// If there are no such links of so many cards.
    pub fn new(spec: &GroupSpec) -> Self {
        let rate = spec.cable.rate_bps;
        let host = Host::new(HostConfig::simulated(HOST, spec.seed, rate));
        let topology = Topology::default().with_links(&spec.links, spec.cards).expect("such links");
        let size = usize::from(spec.cards);
        let mut ports = vec![vec![None; size]; size];
        for cable in topology.cables() {
            let FarEnd::Card(far) = &cable.1 else { unreachable!("a link joins two cards") };
            let (a, b) = (usize::from(cable.0.unit), usize::from(far.unit));
            (ports[a][b], ports[b][a]) = (Some(cable.0.port), Some(far.port));
        }
        let card = |unit: u16| {
            let mut config = Config::new(MacAddr([2, 0, 0, 0, 1, unit as u8]), Pace::Virtual);
            (config.unit, config.memory, config.boot) = (unit, spec.memory, 100 + u32::from(unit));
            // Both ends of a link send frames that the other takes.
            config.bulk =
                spec.kinds.iter().map(|kind| kind.bulk_max()).min().map_or(config.bulk, |max| max.min(config.bulk));
            (spec.kinds[usize::from(unit % 2)], config)
        };
        let mut of = RackSpec::new(spec.seed);
        (of.hosts, of.cards, of.topology) = (vec![(HOST, host)], (0..spec.cards).map(card).collect(), topology);
        (of.faults, of.cable) = (spec.faults, spec.cable);
        let rack = SimRack::build(of, Maker::shared()).expect("cards that can be made");
        let (host, macs) = (rack.hosts()[0], rack.cards().iter().map(|card| card.mac).collect());
        let (group, memory, ended) = (Group::new(ports), spec.memory, BTreeMap::new());
        let mut made = Self { rack, host, cards: macs, group, memory, ended, gos: 0 };
        while made.rack.host(made.host).cards().count() < size {
            // Announcements get lost.
            made.command(|host, now| host.solicit(now, Duration::from_micros(100)));
            made.run(Duration::from_millis(5));
        }
        let cards = made.cards.clone();
        let claims: Vec<_> = cards
            .iter()
            .map(|card| made.command(|host, now| host.claim(now, *card, ClaimOptions::default())))
            .collect();
        claims.into_iter().for_each(|op| _ = made.wait(op));
        made
    }

    /// The cards, rank by rank.
    pub fn cards(&self) -> &[MacAddr] {
        &self.cards
    }

    /// The group, as operations are planned for it.
    pub const fn group(&self) -> &Group {
        &self.group
    }

    /// Has the host do something.
    pub fn command<R>(&mut self, command: impl FnOnce(&mut Host, Instant) -> R) -> R {
        self.rack.with_host(self.host, command)
    }

    /// Lets time pass.
    pub fn run(&mut self, time: Duration) {
        let end = self.rack.net.now() + time;
        while let Some((.., event)) = self.rack.run_until(end) {
            self.note(event);
        }
    }

    fn note<E>(&mut self, event: Either<Event, E>) {
        if let Either::A(Event::Completed { op, result }) = event {
            self.ended.insert(op, result);
        }
    }

    /// Runs until an operation of the host has ended.
    ///
    /// # Panics
    /// If it fails, or takes more than two minutes.
    pub fn wait(&mut self, op: OpId) -> Outcome {
        let limit = self.rack.net.now() + LIMIT + LIMIT;
        loop {
            if let Some(result) = self.ended.remove(&op) {
                return result.expect("it does what was asked");
            }
            let (.., event) = self.rack.run_until(limit).expect("it ends in time");
            self.note(event);
        }
    }

    fn write(&mut self, card: MacAddr, addr: u64, data: Bytes) {
        let op = self.command(|host, now| host.write(now, card, addr, data));
        self.wait(op);
    }

    fn read(&mut self, card: MacAddr, addr: u64, length: u64) -> Bytes {
        let op = self.command(|host, now| host.read(now, card, addr, length));
        match self.wait(op) {
            Outcome::Data(data) => data,
            other => unreachable!("{other:?}"),
        }
    }

    /// Does an operation. `beside` begins something else just before all cards are started. Yields what ranks got, and
    /// the longest time of a program.
    ///
    /// # Errors
    /// See [`GroupError`].
    ///
    /// # Panics
    /// If a program fails.
    pub fn operate(
        &mut self,
        operation: &Operation,
        inputs: &[Vec<u8>],
        beside: impl FnOnce(&mut Self),
    ) -> Result<(Vec<Bytes>, Duration), GroupError> {
        let group = self.group.clone();
        let plan = Plan::new(operation, &group)?;
        let at = self.buffers(&plan)?;
        let cards = self.cards.clone();
        for (card, input) in cards.iter().zip(inputs) {
            self.write(*card, DATA, input.clone().into());
        }
        let time = self.launch(&plan.programs(&at), beside);
        let got = cards.iter().enumerate().map(|(rank, card)| match plan.gets(rank) {
            0 => Bytes::new(),
            bytes => self.read(*card, at.to, bytes),
        });
        Ok((got.collect(), time))
    }

    /// Does an operation on whatever lies in the cards' memory; the longest time of a program.
    ///
    /// # Errors
    /// See [`GroupError`].
    ///
    /// # Panics
    /// If a program fails.
    pub fn time(&mut self, operation: &Operation) -> Result<Duration, GroupError> {
        let group = self.group.clone();
        let plan = Plan::new(operation, &group)?;
        let at = self.buffers(&plan)?;
        Ok(self.launch(&plan.programs(&at), |_| {}))
    }

    fn launch(&mut self, programs: &[Vec<Command>], beside: impl FnOnce(&mut Self)) -> Duration {
        let cards = self.cards.clone();
        for (card, program) in cards.iter().zip(programs) {
            let program: Vec<u8> = program.iter().flat_map(Command::encode).collect();
            assert!(PROGRAM + program.len() as u64 <= DATA);
            self.write(*card, PROGRAM, program.into());
        }
        self.gos += 1;
        let go = self.gos;
        let launch = |commands: usize| Launch {
            kernel: KERNEL,
            args: vec![PROGRAM, commands as u64, LIMIT.as_micros() as u64, 0xfeed, go.into()],
            output: (REPORT, REPORT_BYTES),
            hold: go,
            ..Launch::default()
        };
        let launches = cards.iter().zip(programs);
        let launches: Vec<_> =
            launches.map(|(card, p)| self.command(|host, now| host.launch(now, *card, launch(p.len())))).collect();
        self.run(Duration::from_millis(20));
        beside(self);
        self.command(|host, now| host.go(now, go));
        let mut time = Duration::ZERO;
        for op in launches {
            let Outcome::Launched(done) = self.wait(op) else { unreachable!("it was launched") };
            let report = Report::decode(&done.output).expect("a report");
            assert_eq!(report.cause, None, "its program fails");
            time = time.max(Duration::from_nanos(done.finished_ns - done.started_ns));
        }
        time
    }

    fn buffers(&self, plan: &Plan<'_>) -> Result<Buffers, GroupError> {
        let to = DATA + plan.given().next_multiple_of(64);
        let at = Buffers { from: DATA, to, scratch: to + plan.got().next_multiple_of(64) };
        let (needs, has) = (at.scratch + plan.scratch(), self.memory);
        if needs > has { Err(GroupError::Memory { needs, has }) } else { Ok(at) }
    }
}
