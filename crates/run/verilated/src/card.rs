//! The card: the Verilated gateware, its memory and its network port, run as far as the driver's time goes.

use std::collections::VecDeque;

use rackloom_card::{CardEvent, Config as CardConfig, ConfigError, Keys, NicCounters};
use rackloom_ddr::Ddr;
use rackloom_node::{Frame, Instant, Node, Output, Port, Rng};
use rackloom_sign::Release;
use rackloom_wire::{HOSTS, Head, Kind};

use crate::axi;
use crate::clock::Clock;
use crate::config::{Config, Stress, Width};
use crate::edges::Schedule;
use crate::ffi::{Edges, Inputs, MACS, Outputs, Sim};
use crate::key_store::{KEY_STORE_HOSTS, KeyWriter};
use crate::marks::Marks;
use crate::ports::{Fcs, RxPort, TxPort, WIRE_GAP};
use crate::sign_store::SignStore;

/// A card behind its wires. See [`Node`] for the law of its use; its power comes with the first call.
///
/// Live, each `handle_timeout` gives it a few thousand cycles, and `poll` runs the gateware until it has sent a frame,
/// has nothing to do, or has used them up; then it wants to be called again at once. In virtual time, cycle n is n
/// times 6.4 ns after the beginning, and each call runs the gateware up to its `now`.
#[derive(Debug)]
pub struct RtlCard {
    config: Config,
    sim: Sim,
    schedule: Schedule,
    ddr: Ddr,
    memory_port: axi::Port,
    /// By the gateware's own order: ports, then links.
    rx: [RxPort; MACS],
    tx: [TxPort; MACS],
    /// Which port of the card each of these is.
    of_port: [Option<Port>; MACS],
    power: Power,
    inputs: Inputs,
    outputs: Outputs,
    keys: KeyWriter,
    signs: SignStore,
    /// What has run and nobody has been told of.
    raised: VecDeque<Release>,
    /// Cycles since something was last under way.
    quiet: u64,
    cycles: u64,
    /// How often it had restarted itself by the last edge.
    restarts: u8,
    marks: Marks,
    /// What the role has reported and nobody has taken.
    events: VecDeque<u64>,
    /// Live: cycles that may be run until the next timeout.
    slice: u32,
    /// Frames on ports that the card does not have, and those that its other ports have dropped as foreign.
    frames_elsewhere: u64,
    /// What the configuration port may still take, in bytes times 10^9; and until when that was reckoned.
    config_credit: u128,
    config_ns: u64,
}

#[derive(Debug)]
enum Power {
    /// No call yet.
    Off,
    On(Clock),
    /// Gone, but for the frames still queued.
    Unplugged,
}

impl RtlCard {
    /// A card that is about to be switched on: no role, no claim, memory all zero.
    ///
    /// # Errors
    /// If the configuration is out of range or the memory cannot be reserved.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.validate()?;
        let ddr = Ddr::new(config.ddr_bytes())?;
        let mut rng = Rng::new(config.card.seed);
        let word = |port| if port == 0 { config.width.bytes() } else { Width::Bits64.bytes() };
        let gap = |port| if config.card.pace.is_live() { 0 } else { WIRE_GAP.div_ceil(word(port)) as u32 };
        let Stress { rx_gaps, tx_stalls, late, clocks } = config.stress;
        let late = if late { rng.next_u64() as u32 | 1 } else { 0 };
        let mut keys = KeyWriter::default();
        let (signs, words) = SignStore::new(&config.card);
        if let Some(of) = &config.card.keys {
            // The firmware begins when it has its keys: by then it must know the signers.
            keys.push_words(words);
            keys.push(of);
        }
        Ok(Self {
            sim: Sim::new(
                8 * config.width.bytes() as u32,
                config.has_bridge(),
                config.card.keys.is_some(),
                rng.next_u64() as u32,
                late,
                &config.straps(),
                &config.other_ports(),
                &config.link_words(),
            ),
            schedule: Schedule::new(clocks, rng.fork()),
            ddr,
            memory_port: axi::Port::new(config.ddr, rng.next_u64()),
            rx: core::array::from_fn(|port| RxPort::new(word(port), gap(port), rx_gaps, rng.fork())),
            tx: core::array::from_fn(|port| TxPort::new(word(port), gap(port), tx_stalls, rng.fork())),
            of_port: config.macs(),
            power: Power::Off,
            inputs: Inputs { planted: if config.card.trained { config.planted } else { UNTRAINED }, ..Inputs::RESET },
            outputs: Outputs::QUIET,
            keys,
            signs,
            raised: VecDeque::new(),
            quiet: 0,
            cycles: 0,
            restarts: 0,
            marks: Marks::default(),
            events: VecDeque::new(),
            slice: 0,
            frames_elsewhere: 0,
            config_credit: 0,
            config_ns: 0,
            config,
        })
    }

    /// Leaves the network in good order, as a board does whose handle is pulled: a goodbye goes out, and from then on
    /// the card neither hears nor says anything. Poll it empty.
    ///
    /// One with keys says goodbye itself, since its owner believes nothing that has no tag: its key store is emptied,
    /// and its power lasts until its firmware has seen to that. A firmware that has failed says nothing.
    pub fn unplug(&mut self, now: Instant) {
        if !self.wake(now) {
            return;
        }
        self.run_to(now);
        if self.config.card.keys.is_some() {
            self.keys.push_none();
            let end = self.cycles + self.all_domains(LEAVING_CYCLES);
            while self.cycles < end && !(self.has_taken_keys() && self.is_quiet()) {
                self.step();
            }
        }
        for tx in &mut self.tx {
            tx.cut();
        }
        if self.config.card.keys.is_none() {
            let mac = self.config.card.mac;
            let head = Head { dst: HOSTS, src: mac, kind: Kind::DiscoveryGoodbye, flags: 0, epoch: 0, seq: 0, addr: 0 };
            self.tx[0].push(head.frame(&[]));
        }
        self.power = Power::Unplugged;
    }

    /// The card is given other keys, as a model is: see [`rackloom_card::Card::rekey`]. False if it has none so far, or
    /// these name more hosts than it has room for. Its firmware takes them some microseconds later.
    pub fn rekey(&mut self, now: Instant, keys: Keys) -> bool {
        if self.config.card.keys.is_none() || keys.hosts().len() > KEY_STORE_HOSTS {
            return false;
        }
        if self.wake(now) {
            self.run_to(now);
        }
        self.keys.push(&keys);
        self.config.card.keys = Some(keys);
        self.quiet = 0;
        true
    }

    /// Whether its firmware has taken the keys that it was given last, and has ended a claim whose key is gone.
    pub fn has_taken_keys(&self) -> bool {
        self.keys.is_empty() && self.outputs.key_news == 0 && self.outputs.key_ready != 0
    }

    /// A frame arrives whose check sequence is wrong.
    pub fn handle_bad_frame(&mut self, now: Instant, frame: Frame) {
        if self.wake(now) {
            self.run_to(now);
            self.rx[0].push(frame, Fcs::Wrong);
        }
    }

    /// What it has in common with cards of other kinds.
    pub const fn config(&self) -> &CardConfig {
        &self.config.card
    }

    /// Its memory: first that of the hosts, then what the gateware keeps for itself.
    pub const fn ddr(&self) -> &Ddr {
        &self.ddr
    }

    /// Cycles simulated so far.
    pub const fn cycles(&self) -> u64 {
        self.cycles
    }

    /// When something was seen at the card's borders since the last call, in cycles.
    pub fn take_marks(&mut self) -> Marks {
        core::mem::take(&mut self.marks)
    }

    /// Frames that were lost before they reached the card, because the simulation is slower than the network or
    /// because no MAC would deliver them.
    pub fn frames_lost(&self) -> u64 {
        self.rx.iter().map(RxPort::lost).sum()
    }

    /// Frames that came in on ports that the card does not have, or that the ports beside port 0 have dropped because
    /// no stream takes them.
    pub const fn frames_elsewhere(&self) -> u64 {
        self.frames_elsewhere
    }

    /// What became of the frames of the host behind it; `None` if it has none.
    pub fn nic_counters(&self) -> Option<NicCounters> {
        self.config.card.nic.map(|_| self.sim.nic())
    }

    /// Accesses of the gateware to memory that is not there.
    pub const fn accesses_refused(&self) -> u64 {
        self.memory_port.refused()
    }

    /// Accesses of the gateware to memory that was at fault, or cycles in which it asked and got no answer.
    pub const fn accesses_failed(&self) -> u64 {
        self.memory_port.failed()
    }

    /// How often firmware or memory have failed and the card restarted itself.
    pub const fn restarts(&self) -> u8 {
        self.outputs.restarts
    }

    /// From now on the gateware has the bug of this number, of those of `rl_planted`. What makes the firmware fail is
    /// gone after the restart, what makes the role fail with bug 0.
    pub const fn plant(&mut self, bug: u8) {
        self.inputs.planted = bug;
    }

    /// The bug that was planted last; 0: none.
    pub const fn planted(&self) -> u8 {
        self.inputs.planted
    }

    /// Writes the waveforms of all signals from now on to a file in FST format, which GTKWave and Surfer show.
    ///
    /// # Errors
    /// If the path has a zero byte.
    #[cfg(feature = "trace")]
    pub fn trace(&mut self, path: &std::path::Path) -> Result<(), std::ffi::NulError> {
        let path = std::ffi::CString::new(path.as_os_str().as_encoded_bytes())?;
        self.sim.trace(&path);
        Ok(())
    }

    /// Switches on at the first call; false when unplugged.
    fn wake(&mut self, now: Instant) -> bool {
        match &mut self.power {
            Power::On(clock) => {
                clock.set(now);
                true
            }
            Power::Unplugged => false,
            Power::Off => {
                let mut clock = Clock::new(self.config.card.pace, now);
                clock.set(now);
                self.power = Power::On(clock);
                // Once more for all domains to come out of it: before that a frame would be lost.
                for rst_n in [false, true] {
                    self.inputs.rst_n = rst_n;
                    let end = self.cycles + self.all_domains(RESET_CYCLES);
                    while self.cycles < end {
                        self.step();
                    }
                }
                self.quiet = 0;
                true
            }
        }
    }

    /// In virtual time, runs up to `now`.
    fn run_to(&mut self, now: Instant) {
        while let Power::On(clock) = &mut self.power
            && !clock.is_live()
            && clock.is_before(now)
        {
            match self.wakes_at() {
                Some(at) if at <= now => self.skip_to(at),
                _ if self.is_quiet() => return self.skip_to(now + CYCLE),
                _ => {}
            }
            self.step();
        }
    }

    fn skip_to(&mut self, at: Instant) {
        if let Power::On(clock) = &mut self.power {
            clock.skip_to(at);
        }
    }

    /// The network's cycles in which each clock has as many.
    fn all_domains(&self, cycles: u32) -> u64 {
        u64::from(cycles * self.config.stress.clocks.slowest())
    }

    /// Nothing is under way.
    fn is_quiet(&self) -> bool {
        self.quiet >= self.all_domains(QUIET_CYCLES) && self.rx.iter().all(RxPort::is_idle)
    }

    /// When something is to do, if no frame comes: in the past or now when something is under way.
    fn wakes_at(&self) -> Option<Instant> {
        let Power::On(clock) = &self.power else { return None };
        if !self.is_quiet() {
            return Some(clock.after(0));
        }
        (self.outputs.alarm_valid != 0).then(|| clock.when(self.outputs.alarm_us))
    }

    /// One edge, of one clock or of some.
    fn step(&mut self) {
        let Power::On(clock) = &mut self.power else { return };
        let edges = self.schedule.next();
        let nanos = clock.nanos();
        if edges.has(Edges::NET) {
            self.inputs.time_us = clock.micros();
            clock.tick();
            self.cycles += 1;
        }
        self.inputs.event_ready = self.events.len() < EVENTS;
        if edges.has(Edges::CFG) {
            self.inputs.cfg_hold = self.config_port_waits(nanos);
        }
        self.inputs.edges = edges;
        self.inputs.memory = *self.memory_port.wires();
        if edges.has(Edges::NET) && self.inputs.rst_n {
            for ((rx, tx), mac) in self.rx.iter_mut().zip(&mut self.tx).zip(&mut self.inputs.macs) {
                rx.drive(mac);
                tx.drive(mac);
            }
            let write = self.keys.next();
            self.inputs.key_write = write.is_some();
            if let Some(write) = write {
                (self.inputs.key_at, self.inputs.key_word) = (write.at, write.word);
            }
        }
        self.sim.step(&self.inputs, &mut self.outputs);
        if !self.inputs.rst_n {
            return;
        }
        if edges.has(Edges::NET) {
            self.marks.note(self.cycles, &self.inputs, &self.outputs);
            for (tx, mac) in self.tx.iter_mut().zip(&self.outputs.macs) {
                tx.take(mac);
            }
            if self.inputs.key_write && self.outputs.key_ready != 0 {
                self.keys.pop();
            }
            if self.outputs.kept_valid != 0
                && let Some(release) = self.signs.keep(self.outputs.kept_at, self.outputs.kept_word)
            {
                self.config.card.versions = self.config.card.versions.iter().chain([release.clone()]).collect();
                self.raised.push_back(release);
            }
            self.frames_elsewhere += u64::from(self.outputs.foreign);
            if self.outputs.event_valid != 0 && self.inputs.event_ready {
                self.events.push_back(self.outputs.event_word);
            }
        }
        if self.outputs.restarts != self.restarts {
            self.restarts = self.outputs.restarts;
            self.memory_port.excuse();
        }
        if edges.has(Edges::DDR) {
            self.memory_port.edge(&self.outputs.memory, &self.ddr);
        }
        // An alarm takes some cycles to be heard.
        let late = (self.inputs.time_us as u32).wrapping_sub(self.outputs.alarm_us).cast_signed();
        let alarm = self.outputs.alarm_valid != 0 && late >= 0;
        let wires = self.rx.iter().all(RxPort::is_idle) && self.tx.iter().all(TxPort::is_idle);
        let around = wires && self.memory_port.is_idle() && self.keys.is_empty() && self.outputs.key_news == 0;
        let comes = self.inputs.macs.iter().any(|mac| mac.rx_valid);
        let idle = around && self.outputs.idle != 0 && !comes && !alarm;
        self.quiet = if idle { self.quiet + u64::from(edges.has(Edges::NET)) } else { 0 };
    }

    /// Whether the configuration port is not ready in this cycle: it takes 4 bytes each time that it is.
    fn config_port_waits(&mut self, ns: u64) -> bool {
        let rate = self.config.card.config_rate;
        if rate == 0 {
            return false;
        }
        self.config_credit += u128::from(ns - self.config_ns) * u128::from(rate);
        self.config_ns = ns;
        // What was not used in a pause is gone. Live, time goes on between calls only.
        let words = if self.config.card.pace.is_live() { CYCLES_PER_SLICE } else { 2 };
        self.config_credit = self.config_credit.min(CONFIG_WORD * u128::from(words));
        let waits = self.config_credit < CONFIG_WORD;
        if !waits {
            self.config_credit -= CONFIG_WORD;
        }
        waits
    }
}

impl Node for RtlCard {
    /// What its role reports, and which versions its board is to keep: of what else happens in it, a card of hardware
    /// says nothing.
    type Event = CardEvent;

    fn handle_frame(&mut self, now: Instant, port: Port, frame: Frame) {
        let Some(mac) = self.of_port.iter().position(|of| *of == Some(port)) else {
            self.frames_elsewhere += 1;
            return;
        };
        if self.wake(now) {
            self.run_to(now);
            self.rx[mac].push(frame, Fcs::Right);
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.wake(now) {
            self.slice = CYCLES_PER_SLICE;
            self.run_to(now);
        }
    }

    fn poll(&mut self, now: Instant) -> Option<Output<CardEvent>> {
        if self.wake(now) {
            self.run_to(now);
        }
        // Frames come in by dozens: were each a reason to compute, other nodes of the thread would wait for seconds.
        while let Power::On(clock) = &self.power
            && clock.is_live()
            && !self.tx.iter().any(TxPort::has_frame)
            && self.events.is_empty()
            && self.raised.is_empty()
            && self.slice > 0
            && self.wakes_at().is_some_and(|at| at <= now)
        {
            let before = self.cycles;
            self.step();
            self.slice -= (self.cycles - before) as u32;
        }
        if let Some(release) = self.raised.pop_front() {
            return Some(Output::Event(CardEvent::Raised(release)));
        }
        if let Some(word) = self.events.pop_front() {
            return Some(Output::Event(CardEvent::RoleEvent { word }));
        }
        let macs = self.of_port.iter().zip(&mut self.tx);
        macs.filter_map(|(port, tx)| port.map(|port| (port, tx)))
            .find_map(|(port, tx)| tx.pop().map(|frame| Output::Transmit(port, frame)))
    }

    fn next_deadline(&self) -> Option<Instant> {
        match &self.power {
            Power::Off => Some(Instant::ZERO),
            Power::Unplugged => None,
            Power::On(clock) if !clock.is_live() && !self.is_quiet() => Some(clock.after(CYCLES_BETWEEN_CALLS)),
            Power::On(_) => self.wakes_at(),
        }
    }
}

/// Events of the role that wait to be taken, at most, as on a model card: then it waits with the next.
const EVENTS: usize = 64;
/// `rl_planted`: the memory cannot be trained.
const UNTRAINED: u8 = 11;
/// Cycles of reset: enough for the synchronisers of all clock domains.
const RESET_CYCLES: u32 = 32;
/// Cycles for which nothing may be under way before the clocks stop: more than a signal takes through all domains.
const QUIET_CYCLES: u32 = 32;
/// Cycles that the power of a card with keys lasts when it is pulled out: 3 ms; its firmware takes less.
const LEAVING_CYCLES: u32 = 1 << 19;
/// Cycles that a live card runs at a time, some 10 ms of computing: other nodes of the thread want to be served.
const CYCLES_PER_SLICE: u32 = 4096;
/// Cycles of virtual time between two calls while the card works: how late a frame may go out.
const CYCLES_BETWEEN_CALLS: u64 = 64;
/// A little more than a cycle.
const CYCLE: rackloom_node::Duration = rackloom_node::Duration::from_nanos(7);
/// A word of the configuration port, in bytes times 10^9.
const CONFIG_WORD: u128 = 4_000_000_000;
