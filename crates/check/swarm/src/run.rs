//! One run of a plan: its state, and how events reach the oracles.

mod meaning;
mod proof;
mod script;

use std::collections::BTreeMap;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use rackloom_card::{CardEvent, ReleaseReason};
use rackloom_host::OpId;
use rackloom_node::{Duration, Either, Instant, Rng};
use rackloom_rack::Slot;
use rackloom_sim::{Capture, Tap};

use crate::images::Images;
use crate::oracle::Oracle;
use crate::plan::Plan;
use crate::world::{PlantedBug, World};
use meaning::Doing;

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
    /// Stretches in which a host or a card had no processor.
    pub starved: u64,
    /// Times that a host gave a card up for its silence.
    pub silent: u64,
    /// Leases that ran out.
    pub expired: u64,
    /// Times that a card's memory failed.
    pub memory_failed: u64,
    /// Cards that restarted from their configuration flash.
    pub rebooted: u64,
    /// Frames that a stranger has sent.
    pub attacks: u64,
    /// Times that a card refused an image for its signature.
    pub unsigned: u64,
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

struct Run {
    plan: Plan,
    world: World,
    oracles: Vec<Oracle>,
    images: Images,
    doing: BTreeMap<(usize, OpId), Doing>,
    /// Cards without power, and when it comes back.
    dark: BTreeMap<usize, Instant>,
    /// Cards whose cable is pulled, and when it is back.
    pulled: BTreeMap<usize, Instant>,
    /// Cards whose memory is broken, and when it is not any more.
    broken: BTreeMap<usize, Instant>,
    /// When and where memory breaks: drawn apart from the script, which stays the same for a seed.
    breaks: Rng,
    summary: Summary,
    calm: bool,
}

impl Run {
    fn new(plan: &Plan, planted: Option<PlantedBug>, pcap: Option<&Path>) -> Self {
        let mut world = World::new(plan, planted);
        if let Some(path) = pcap {
            let file = File::create(path).expect("the trace can be created");
            let capture = Capture::stream(Box::new(std::io::BufWriter::new(file))).expect("the trace can be written");
            world.rack.net.capture(capture, &[Tap::Sent]);
        }
        Self {
            plan: plan.clone(),
            oracles: world.rack.cards().iter().map(|c| Oracle::new(c.mac)).collect(),
            world,
            images: Images::new(plan.signed),
            doing: BTreeMap::new(),
            dark: BTreeMap::new(),
            pulled: BTreeMap::new(),
            broken: BTreeMap::new(),
            breaks: Rng::new(plan.seed ^ 0x00B2_0CE2),
            summary: Summary::default(),
            calm: false,
        }
    }

    fn go(mut self) -> Result<Summary, String> {
        for host in 0..self.plan.hosts {
            self.world.with_host(host, |h, now| h.solicit(now, Duration::from_micros(100)));
        }
        self.run_for(Duration::from_millis(2))?;
        for _ in 0..self.plan.actions {
            let pause = self.world.rng.below(2 * self.plan.pace.as_nanos() as u64);
            self.run_for(Duration::from_nanos(pause))?;
            self.mend();
            self.summary.starved += u64::from(self.world.starve());
            self.break_memory();
            self.act();
        }
        self.settle()?;
        for host in 0..self.plan.hosts {
            self.prove(host)?;
        }
        self.summary.hash = self.world.rack.net.event_hash().unwrap_or_default();
        self.summary.attacks = self.world.attacks();
        self.summary.frames = self.world.rack.net.deliveries();
        self.world.rack.net.check_invariants();
        if let Some(capture) = self.world.rack.net.end_capture() {
            capture.finish().map_err(|e| e.to_string())?;
        }
        Ok(self.summary)
    }

    fn run_for(&mut self, time: Duration) -> Result<(), String> {
        let end = self.world.now() + time;
        while let Some((_, node, event)) = self.world.rack.run_until(end) {
            let at = |slots: &[Slot]| slots.iter().position(|slot| slot.node == node).expect("a node of the rack");
            match event {
                Either::A(event) => {
                    let host = at(self.world.rack.hosts());
                    self.on_host(host, event)?;
                }
                Either::B(event) => {
                    let card = at(self.world.rack.cards());
                    self.oracles[card].note(&event, self.images)?;
                    match event {
                        CardEvent::Activated { .. } => self.summary.loads += 1,
                        CardEvent::Raised(release) => self.world.keep(card, &release),
                        CardEvent::Rebooted => self.summary.rebooted += 1,
                        CardEvent::MemoryFailed => self.summary.memory_failed += 1,
                        CardEvent::Released { reason: ReleaseReason::Expired, .. } => self.summary.expired += 1,
                        _ => {}
                    }
                }
            }
        }
        let image_max = self.images.bytes_max();
        for (number, oracle) in self.oracles.iter().enumerate().filter(|(card, _)| self.world.is_on(*card)) {
            let card = self.world.rack.card(self.world.card(number)).as_model().expect("all cards are models");
            oracle.check_card(card, image_max)?;
        }
        Ok(())
    }
}
