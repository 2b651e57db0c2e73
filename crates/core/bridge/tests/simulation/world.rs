//! Nodes and a bad network between them, in virtual time.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use bytes::Bytes;
use rackloom_bridge::{Endpoint, EndpointEvent, Rights, Window};
use rackloom_node::{Duration, Instant, Rng};
use rackloom_wire::MacAddr;

use crate::ledger::{Ledger, PRIVATE, READ_ONLY, SHARED, address};
use crate::messages::Messages;
use crate::plan::{EPOCH_STEP, Plan, RTT, mac, node_of};
use crate::stats::Stats;
use crate::work;

/// A known bug for all nodes to suffer from.
#[cfg(feature = "planted-bugs")]
pub type Bug = rackloom_bridge::PlantedBug;
#[cfg(not(feature = "planted-bugs"))]
pub type Bug = core::convert::Infallible;

#[derive(Debug)]
enum Event {
    Arrive {
        from: usize,
        to: usize,
        frame: Bytes,
    },
    /// The node's owner has something to do.
    Work {
        node: usize,
    },
    /// The node's owner looks at its messages.
    Take {
        node: usize,
    },
    /// The node's wire has room again.
    Send {
        node: usize,
    },
    Restart,
    Silence,
    Speak {
        node: usize,
    },
    Die,
    Calm,
}

struct Node {
    endpoint: Endpoint,
    life: u32,
    epoch: u32,
    is_silent: bool,
    requests: u32,
    messages: u32,
}

/// Points in time at which anything happens, at most: a run takes some tens of thousands.
const STEPS_MAX: u32 = 2_000_000;
/// Pieces of a peer's messages that wait, at most: as many of its present life as it has credit for, and of lives
/// before.
const PIECES_HELD: usize = 2 * 96;

struct World<'a> {
    plan: &'a Plan,
    #[cfg_attr(not(feature = "planted-bugs"), expect(dead_code, reason = "there is none"))]
    bug: Option<Bug>,
    rng: Rng,
    now: Instant,
    events: BTreeMap<(Instant, u64), Event>,
    scheduled: u64,
    nodes: Vec<Node>,
    /// Nodes that may have frames and events to give.
    touched: BTreeSet<usize>,
    is_calm: bool,
    dead: Option<usize>,
    ledger: Ledger,
    messages: Messages,
    hash: DefaultHasher,
    stats: Stats,
}

/// Runs a plan to its end.
///
/// # Errors
/// What an oracle objected to.
pub fn run(plan: &Plan, bug: Option<Bug>) -> Result<Stats, String> {
    let mut world = World::new(plan, bug);
    world.run()?;
    world.finish()
}

impl<'a> World<'a> {
    fn new(plan: &'a Plan, bug: Option<Bug>) -> Self {
        let node = |i: usize| Node {
            endpoint: Endpoint::new(plan.config(i, plan.epochs[i])),
            life: 1,
            epoch: plan.epochs[i],
            is_silent: false,
            requests: plan.requests,
            messages: plan.messages,
        };
        let mut world = Self {
            plan,
            bug,
            rng: Rng::new(plan.seed ^ 0x5EED),
            now: Instant::ZERO,
            events: BTreeMap::new(),
            scheduled: 0,
            nodes: (0..plan.nodes).map(node).collect(),
            touched: BTreeSet::new(),
            is_calm: false,
            dead: None,
            ledger: Ledger::new(plan),
            messages: Messages::new(plan),
            hash: DefaultHasher::new(),
            stats: Stats::default(),
        };
        let calm_ns = plan.calm_at.as_nanos() as u64;
        let faults = (0..plan.restarts).map(|_| Event::Restart).chain((0..plan.silences).map(|_| Event::Silence));
        for fault in faults.chain(plan.one_dies.then_some(Event::Die)) {
            let at = Duration::from_nanos(world.rng.below(calm_ns));
            world.schedule(at, fault);
        }
        world.schedule(plan.calm_at, Event::Calm);
        for node in 0..plan.nodes {
            world.begin_life(node);
            world.schedule(Duration::ZERO, Event::Work { node });
            world.schedule(Duration::ZERO, Event::Take { node });
        }
        world
    }

    fn schedule(&mut self, after: Duration, event: Event) {
        self.scheduled += 1;
        self.events.insert((self.now + after, self.scheduled), event);
    }

    /// A node starts, with nothing but its epoch and its memory.
    fn begin_life(&mut self, node: usize) {
        let mut endpoint = Endpoint::new(self.plan.config(node, self.nodes[node].epoch));
        #[cfg(feature = "planted-bugs")]
        if let Some(bug) = self.bug {
            endpoint.plant(bug);
        }
        let rw = Rights::READ | Rights::WRITE | Rights::ATOMIC;
        let mut open = |number: u64, region: u8, peer, rights| {
            let window = Window { base: address(region, 0, 0), length: 1 << 56, peer, rights };
            assert!(endpoint.windows().set(number, Some(window)));
        };
        open(0, SHARED, MacAddr::ZERO, rw);
        open(1, READ_ONLY, MacAddr::ZERO, Rights::READ);
        for peer in self.plan.peers(node) {
            if let Some(region) = self.ledger.private(node, peer) {
                open(u64::from(region - PRIVATE) + 2, region, mac(peer), rw);
            }
        }
        let streams = Window { base: 0, length: work::STREAMS.into(), peer: MacAddr::ZERO, rights: Rights::STREAM };
        assert!(endpoint.windows().set(15, Some(streams)));
        self.nodes[node].endpoint = endpoint;
    }

    fn run(&mut self) -> Result<(), String> {
        // The longest silence, and what everybody needs to find out; then the same for what waited for that, in turns
        // of as many requests as may be under way.
        let turns = 4 + self.plan.requests / 32;
        let end = Instant::ZERO + self.plan.calm_at * 2 + self.plan.silence_max + self.plan.patience * turns;
        let mut steps = 0;
        loop {
            self.serve_touched()?;
            if self.is_over() {
                return Ok(());
            }
            let deadline = self.nodes.iter().filter_map(|n| n.endpoint.deadline()).min();
            let event = self.events.keys().next().map(|(at, _)| *at);
            let next = [deadline, event].into_iter().flatten().min().expect("owners look for ever").max(self.now);
            steps += 1;
            if next > end || steps > STEPS_MAX {
                let (requests, messages) = (self.ledger.open(), self.messages.owed());
                return Err(format!("{requests} requests and {messages} messages are owed at {:?}", self.now));
            }
            self.now = next;
            for (i, node) in self.nodes.iter_mut().enumerate() {
                if node.endpoint.deadline().is_some_and(|at| at <= self.now) {
                    node.endpoint.handle_timeout(self.now);
                    self.touched.insert(i);
                }
            }
            while let Some(entry) = self.events.first_entry().filter(|e| e.key().0 <= self.now) {
                let event = entry.remove();
                self.handle(event)?;
            }
        }
    }

    fn is_over(&self) -> bool {
        let at_rest = |n: &Node| n.requests == 0 && n.messages == 0 && n.endpoint.inboxes() == 0;
        self.is_calm && self.ledger.open() == 0 && self.messages.owed() == 0 && self.nodes.iter().all(at_rest)
    }

    fn finish(mut self) -> Result<Stats, String> {
        self.ledger.check_sums();
        if let Some(why) = self.ledger.objection {
            return Err(why);
        }
        for node in &self.nodes {
            self.stats.count(node.endpoint.counters());
        }
        self.stats.ended_ns = self.now.as_nanos();
        (self.stats.taken, self.stats.losses) = (self.messages.taken, self.messages.losses);
        self.stats.tally(self.ledger.tally);
        self.stats.hash = self.hash.finish();
        Ok(self.stats)
    }

    /// Sends what nodes have to send, and hears their events.
    fn serve_touched(&mut self) -> Result<(), String> {
        while let Some(node) = self.touched.pop_first() {
            let mut slots = self.plan.wire_slots.unwrap_or(10_000);
            while slots > 0
                && let Some(frame) = self.nodes[node].endpoint.poll(self.now)
            {
                slots -= 1;
                self.send(node, frame);
            }
            match (slots, self.plan.wire_slots) {
                (0, None) => return Err(format!("node {node} sends without end")),
                (0, Some(_)) => self.schedule(Duration::from_micros(2), Event::Send { node }),
                _ => {}
            }
            while let Some(event) = self.nodes[node].endpoint.next_event() {
                match event {
                    EndpointEvent::Done { ticket, result } => {
                        (node, format!("{ticket:?}")).hash(&mut self.hash);
                        self.ledger.end(node, ticket, result);
                    }
                    EndpointEvent::StreamsLost { peer } => self.messages.lose(node, node_of(peer))?,
                }
            }
            self.nodes[node].endpoint.check_invariants();
            if let Some(why) = self.ledger.objection.take() {
                return Err(why);
            }
        }
        Ok(())
    }

    fn send(&mut self, from: usize, mut frame: Bytes) {
        (self.now, from, &frame).hash(&mut self.hash);
        let to = usize::from(frame[5]);
        let faulty = !self.is_calm;
        if self.nodes[from].is_silent || faulty && self.rng.chance(self.plan.loss) {
            return;
        }
        if faulty && self.rng.chance(self.plan.damage) {
            self.stats.damaged += 1;
            // The check sequence is wrong then; where it misses that, the parser gets the frame.
            if !self.plan.rots || !self.rng.chance(0.125) {
                return;
            }
            let mut bytes = frame.to_vec();
            let at = self.rng.below(bytes.len().min(160) as u64) as usize;
            bytes[at] ^= 1 + self.rng.below(255) as u8;
            frame = bytes.into();
            self.stats.rotten += 1;
        }
        let copies = if faulty && self.rng.chance(self.plan.duplication) { 2 } else { 1 };
        for _ in 0..copies {
            let mut delay = RTT / 2;
            if faulty && self.rng.chance(self.plan.reordering) {
                delay += Duration::from_nanos(self.rng.below(self.plan.delay_max.as_nanos() as u64));
            }
            self.schedule(delay, Event::Arrive { from, to, frame: frame.clone() });
        }
    }

    fn handle(&mut self, event: Event) -> Result<(), String> {
        match event {
            Event::Arrive { from, to, frame } => {
                if !self.nodes[to].is_silent {
                    let memory = &mut self.ledger.memory(to, from);
                    self.nodes[to].endpoint.handle_frame(self.now, &frame, memory);
                    self.touched.insert(to);
                }
            }
            Event::Work { node } => self.work(node)?,
            Event::Take { node } => self.take(node)?,
            Event::Send { node } => drop(self.touched.insert(node)),
            Event::Restart => {
                let node = self.any_node();
                self.restart(node);
            }
            Event::Silence => {
                let node = self.any_node();
                self.nodes[node].is_silent = true;
                let time = Duration::from_nanos(self.rng.below(self.plan.silence_max.as_nanos() as u64));
                self.schedule(time, Event::Speak { node });
            }
            Event::Speak { node } => self.nodes[node].is_silent = self.dead == Some(node),
            Event::Die => {
                let node = self.plan.nodes - 1;
                (self.dead, self.nodes[node].is_silent) = (Some(node), true);
                // It never hears of its own fate; whoever waits for it does.
                self.messages.restart(node);
            }
            Event::Calm => self.is_calm = true,
        }
        Ok(())
    }

    fn any_node(&mut self) -> usize {
        self.rng.below(self.nodes.len() as u64) as usize
    }

    fn work(&mut self, node: usize) -> Result<(), String> {
        let peers = self.plan.peers(node);
        let burst = 1 + self.rng.below(24);
        for _ in 0..burst {
            let Node { endpoint, life, requests, messages, .. } = &mut self.nodes[node];
            let to = peers[self.rng.below(peers.len() as u64) as usize];
            let sends = *messages > 0 && self.rng.chance(0.1);
            if sends {
                let done = work::send(self.plan, &mut self.rng, &mut self.messages, (node, endpoint), to, self.now)?;
                *messages -= u32::from(done);
                if self.dead.is_some_and(|dead| dead == node || dead == to) {
                    self.messages.restart(self.plan.nodes - 1);
                }
            } else if *requests > 0 {
                let from = (node, *life, endpoint);
                let done = work::ask(self.plan, &mut self.rng, &mut self.ledger, from, to, self.now)?;
                *requests -= u32::from(done);
            }
        }
        self.touched.insert(node);
        if self.nodes[node].requests + self.nodes[node].messages > 0 {
            // Some of it comes after the faults.
            let pause = self.plan.calm_at.as_nanos() as u64 / 12;
            let after = Duration::from_nanos(self.rng.below(pause));
            self.schedule(after, Event::Work { node });
        }
        Ok(())
    }

    fn take(&mut self, node: usize) -> Result<(), String> {
        let endpoint = &mut self.nodes[node].endpoint;
        let held = self.plan.ends.iter().map(|e| usize::from(e.longest)).max().unwrap_or(0) * PIECES_HELD;
        if endpoint.bytes() > held * self.plan.peers(node).len() {
            return Err(format!("node {node} holds {} bytes of messages", endpoint.bytes()));
        }
        for _ in 0..self.rng.below(6) {
            if self.rng.chance(0.2) {
                endpoint.skip_message();
            }
            if let Some((peer, stream, bytes)) = endpoint.take_message(self.now) {
                (node, stream, &bytes).hash(&mut self.hash);
                self.messages.take(node_of(peer), node, stream, &bytes)?;
            }
        }
        self.touched.insert(node);
        let late = if self.is_calm { 50_000 } else { self.plan.late_max.as_nanos() as u64 };
        let after = Duration::from_nanos(1 + self.rng.below(late));
        self.schedule(after, Event::Take { node });
        Ok(())
    }

    fn restart(&mut self, node: usize) {
        self.stats.restarts += 1;
        self.stats.count(self.nodes[node].endpoint.counters());
        self.ledger.restart(node);
        self.messages.restart(node);
        let n = &mut self.nodes[node];
        n.life += 1;
        let forgets = !self.plan.remembers;
        n.epoch = if forgets { (self.rng.next_u64() >> 34) as u32 } else { n.epoch.wrapping_add(EPOCH_STEP) }.max(1);
        self.begin_life(node);
    }
}
