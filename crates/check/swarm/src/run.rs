//! One run: the script, what comes of it, and the end, when faults stop and everything must complete.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::LazyLock;

use bytes::Bytes;
use rackloom_host::{ClaimOptions, Commit, Event, Launch, OpError, OpId, Outcome};
use rackloom_node::{Duration, Either, Instant};
use rackloom_sim::{Capture, Tap};
use rackloom_wire::{ErrorCode, Scrub};

use crate::cells::{self, Count};
use crate::oracle::Oracle;
use crate::plan::Plan;
use crate::slots::{self, SLOTS, Since, Tag};
use crate::world::PlantedBug;
use crate::world::World;

/// What a run did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    /// Hash of all that happened on the network: equal for equal seeds.
    pub hash: u64,
    /// Frames delivered.
    pub frames: u64,
    /// Operations completed well.
    pub done: u64,
    /// Operations that failed with an error.
    pub failed: u64,
    /// Kernels that completed well.
    pub kernels: u64,
    /// Cards on which an image became active.
    pub loads: u64,
}

/// Why a run failed, and how to see it again.
#[derive(Debug)]
pub struct Failure {
    /// What was drawn.
    pub plan: Plan,
    /// What went wrong.
    pub message: String,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}\n  {}", self.plan, self.message)
    }
}

/// Runs a plan. With `pcap`, all frames are written there, also those before a failure.
///
/// # Errors
/// If an oracle or an assertion objects.
pub fn run(plan: &Plan, planted: Option<PlantedBug>, pcap: Option<&Path>) -> Result<Summary, Box<Failure>> {
    caught(plan, || Run::new(plan, planted, pcap).go())
}

/// What `run` gives; its error or its panic as a failure of this plan.
pub(crate) fn caught<T>(plan: &Plan, run: impl FnOnce() -> Result<T, String>) -> Result<T, Box<Failure>> {
    let message = match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(summary)) => return Ok(summary),
        Ok(Err(message)) => message,
        Err(panic) => match panic.downcast::<String>() {
            Ok(text) => *text,
            Err(panic) => panic.downcast_ref::<&str>().map_or("panic", |s| s).to_owned(),
        },
    };
    Err(Box::new(Failure { plan: plan.clone(), message }))
}

struct Image {
    bytes: Bytes,
    digest: [u8; 32],
}

/// Two images of the same kernels, told apart by their digests.
static IMAGES: LazyLock<Vec<Image>> = LazyLock::new(|| {
    let make = |size| {
        let bytes = Bytes::from(rackloom_builtin_roles::padded("probe", size));
        Image { digest: *blake3::hash(&bytes).as_bytes(), bytes }
    };
    vec![make(20_000), make(150_001)]
});

/// An operation under way, and what it means to the oracles.
#[derive(Debug)]
enum Doing {
    Claim { card: usize, boot: u32, scrub: Scrub },
    Release { card: usize, scrub: Option<Tag> },
    Load { digest: [u8; 32], all_or_none: bool },
    Write { card: usize, slot: usize, tag: Tag },
    Read { card: usize, boot: u32, slot: usize, since: Since },
    Cells { card: usize },
    Bump { card: usize, boot: u32, cell: u64, slot: Option<(usize, Since)> },
    Bad { code: ErrorCode },
    Ask,
}

struct Run {
    plan: Plan,
    planted: Option<PlantedBug>,
    world: World,
    oracles: Vec<Oracle>,
    offered: BTreeSet<[u8; 32]>,
    doing: BTreeMap<(usize, OpId), Doing>,
    /// Cards without power, and when it comes back.
    dark: BTreeMap<usize, Instant>,
    /// Cards whose cable is pulled, and when it is back.
    pulled: BTreeMap<usize, Instant>,
    summary: Summary,
    calm: bool,
}

/// After the faults have stopped, everything under way completes within this time: the slowest are a load that has to
/// notice a vanished card, and an operation that backs off at its longest.
const SETTLE: Duration = Duration::from_secs(15);

impl Run {
    fn new(plan: &Plan, planted: Option<PlantedBug>, pcap: Option<&Path>) -> Self {
        let mut world = World::new(plan, planted);
        if let Some(path) = pcap {
            let file = File::create(path).expect("the trace can be created");
            let capture = Capture::stream(Box::new(std::io::BufWriter::new(file))).expect("the trace can be written");
            world.net.capture(capture, &[Tap::Sent]);
        }
        Self {
            plan: plan.clone(),
            planted,
            oracles: world.cards.iter().map(|c| Oracle::new(c.mac)).collect(),
            world,
            offered: IMAGES.iter().map(|i| i.digest).collect(),
            doing: BTreeMap::new(),
            dark: BTreeMap::new(),
            pulled: BTreeMap::new(),
            summary: Summary::default(),
            calm: false,
        }
    }

    fn go(mut self) -> Result<Summary, String> {
        for host in 0..self.plan.hosts {
            self.with_host(host, |h, now| h.solicit(now, Duration::from_micros(100)));
        }
        self.run_for(Duration::from_millis(2))?;
        for _ in 0..self.plan.actions {
            let pause = self.world.rng.below(2 * self.plan.pace.as_nanos() as u64);
            self.run_for(Duration::from_nanos(pause))?;
            self.mend();
            self.act();
        }
        self.settle()?;
        for host in 0..self.plan.hosts {
            self.prove(host)?;
        }
        self.summary.hash = self.world.net.event_hash().unwrap_or_default();
        self.summary.frames = self.world.net.deliveries();
        self.world.net.check_invariants();
        if let Some(capture) = self.world.net.end_capture() {
            capture.finish().map_err(|e| e.to_string())?;
        }
        Ok(self.summary)
    }

    fn with_host<R>(&mut self, host: usize, f: impl FnOnce(&mut rackloom_host::Host, Instant) -> R) -> R {
        let id = self.world.hosts[host].id;
        self.world.net.with(id, |actor, now| match actor {
            Either::A(mangler) => f(&mut mangler.host, now),
            Either::B(_) => unreachable!("a host stands here"),
        })
    }

    fn run_for(&mut self, time: Duration) -> Result<(), String> {
        let end = self.world.now() + time;
        while let Some((_, id, said)) = self.world.net.run_until(end) {
            match said {
                Either::A(event) => {
                    let host = self.world.hosts.iter().position(|p| p.id == id).expect("a host speaks");
                    self.on_host(host, event)?;
                }
                Either::B(event) => {
                    let card = self.world.cards.iter().position(|p| p.id == id).expect("a card speaks");
                    self.oracles[card].note(&event, &self.offered)?;
                    if matches!(event, rackloom_card::CardEvent::Activated { .. }) {
                        self.summary.loads += 1;
                    }
                }
            }
        }
        for (place, oracle) in self.world.cards.iter().zip(&self.oracles) {
            if self.world.net.is_on(place.id)
                && let Either::B(card) = self.world.net.node(place.id)
            {
                oracle.check_card(card, IMAGES.iter().map(|i| i.bytes.len()).max().unwrap_or_default())?;
            }
        }
        Ok(())
    }

    /// What has waited long enough comes back.
    fn mend(&mut self) {
        let now = self.world.now();
        let due = |map: &BTreeMap<usize, Instant>| -> Vec<usize> {
            map.iter().filter(|(_, at)| **at <= now).map(|(card, _)| *card).collect()
        };
        for card in due(&self.dark) {
            self.dark.remove(&card);
            self.world.start_card(card, self.planted);
        }
        for card in due(&self.pulled) {
            self.pulled.remove(&card);
            self.world.net.up(self.world.cards[card].link);
        }
    }

    /// One line of the script, drawn.
    fn act(&mut self) {
        let host = self.world.rng.below(self.plan.hosts as u64) as usize;
        let card = self.world.rng.below(self.plan.cards as u64) as usize;
        let mac = self.world.cards[card].mac;
        let held = self.with_host(host, |h, _| h.claim_epoch(mac)).is_some();
        match self.world.rng.below(100) {
            0..3 if self.plan.crashes => self.crash(card),
            3..6 if self.plan.pulls => self.pull(card),
            6..8 if self.plan.host_crashes => self.restart(host),
            8..11 if held => self.release(host, card),
            11..17 if held => self.load(host),
            17..19 => self.ask(host, card),
            19..23 if self.plan.cancels => self.call_off(host),
            23..26 if self.plan.bad_kernels && held => self.bad_kernel(host, card),
            26..55 if held => {
                let slot = self.world.rng.below(SLOTS as u64) as usize;
                self.write(host, card, slot);
                // On the heels of the write, so that they meet on the wire.
                if self.world.rng.chance(0.3) {
                    self.read(host, card, slot);
                }
            }
            55..72 if held => {
                let slot = self.world.rng.below(SLOTS as u64) as usize;
                self.read(host, card, slot);
            }
            72..100 if held => self.bump(host, card),
            _ => self.claim(host, card),
        }
    }

    fn start(&mut self, host: usize, op: OpId, doing: Doing) {
        self.doing.insert((host, op), doing);
        if self.plan.cancels && !self.calm && self.world.rng.chance(0.1) {
            let at = self.world.now() + Duration::from_micros(self.world.rng.below(50_000));
            self.with_host(host, |h, _| h.set_deadline(op, at));
        }
    }

    fn claim(&mut self, host: usize, card: usize) {
        let mac = self.world.cards[card].mac;
        let scrub = if self.plan.scrubs && self.world.rng.chance(0.2) { Scrub::Zero } else { Scrub::Keep };
        let lease = Duration::from_millis(300 + self.world.rng.below(2000));
        if scrub == Scrub::Zero {
            self.oracles[card].claim_zeroing();
        }
        let boot = self.oracles[card].boot;
        let op = self.with_host(host, |h, now| h.claim(now, mac, ClaimOptions { lease, scrub }));
        self.start(host, op, Doing::Claim { card, boot, scrub });
    }

    fn release(&mut self, host: usize, card: usize) {
        let mac = self.world.cards[card].mac;
        let scrub = if self.plan.scrubs && self.world.rng.chance(0.5) { Scrub::Zero } else { Scrub::Keep };
        let tag = (scrub == Scrub::Zero).then(|| Tag { card: mac, epoch: 0, number: self.world.rng.next_u64() >> 20 });
        if let Some(tag) = tag {
            self.oracles[card].release_zeroing(tag);
        }
        let op = self.with_host(host, |h, now| h.release(now, mac, scrub));
        self.start(host, op, Doing::Release { card, scrub: tag });
    }

    fn load(&mut self, host: usize) {
        let image = self.world.rng.below(IMAGES.len() as u64) as usize;
        let macs: Vec<_> = self.world.cards.iter().map(|c| c.mac).collect();
        let all_or_none = self.world.rng.chance(0.3);
        let commit = if all_or_none { Commit::AllOrNone } else { Commit::Each };
        let bytes = IMAGES[image].bytes.clone();
        let op = self.with_host(host, |h, now| {
            let held: Vec<_> = macs.into_iter().filter(|m| h.claim_epoch(*m).is_some()).collect();
            h.load(now, &held, bytes, commit)
        });
        self.start(host, op, Doing::Load { digest: IMAGES[image].digest, all_or_none });
    }

    fn write(&mut self, host: usize, card: usize, slot: usize) {
        if self.oracles[card].slots[slot].locks > 0 {
            return;
        }
        let mac = self.world.cards[card].mac;
        let epoch = self.with_host(host, |h, _| h.claim_epoch(mac)).unwrap_or_default();
        let tag = Tag { card: mac, epoch, number: self.world.rng.next_u64() >> 20 };
        let data = self.oracles[card].slots[slot].begin(tag);
        let op = self.with_host(host, |h, now| h.write(now, mac, slots::address(slot), data));
        self.start(host, op, Doing::Write { card, slot, tag });
    }

    fn read(&mut self, host: usize, card: usize, slot: usize) {
        let mac = self.world.cards[card].mac;
        let op = self.with_host(host, |h, now| h.read(now, mac, slots::address(slot), slots::length(slot) as u64));
        let boot = self.oracles[card].boot;
        let since = self.since(host, card, slot);
        self.start(host, op, Doing::Read { card, boot, slot, since });
    }

    fn bump(&mut self, host: usize, card: usize) {
        let slot = self.world.rng.chance(0.3).then(|| self.world.rng.below(SLOTS as u64) as usize);
        let cell = self.oracles[card].cells.begin();
        let output = slot.map_or((0, 0), |s| (slots::address(s), slots::length(s) as u64));
        if let Some(s) = slot {
            self.oracles[card].slots[s].locks += 1;
        }
        let hold = if self.world.rng.chance(0.1) { 1 + self.world.rng.below(3) as u32 } else { 0 };
        let cycles = self.world.rng.below(1_000_000);
        let mac = self.world.cards[card].mac;
        let launch = Launch { kernel: 0, args: vec![cells::address(cell), cycles], fuel: 0, output, hold };
        let op = self.with_host(host, |h, now| {
            let op = h.launch(now, mac, launch);
            if hold > 0 {
                h.go(now, hold);
            }
            op
        });
        let boot = self.oracles[card].boot;
        let slot = slot.map(|s| (s, self.since(host, card, s)));
        self.start(host, op, Doing::Bump { card, boot, cell, slot });
    }

    /// What a read or a launch that is given now must see of a slot.
    fn since(&mut self, host: usize, card: usize, slot: usize) -> Since {
        let mac = self.world.cards[card].mac;
        let epoch = self.with_host(host, |h, _| h.claim_epoch(mac)).unwrap_or_default();
        self.oracles[card].slots[slot].since(epoch)
    }

    fn bad_kernel(&mut self, host: usize, card: usize) {
        let mac = self.world.cards[card].mac;
        let (kernel, fuel, code) =
            if self.world.rng.chance(0.5) { (1, 0, ErrorCode::KernelTrap) } else { (2, 10_000, ErrorCode::KernelFuel) };
        let op = self.with_host(host, |h, now| h.launch(now, mac, Launch { kernel, fuel, ..Launch::default() }));
        self.start(host, op, Doing::Bad { code });
    }

    fn ask(&mut self, host: usize, card: usize) {
        let mac = self.world.cards[card].mac;
        let counters = self.world.rng.chance(0.5);
        let op = self.with_host(host, |h, now| if counters { h.counters(now, mac) } else { h.manifest(now, mac) });
        self.start(host, op, Doing::Ask);
    }

    fn call_off(&mut self, host: usize) {
        let ops: Vec<_> = self.doing.keys().filter(|(h, _)| *h == host).map(|(_, op)| *op).collect();
        if !ops.is_empty() {
            let op = ops[self.world.rng.below(ops.len() as u64) as usize];
            self.with_host(host, |h, now| h.cancel(now, op));
        }
    }

    fn crash(&mut self, card: usize) {
        if self.dark.contains_key(&card) {
            return;
        }
        self.world.crash_card(card);
        self.oracles[card].reboot();
        let back = self.world.now() + Duration::from_micros(self.world.rng.below(3_000_000));
        self.dark.insert(card, back);
    }

    fn pull(&mut self, card: usize) {
        if self.pulled.contains_key(&card) {
            return;
        }
        let place = self.world.cards[card];
        self.world.net.down(place.link);
        let back = self.world.now() + Duration::from_micros(self.world.rng.below(3_000_000));
        self.pulled.insert(card, back);
    }

    fn restart(&mut self, host: usize) {
        self.world.restart_host(host);
        let lost: Vec<_> = self.doing.keys().filter(|(h, _)| *h == host).copied().collect();
        for key in lost {
            if let Some(Doing::Bump { card, slot: Some((slot, _)), .. }) = self.doing.remove(&key) {
                self.oracles[card].slots[slot].locks -= 1;
            }
        }
        self.with_host(host, |h, now| h.solicit(now, Duration::from_micros(100)));
    }

    fn on_host(&mut self, host: usize, event: Event) -> Result<(), String> {
        let Event::Completed { op, result } = event else { return Ok(()) };
        let doing =
            self.doing.remove(&(host, op)).ok_or_else(|| format!("{op:?} completed twice, or was never given"))?;
        if result.is_ok() {
            self.summary.done += 1;
        } else {
            self.summary.failed += 1;
        }
        if self.calm
            && let Err(why) = &result
        {
            self.allowed_when_calm(&doing, why)?;
        }
        match doing {
            Doing::Claim { card, boot, scrub } => {
                if result.is_ok() && scrub == Scrub::Zero && self.oracles[card].boot == boot {
                    self.oracles[card].claimed_zero();
                }
            }
            Doing::Release { card, scrub } => {
                if let Some(tag) = scrub.filter(|_| result.is_ok()) {
                    self.oracles[card].released_zero(tag);
                }
            }
            Doing::Load { digest, all_or_none } => {
                let Ok(Outcome::Loaded(report)) = result else { return Ok(()) };
                let refused = |r: &Result<(), OpError>| matches!(r, Err(OpError::Load { .. }));
                if all_or_none && report.cards.values().any(refused) && report.cards.values().any(Result::is_ok) {
                    return Err(format!("a load for all or none reached some: {report:?}"));
                }
                for (mac, _) in report.cards.iter().filter(|(_, r)| r.is_ok()) {
                    let oracle = self.oracles.iter().find(|o| o.mac == *mac).expect("our card");
                    oracle.check_loaded(digest)?;
                }
            }
            Doing::Write { card, slot, tag } => match result {
                Ok(_) => self.oracles[card].slots[slot].done(tag),
                Err(OpError::NotClaimed { .. }) => self.oracles[card].slots[slot].never(tag),
                Err(_) => self.oracles[card].slots[slot].failed(tag),
            },
            Doing::Read { card, boot, slot, since } => {
                // What was read before a crash and arrives after it tells nothing any more.
                if let Ok(Outcome::Data(bytes)) = result
                    && self.oracles[card].boot == boot
                {
                    let mac = self.oracles[card].mac;
                    let zeroed = self.oracles[card].may_be_zeroed();
                    self.oracles[card].slots[slot]
                        .check(&bytes, zeroed, since)
                        .map_err(|e| format!("{mac} slot {slot}: {e}"))?;
                }
            }
            Doing::Cells { card } => {
                if let Ok(Outcome::Data(bytes)) = result {
                    let mac = self.oracles[card].mac;
                    let zeroed = self.oracles[card].may_be_zeroed();
                    self.oracles[card].cells.check(&bytes, zeroed).map_err(|e| format!("{mac}: {e}"))?;
                }
            }
            Doing::Bump { card, boot, cell, slot } => self.bumped((card, boot), cell, slot, &result)?,
            Doing::Bad { code } => match result {
                Ok(_) => return Err(format!("a kernel that must end with {} succeeded", code.name())),
                Err(OpError::Kernel { code: got, .. }) if got != code && got != ErrorCode::Cancelled => {
                    return Err(format!("a kernel ended with {} instead of {}", got.name(), code.name()));
                }
                Err(_) => {}
            },
            Doing::Ask => {}
        }
        Ok(())
    }

    fn bumped(
        &mut self,
        (card, boot): (usize, u32),
        cell: u64,
        slot: Option<(usize, Since)>,
        result: &Result<Outcome, OpError>,
    ) -> Result<(), String> {
        if let Some((slot, _)) = slot {
            self.oracles[card].slots[slot].locks -= 1;
        }
        let oracle = &mut self.oracles[card];
        match result {
            Ok(Outcome::Launched(report)) => {
                self.summary.kernels += 1;
                if report.value != 1 {
                    return Err(format!("{}: cell {cell} was {} after its launch", oracle.mac, report.value));
                }
                if let Some((slot, since)) = slot.filter(|_| oracle.boot == boot) {
                    let zeroed = oracle.may_be_zeroed();
                    oracle.slots[slot]
                        .check(&report.output, zeroed, since)
                        .map_err(|e| format!("output of slot {slot}: {e}"))?;
                }
                // A crash since then has zeroed it.
                if oracle.boot == boot {
                    oracle.cells.set(cell, Count::Once);
                }
            }
            Ok(other) => return Err(format!("a launch gave {other:?}")),
            Err(OpError::NotClaimed { .. } | OpError::Refused { .. }) => oracle.cells.set(cell, Count::Never),
            Err(_) => {}
        }
        Ok(())
    }

    /// With faults gone and one host at work, only these may still fail.
    fn allowed_when_calm(&self, doing: &Doing, why: &OpError) -> Result<(), String> {
        let fine = match (doing, why) {
            // Another host's lease has to run out first.
            (Doing::Claim { .. }, OpError::Claimed { .. }) => true,
            (Doing::Bad { .. }, OpError::Kernel { .. }) => true,
            _ => false,
        };
        if fine { Ok(()) } else { Err(format!("without faults, {doing:?} failed: {why}")) }
    }

    /// Faults stop; everything under way must end within a bound.
    fn settle(&mut self) -> Result<(), String> {
        for card in std::mem::take(&mut self.dark).into_keys() {
            self.world.start_card(card, self.planted);
        }
        self.pulled.clear();
        self.world.calm();
        let end = self.world.now() + SETTLE;
        while !self.doing.is_empty() && self.world.now() < end {
            self.run_for(Duration::from_millis(50))?;
        }
        if let Some(((host, op), doing)) = self.doing.iter().next() {
            let n = self.doing.len();
            return Err(format!("{n} operations hang, among them host {host} {op:?} {doing:?}"));
        }
        Ok(())
    }

    /// One host alone claims all cards, loads them, checks all memory, and runs a kernel on each: all must succeed.
    fn prove(&mut self, host: usize) -> Result<(), String> {
        let all = 0..self.plan.cards;
        for other in (0..self.plan.hosts).filter(|h| *h != host) {
            for card in all.clone() {
                let mac = self.world.cards[card].mac;
                if self.with_host(other, |h, _| h.claim_epoch(mac)).is_some() {
                    self.release(other, card);
                }
            }
        }
        // Senders that stand still do so for up to 5 s; late frames of the faulty time, and what they caused, have to
        // pass.
        self.run_for(Duration::from_millis(7500))?;
        self.with_host(host, |h, now| h.solicit(now, Duration::from_micros(100)));
        self.run_for(Duration::from_millis(5))?;
        self.calm = true;
        for _ in 0..20 {
            for card in all.clone() {
                let mac = self.world.cards[card].mac;
                if self.with_host(host, |h, _| h.claim_epoch(mac)).is_none() {
                    let lease = Duration::from_secs(2);
                    let options = ClaimOptions { lease, scrub: Scrub::Keep };
                    let op = self.with_host(host, |h, now| h.claim(now, mac, options));
                    self.doing.insert((host, op), Doing::Claim { card, boot: 0, scrub: Scrub::Keep });
                }
            }
            self.finish("claims")?;
            let held = |run: &mut Self, card: usize| {
                let mac = run.world.cards[card].mac;
                run.with_host(host, |h, _| h.claim_epoch(mac)).is_some()
            };
            if all.clone().all(|card| held(self, card)) {
                break;
            }
            self.run_for(Duration::from_millis(200))?;
        }
        for card in all.clone() {
            for slot in 0..SLOTS {
                let (mac, at, len) = (self.world.cards[card].mac, slots::address(slot), slots::length(slot) as u64);
                let op = self.with_host(host, |h, now| h.read(now, mac, at, len));
                let boot = self.oracles[card].boot;
                let since = self.since(host, card, slot);
                self.doing.insert((host, op), Doing::Read { card, boot, slot, since });
            }
            let bytes = self.oracles[card].cells.len() * 8;
            let mac = self.world.cards[card].mac;
            let op = self.with_host(host, |h, now| h.read(now, mac, cells::address(0), bytes));
            self.doing.insert((host, op), Doing::Cells { card });
        }
        self.finish("reads of all memory")?;
        let before = self.summary;
        self.load(host);
        self.finish("a load of all cards")?;
        if self.summary.loads - before.loads != self.plan.cards as u64 {
            return Err("without faults, a load did not reach all cards".to_owned());
        }
        for card in all.clone() {
            self.bump(host, card);
        }
        self.finish("a launch on each card")?;
        if self.summary.kernels - before.kernels != self.plan.cards as u64 {
            return Err("without faults, a launch failed".to_owned());
        }
        self.calm = false;
        for card in all {
            self.release(host, card);
        }
        self.finish("releases")
    }

    fn finish(&mut self, what: &str) -> Result<(), String> {
        let end = self.world.now() + SETTLE;
        while !self.doing.is_empty() && self.world.now() < end {
            self.run_for(Duration::from_millis(5))?;
        }
        if self.doing.is_empty() { Ok(()) } else { Err(format!("{what}: {:?} hang", self.doing.values().next())) }
    }
}
