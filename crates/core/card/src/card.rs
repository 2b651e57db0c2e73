//! The card: its blocks put together, and which frame goes to which.

use std::sync::Arc;

use bytes::Bytes;
use rackloom_node::{Frame, Instant, Node, Output, Port};
use rackloom_role::{self as role, Role, Sandbox};
use rackloom_wire::{self as wire, AnnounceReason, CardState, Counter, ErrorCode, HOSTS, Kind, MacAddr};

use crate::bridge::Bridge;
use crate::collectives::Collectives;
use crate::discovery::{Discovery, Facts};
use crate::flash::Flash;
use crate::guard::Guard;
use crate::launches::{Ended, Launches};
use crate::loader::Loader;
use crate::memory::Memory;
use crate::nic::NicPath;
use crate::results::Results;
use crate::session::Session;
use crate::shell::{Shell, earlier};
use crate::{CardEvent, Config, ConfigError, Counters, NicCounters, ReleaseReason};

mod bridge;
mod collectives;
mod dispatch;
mod egress;
mod front_door;
mod gate;
mod nic;
mod restart;
mod zeroing;

/// A card behind a wire. See [`Node`] for the law of its use; its link comes up with the first call.
#[derive(Debug)]
pub struct Card {
    shell: Shell,
    sandbox: Arc<dyn Sandbox>,
    ddr: Arc<dyn role::Memory>,
    power: Power,
    session: Session,
    loader: Loader,
    memory: Memory,
    launches: Launches,
    results: Results,
    role: Option<ActiveRole>,
    flash: Option<Flash>,
    /// The way between the wire and the host behind the card.
    nic: Option<NicPath>,
    bridge: Option<Bridge>,
    /// Of a card with a key.
    guard: Option<Guard>,
    /// The programs over its links.
    collectives: Option<Collectives>,
    /// When memory will be zero: until then nobody has the card.
    zeroed_at: Option<Instant>,
    /// It has started again because DDR did not answer, and takes no claim until DDR does.
    awaits_memory: bool,
}

#[derive(Debug)]
enum Power {
    /// No call yet.
    Off,
    On {
        boot: Instant,
        discovery: Discovery,
    },
    /// It loads what it runs from its configuration flash.
    Booting {
        until: Instant,
    },
    /// Gone, but for the frames still queued.
    Unplugged,
}

#[derive(Debug)]
struct ActiveRole {
    role: Box<dyn Role>,
    digest: [u8; 32],
    manifest_json: Bytes,
    clock_khz: u32,
    /// That it has broken a rule was announced since the last launch.
    failed: bool,
}

impl Card {
    /// A card that has just been switched on: no role, no claim, memory all zero. `sandbox` runs its roles.
    ///
    /// # Errors
    /// If the configuration is out of range or the memory cannot be reserved.
    pub fn new(config: Config, sandbox: Arc<dyn Sandbox>) -> Result<Self, ConfigError> {
        config.validate()?;
        let ddr = sandbox.memory(config.memory)?;
        let mut shell = Shell::new(config);
        let session = Session::new(&mut shell);
        let flash = shell.config.flash.map(Flash::new);
        let nic = shell.config.nic.map(|nic| NicPath::new(nic, shell.config.mac, &shell.config.ports));
        let guard = shell.config.keys.as_ref().map(Guard::new);
        // The bridge's frames have no tags: a card with a key has no part in it.
        shell.config.bridge &= guard.is_none();
        let bridge = Bridge::new(&shell.config);
        let collectives = Collectives::new(&shell.config);
        Ok(Self {
            shell,
            sandbox,
            ddr,
            power: Power::Off,
            session,
            loader: Loader::new(),
            memory: Memory::new(),
            launches: Launches::new(),
            results: Results::new(),
            role: None,
            flash,
            nic,
            bridge,
            guard,
            collectives,
            zeroed_at: None,
            awaits_memory: false,
        })
    }

    /// Leaves the network in good order: says goodbye, and from then on neither hears nor says anything. Poll it empty.
    pub fn unplug(&mut self, now: Instant) {
        let owner = self.witness();
        self.end_claim(now, ReleaseReason::Released);
        for to in owner.into_iter().chain([HOSTS]) {
            self.shell.send(self.shell.head(to, Kind::DiscoveryGoodbye, 0, 0), &[]);
        }
        self.role = None;
        self.power = Power::Unplugged;
    }

    /// Somebody gives the device the command REFRESH, or takes its power away and gives it back: it boots from its
    /// configuration flash. A card without one does nothing.
    pub fn refresh(&mut self, now: Instant) {
        if self.wake(now) && self.flash.is_some() {
            self.reboot(now);
        }
    }

    /// Its configuration.
    pub const fn config(&self) -> &Config {
        &self.shell.config
    }

    /// Its memory. Whoever writes to it from outside does what no host can.
    pub fn ddr(&self) -> &dyn role::Memory {
        &*self.ddr
    }

    /// Its counters.
    pub const fn counters(&self) -> &Counters {
        &self.shell.counters
    }

    /// What became of the frames of the host behind it; `None` if it has none.
    pub fn nic_counters(&self) -> Option<NicCounters> {
        self.nic.as_ref().map(NicPath::counters)
    }

    /// What it is doing.
    pub fn state(&self) -> CardState {
        if self.is_faulty() {
            CardState::Faulty
        } else if self.loader.is_configuring() {
            CardState::Configuring
        } else if self.launches.is_running() {
            CardState::Running
        } else if self.loader.is_loading() {
            CardState::Loading
        } else if self.role.is_some() {
            CardState::Active
        } else if self.flash.as_ref().is_some_and(Flash::awaits_restart) {
            CardState::Written
        } else {
            CardState::Empty
        }
    }

    /// The present claim's epoch; `None` without a claim.
    pub fn epoch(&self) -> Option<u16> {
        self.session.claim().map(|c| c.epoch)
    }

    /// The present claim's owner.
    pub fn owner(&self) -> Option<MacAddr> {
        self.session.claim().map(|c| c.owner)
    }

    /// Digest of the active image.
    pub fn active_digest(&self) -> Option<[u8; 32]> {
        self.role.as_ref().map(|r| r.digest)
    }

    /// Launches accepted and not finished.
    pub fn launches_queued(&self) -> usize {
        self.launches.queued() + self.collectives.as_ref().map_or(0, Collectives::queued)
    }

    /// Bytes that its queues, tables and staging area hold: without DDR, role and sandbox.
    pub fn memory_in_use(&self) -> usize {
        let nic = self.nic.as_ref().map_or(0, NicPath::bytes);
        let bridge = self.bridge.as_ref().map_or(0, |bridge| bridge.endpoint.bytes());
        let links = self.collectives.as_ref().map_or(0, Collectives::bytes);
        let blocks =
            links + bridge + self.loader.bytes() + self.memory.bytes() + self.launches.bytes() + self.results.bytes();
        self.shell.bytes() + nic + blocks
    }

    /// Events that were lost because nobody polled.
    pub const fn events_lost(&self) -> u64 {
        self.shell.events_lost()
    }

    /// Whether its memory cannot be used.
    fn is_faulty(&self) -> bool {
        !self.shell.config.trained || (self.awaits_memory && !self.ddr.answers())
    }

    /// Asserts everything that must be true between two calls.
    ///
    /// # Panics
    /// If something is not: a bug of this crate.
    pub fn check_invariants(&self) {
        self.shell.check_invariants();
        self.session.check_invariants();
        self.loader.check_invariants();
        self.memory.check_invariants();
        self.launches.check_invariants();
        self.results.check_invariants();
        self.nic.iter().for_each(NicPath::check_invariants);
        self.bridge.iter().for_each(|bridge| bridge.endpoint.check_invariants());
        self.collectives.iter().for_each(Collectives::check_invariants);
        if let Power::On { discovery, .. } = &self.power {
            discovery.check_invariants();
        }
        assert!(self.launches_queued() + self.results.kept() <= wire::RESULTS_KEPT as usize);
        assert!(!self.launches.is_running() || self.role.is_some());
        assert!(!self.loader.is_configuring() || self.role.is_none());
        assert!(self.zeroed_at.is_some() || !self.session.is_awaited());
        assert!(self.zeroed_at.is_none() || self.session.claim().is_none());
        if self.session.claim().is_none() {
            assert_eq!(self.launches_queued() + self.results.kept(), 0);
            assert!(self.loader.group().is_none());
        }
    }

    /// Switches on at the first call; false when unplugged.
    fn wake(&mut self, now: Instant) -> bool {
        match self.power {
            Power::On { .. } => true,
            Power::Unplugged => false,
            Power::Booting { until } if now < until => false,
            Power::Off | Power::Booting { .. } => {
                self.switch_on(now, AnnounceReason::LinkUp);
                true
            }
        }
    }

    fn switch_on(&mut self, now: Instant, reason: AnnounceReason) {
        self.power = Power::On { boot: now, discovery: Discovery::new(now, &mut self.shell, reason) };
        self.settle(now);
    }

    const fn boot(&self) -> Instant {
        match self.power {
            Power::On { boot, .. } => boot,
            Power::Off | Power::Booting { .. } | Power::Unplugged => Instant::ZERO,
        }
    }

    fn keep(&mut self, now: Instant, ended: &Ended) {
        let boot = self.boot();
        self.results.push(now, &self.shell, boot, self.session.claim(), ended);
    }

    /// Ends all launches; their outcome is kept for the host.
    fn cancel_launches(&mut self, now: Instant) {
        let role = role_mut(&mut self.role);
        for ended in self.launches.cancel_all(now, &mut self.shell, role) {
            self.keep(now, &ended);
        }
    }

    /// Ends the present claim, if there is one, and everything that belongs to it.
    fn end_claim(&mut self, now: Instant, reason: ReleaseReason) {
        if let Some(claim) = self.session.end() {
            self.guard.iter_mut().for_each(Guard::end);
            self.cancel_launches(now);
            if let Some(active) = &mut self.role {
                active.role.reset();
            }
            self.results = Results::new();
            self.launches = Launches::new();
            self.memory = Memory::new();
            self.loader.forget();
            Bridge::end_of(&mut self.bridge);
            Collectives::end_of(&mut self.collectives, now);
            self.shell.event(CardEvent::Released { owner: claim.owner, epoch: claim.epoch, reason });
            self.tell_change();
        }
    }

    fn expire(&mut self, now: Instant) {
        if self.session.is_over(now) {
            self.shell.counters.inc(Counter::LeasesExpired);
            self.end_claim(now, ReleaseReason::Expired);
        }
    }

    fn activate(&mut self, now: Instant) {
        let Some((ready, how)) = self.loader.take_configured(now) else { return };
        if let Some(flash) = self.flash.as_mut().filter(|f| !f.has_booted(&ready.digest)) {
            flash.write(now, ready.digest);
            self.shell.has_run(ready.release);
            self.shell.event(CardEvent::Flashed { digest: ready.digest });
            self.loader.written(now, &mut self.shell, how, flash.restart());
            return self.tell_change();
        }
        let result = ready.prepared.activate(&self.ddr).map(|role| {
            self.role = Some(ActiveRole {
                role,
                digest: ready.digest,
                manifest_json: ready.manifest_json,
                clock_khz: ready.clock_khz,
                failed: false,
            });
        });
        if let Err(e) = &result {
            // The machine that runs the model is out of memory: the card is left without a role, as after power-up.
            self.shell.counters.inc(Counter::ImagesFailed);
            self.shell.event(CardEvent::LoadFailed { code: ErrorCode::Busy, text: e.to_string() });
        } else {
            self.shell.counters.inc(Counter::ImagesActivated);
            self.shell.has_run(ready.release);
            self.shell.event(CardEvent::Activated { digest: ready.digest });
        }
        self.loader.configured(now, &mut self.shell, how, result);
        self.tell_change();
    }

    /// When the device leaves what it runs.
    fn leaves_at(&self) -> Option<Instant> {
        self.flash.as_ref().and_then(Flash::leaves_at)
    }

    const fn tell_change(&mut self) {
        if let Power::On { discovery, .. } = &mut self.power {
            discovery.change();
        }
    }

    /// Does what has become possible or due: bounded work.
    fn settle(&mut self, now: Instant) {
        self.end_zeroing(now);
        if self.shell.memory_failed {
            return self.restart(now);
        }
        if self.leaves_at().is_some_and(|at| at <= now) {
            return self.reboot(now);
        }
        self.activate(now);
        if let Some(active) = &mut self.role
            && let Some(ended) = self.launches.start(now, &mut self.shell, &mut *active.role, active.clock_khz)
        {
            self.keep(now, &ended);
        }
        self.deliver_streams(now);
        self.end_programs(now);
        self.loader.timeout(now, &mut self.shell);
        let facts = self.facts();
        if let Power::On { discovery, .. } = &mut self.power {
            discovery.timeout(now, &mut self.shell, &facts);
        }
    }

    fn facts(&self) -> Facts {
        Facts {
            state: self.state(),
            owner: self.owner().unwrap_or(MacAddr::ZERO),
            witness: self.witness(),
            epoch: self.epoch().unwrap_or(0),
            digest: self.active_digest().unwrap_or([0; 32]),
            kernels: self.role.as_ref().map_or(0, |r| u8::try_from(r.role.kernels().len()).expect("at most 64")),
            clock_khz: self.role.as_ref().map_or(self.shell.config.clock_khz, |r| r.clock_khz),
        }
    }
}

impl Node for Card {
    type Event = CardEvent;

    fn handle_frame(&mut self, now: Instant, port: Port, frame: Frame) {
        if !self.wake(now) {
            return;
        }
        self.take(now, port, frame);
    }

    fn handle_starvation(&mut self) {
        if let Some(bridge) = &mut self.bridge {
            bridge.endpoint.handle_starvation();
        }
        self.collectives.iter_mut().for_each(Collectives::handle_starvation);
    }

    fn handle_timeout(&mut self, now: Instant) {
        if !self.wake(now) {
            return;
        }
        self.expire(now);
        self.loader.work(now, &mut self.shell, &*self.sandbox, self.ddr.len());
        if let Some(active) = &mut self.role
            && let Some(ended) = self.launches.step(now, &mut self.shell, &mut *active.role, active.clock_khz)
        {
            self.keep(now, &ended);
        }
        if let Some(active) = &mut self.role
            && active.role.next_deadline().is_some_and(|at| at <= now)
        {
            active.role.handle_timeout(now);
        }
        self.results.timeout(now);
        if let Some(bridge) = &mut self.bridge {
            bridge.endpoint.handle_timeout(now);
        }
        self.collectives.iter_mut().for_each(|collectives| collectives.handle_timeout(now));
        self.settle(now);
    }

    fn poll(&mut self, now: Instant) -> Option<Output<CardEvent>> {
        self.wake(now);
        if let Some(event) = self.shell.next_event() {
            return Some(Output::Event(event));
        }
        self.next_output(now)
    }

    fn next_deadline(&self) -> Option<Instant> {
        let discovery = match &self.power {
            Power::Off => return Some(Instant::ZERO),
            Power::Unplugged => return None,
            Power::Booting { until } => return Some(*until),
            Power::On { discovery, .. } => discovery.deadline(),
        };
        [
            discovery,
            self.leaves_at(),
            self.session.deadline(),
            self.zeroed_at,
            self.loader.deadline(&self.shell.config),
            self.memory.deadline(),
            self.launches.deadline(),
            self.results.deadline(),
            self.bridge.as_ref().and_then(|bridge| bridge.endpoint.deadline()),
            self.collectives.as_ref().and_then(Collectives::deadline),
            self.role.as_ref().and_then(|active| active.role.next_deadline()),
        ]
        .into_iter()
        .fold(None, earlier)
    }
}

fn role_mut(role: &mut Option<ActiveRole>) -> Option<&mut dyn Role> {
    match role {
        Some(active) => Some(&mut *active.role),
        None => None,
    }
}
