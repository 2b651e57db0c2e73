//! Nodes, a bad network between them, and an oracle that sees both ends.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::AddAssign;

use rackloom_node::{Duration, Instant, Rng};
use rackloom_transport::{Connection, Delivery, Segment};

use crate::plan::{PATIENCE, Plan, RTT};

/// A payload says who sent it, in which life, and which it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Payload {
    from: usize,
    to: usize,
    life: u32,
    id: u32,
}

/// A known bug for all nodes to suffer from.
#[cfg(feature = "planted-bugs")]
pub type Bug = rackloom_transport::PlantedBug;
#[cfg(not(feature = "planted-bugs"))]
pub type Bug = core::convert::Infallible;

/// What happened in a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    pub delivered: u64,
    pub resent: u64,
    /// Negative acknowledgements, and bitmaps beside others.
    pub nacks: u64,
    pub bitmaps: u64,
    /// Payloads that came out behind one that was missing.
    pub released: u64,
    pub duplicates: u64,
    pub restarts: u64,
    pub lost_to_restarts: u64,
    pub stale: u64,
    pub blocked: u64,
    pub wraps: u64,
    pub ended_ns: u64,
}

impl AddAssign for Stats {
    fn add_assign(&mut self, o: Self) {
        self.delivered += o.delivered;
        self.resent += o.resent;
        self.nacks += o.nacks;
        self.bitmaps += o.bitmaps;
        self.released += o.released;
        self.duplicates += o.duplicates;
        self.restarts += o.restarts;
        self.lost_to_restarts += o.lost_to_restarts;
        self.stale += o.stale;
        self.blocked += o.blocked;
        self.wraps += o.wraps;
        self.ended_ns = self.ended_ns.max(o.ended_ns);
    }
}

#[derive(Debug)]
enum Event {
    Arrive {
        from: usize,
        to: usize,
        segment: Segment<Payload>,
    },
    /// The node's owner takes what it was given by this peer.
    Consume {
        node: usize,
        peer: usize,
        generation: u64,
    },
    Restart,
    Silence,
    Speak {
        node: usize,
    },
    Calm,
}

#[derive(Debug, Default)]
struct Held {
    count: u32,
    generation: u64,
}

struct Node {
    /// How often it has started: the oracle's own count, which the transport does not see.
    life: u32,
    epoch: u32,
    is_silent: bool,
    peers: BTreeMap<usize, Connection<Payload>>,
}

/// Points in time at which anything happens, at most: a run takes some tens of thousands.
const STEPS_MAX: u32 = 1_000_000;

struct World<'a> {
    plan: &'a Plan,
    #[cfg(feature = "planted-bugs")]
    bug: Option<Bug>,
    rng: Rng,
    now: Instant,
    events: BTreeMap<(Instant, u64), Event>,
    scheduled: u64,
    nodes: Vec<Node>,
    is_calm: bool,
    /// Sent and neither delivered nor given up, by the sender's present life.
    owed: BTreeSet<Payload>,
    delivered: BTreeSet<Payload>,
    /// The payload that a node's present life was given last, by the life that sent it.
    last: BTreeMap<(usize, usize, u32), u32>,
    /// Newest life of a peer from which a node's present life was given something.
    newest: BTreeMap<(usize, usize), u32>,
    /// What number each payload had: sender, receiver, both epochs, number.
    numbers: BTreeMap<(usize, usize, u32, u32, u32), Payload>,
    /// Payloads that a node was given by a peer and has not consumed, since their numbers last began anew.
    held: BTreeMap<(usize, usize), Held>,
    generations: u64,
    stats: Stats,
}

/// Runs a plan to its end.
///
/// # Errors
/// What the oracle objected to.
pub fn run(plan: &Plan, bug: Option<Bug>) -> Result<Stats, String> {
    let mut world = World::new(plan, bug);
    world.run()?;
    Ok(world.stats)
}

impl<'a> World<'a> {
    fn new(plan: &'a Plan, bug: Option<Bug>) -> Self {
        #[cfg(not(feature = "planted-bugs"))]
        assert!(bug.is_none());
        let node = |epoch: &u32| Node { life: 1, epoch: *epoch, is_silent: false, peers: BTreeMap::new() };
        let mut world = Self {
            plan,
            #[cfg(feature = "planted-bugs")]
            bug,
            rng: Rng::new(plan.seed ^ 0x5EED),
            now: Instant::ZERO,
            events: BTreeMap::new(),
            scheduled: 0,
            nodes: plan.epochs.iter().map(node).collect(),
            is_calm: false,
            owed: BTreeSet::new(),
            delivered: BTreeSet::new(),
            last: BTreeMap::new(),
            newest: BTreeMap::new(),
            numbers: BTreeMap::new(),
            held: BTreeMap::new(),
            generations: 0,
            stats: Stats::default(),
        };
        let calm_ns = plan.calm_at.as_nanos() as u64;
        for _ in 0..plan.restarts {
            let at = Duration::from_nanos(world.rng.below(calm_ns / 4));
            world.schedule(at, Event::Restart);
        }
        for _ in 0..plan.silences {
            let at = Duration::from_nanos(world.rng.below(calm_ns / 2));
            world.schedule(at, Event::Silence);
        }
        world.schedule(plan.calm_at, Event::Calm);
        for node in 0..plan.nodes {
            world.begin_life(node);
        }
        world
    }

    fn schedule(&mut self, after: Duration, event: Event) {
        self.scheduled += 1;
        self.events.insert((self.now + after, self.scheduled), event);
    }

    /// A node starts with nothing but its epoch, and has its payloads to send.
    fn begin_life(&mut self, node: usize) {
        self.nodes[node].peers.clear();
        let life = self.nodes[node].life;
        for to in (0..self.plan.nodes).filter(|to| self.plan.are_peers(node, *to)) {
            let mut connection = Connection::new(self.now, self.plan.config(node), self.nodes[node].epoch);
            #[cfg(feature = "planted-bugs")]
            if let Some(bug) = self.bug {
                connection.plant(bug);
            }
            for id in 0..self.plan.payloads {
                let payload = Payload { from: node, to, life, id };
                connection.push(payload).expect("the queue holds them all");
                self.owed.insert(payload);
            }
            assert!(connection.push(Payload { from: node, to, life, id: 0 }).is_err(), "the queue is full");
            self.nodes[node].peers.insert(to, connection);
        }
    }

    fn run(&mut self) -> Result<(), String> {
        let end = Instant::ZERO + self.plan.calm_at + PATIENCE;
        let mut steps = 0;
        loop {
            self.send_all()?;
            let idle = self.nodes.iter().all(|n| n.peers.values().all(Connection::is_idle));
            if self.is_calm && idle && self.owed.is_empty() {
                self.stats.ended_ns = self.now.as_nanos();
                return Ok(());
            }
            let deadline = self.nodes.iter().flat_map(|n| n.peers.values()).filter_map(Connection::deadline).min();
            let event = self.events.keys().next().map(|(at, _)| *at);
            let Some(next) = [deadline, event].into_iter().flatten().min() else {
                return Err(format!("{} payloads are owed and nobody is going to do anything", self.owed.len()));
            };
            if next > end {
                return Err(format!("{} payloads are owed at the end of patience", self.owed.len()));
            }
            steps += 1;
            if steps > STEPS_MAX {
                return Err(format!("still at {:?} after {steps} steps", self.now));
            }
            self.now = self.now.max(next);
            for node in &mut self.nodes {
                node.peers.values_mut().for_each(|c| c.handle_timeout(self.now));
            }
            while let Some(entry) = self.events.first_entry().filter(|e| e.key().0 <= self.now) {
                let event = entry.remove();
                self.handle(event)?;
            }
        }
    }

    fn send_all(&mut self) -> Result<(), String> {
        for node in 0..self.nodes.len() {
            for to in (0..self.nodes.len()).filter(|to| self.plan.are_peers(node, *to)) {
                let mut polls = 0;
                while let Some(segment) = self.nodes[node].peers.get_mut(&to).and_then(|c| c.poll(self.now)) {
                    polls += 1;
                    if polls > 10_000 {
                        return Err(format!("node {node} sends without end"));
                    }
                    self.send(node, to, segment)?;
                }
                let connection = &self.nodes[node].peers[&to];
                connection.check_invariants();
                if connection.in_flight() > self.plan.config.window as usize {
                    return Err(format!("node {node} exceeds its window"));
                }
            }
        }
        Ok(())
    }

    fn send(&mut self, from: usize, to: usize, segment: Segment<Payload>) -> Result<(), String> {
        if let Some(data) = &segment.data {
            let key = (from, to, segment.src, segment.dst, data.seq);
            match self.numbers.insert(key, data.payload) {
                Some(before) if before != data.payload => {
                    return Err(format!("number {} was {before:?} and is {:?}", data.seq, data.payload));
                }
                Some(_) => self.stats.resent += 1,
                None => self.stats.wraps += u64::from(data.seq == 0),
            }
        } else if segment.asks && self.nodes[from].peers[&to].is_established() {
            self.stats.blocked += 1;
        }
        if let Some(ack) = &segment.ack {
            let has_bitmap = !ack.sack.is_contiguous();
            if has_bitmap && !self.plan.ends[to].1 {
                return Err(format!("node {from} sends node {to} a bitmap that it cannot read"));
            }
            if ack.is_nack && segment.data.is_some() {
                return Err(format!("node {from} sends a payload and a negative acknowledgement together"));
            }
            self.stats.nacks += u64::from(ack.is_nack);
            self.stats.bitmaps += u64::from(has_bitmap);
        }
        let faulty = !self.is_calm;
        if faulty && (self.rng.chance(self.plan.loss) || self.nodes[from].is_silent) {
            return Ok(());
        }
        let copies = if faulty && self.rng.chance(self.plan.duplication) { 2 } else { 1 };
        for _ in 0..copies {
            let mut delay = RTT / 2;
            if faulty && self.rng.chance(self.plan.reordering) {
                delay += Duration::from_nanos(self.rng.below(self.plan.delay_max.as_nanos() as u64));
            }
            self.schedule(delay, Event::Arrive { from, to, segment: segment.clone() });
        }
        self.stats.duplicates += copies - 1;
        Ok(())
    }

    fn handle(&mut self, event: Event) -> Result<(), String> {
        match event {
            Event::Arrive { from, to, segment } => {
                if !self.nodes[to].is_silent {
                    self.arrive(from, to, segment)?;
                }
            }
            Event::Consume { node, peer, generation } => {
                let held = self.held.get_mut(&(node, peer)).filter(|h| h.generation == generation);
                if let Some(held) = held {
                    held.count -= 1;
                    let now = self.now;
                    self.nodes[node].peers.get_mut(&peer).expect("all know each other").consume(now, 1);
                }
            }
            Event::Restart => {
                let node = self.rng.below(self.nodes.len() as u64) as usize;
                self.restart(node);
            }
            Event::Silence => {
                let node = self.rng.below(self.nodes.len() as u64) as usize;
                self.nodes[node].is_silent = true;
                let time = Duration::from_nanos(self.rng.below(self.plan.calm_at.as_nanos() as u64 / 2));
                self.schedule(time, Event::Speak { node });
            }
            Event::Speak { node } => self.nodes[node].is_silent = false,
            Event::Calm => {
                self.is_calm = true;
                self.nodes.iter_mut().for_each(|n| n.is_silent = false);
            }
        }
        Ok(())
    }

    fn restart(&mut self, node: usize) {
        self.stats.restarts += 1;
        // What it had to send is gone with it; what is on the way may arrive yet.
        self.owed.retain(|p| p.from != node);
        self.held.retain(|(n, _), _| *n != node);
        self.newest.retain(|(n, _), _| *n != node);
        self.last.retain(|(n, _, _), _| *n != node);
        let n = &mut self.nodes[node];
        n.life += 1;
        n.epoch = if self.plan.remembers { n.epoch.wrapping_add(1) } else { (self.rng.next_u64() >> 34) as u32 }.max(1);
        self.begin_life(node);
    }

    fn arrive(&mut self, from: usize, to: usize, segment: Segment<Payload>) -> Result<(), String> {
        let remote_life = self.newest.get(&(to, from)).copied().unwrap_or(0);
        let is_older = segment.data.as_ref().is_some_and(|d| d.payload.life < remote_life);
        let now = self.now;
        let connection = self.nodes[to].peers.get_mut(&from).expect("all know each other");
        let received = connection.handle(now, segment).map_err(|e| format!("node {to} of node {from}: {e}"))?;
        if received.restarted {
            self.generations += 1;
            self.held.insert((to, from), Held { count: 0, generation: self.generations });
        }
        self.stats.lost_to_restarts += received.lost.len() as u64;
        for lost in received.lost {
            self.owed.remove(&lost);
        }
        self.stats.stale += u64::from(is_older);
        self.stats.released += received.payloads.len().saturating_sub(1) as u64;
        received.payloads.into_iter().try_for_each(|payload| self.deliver(from, to, payload))
    }

    /// A node's owner is given a payload.
    fn deliver(&mut self, from: usize, to: usize, payload: Payload) -> Result<(), String> {
        if (payload.from, payload.to) != (from, to) {
            return Err(format!("{payload:?} arrived at node {to} from node {from}"));
        }
        let remote_life = self.newest.get(&(to, from)).copied().unwrap_or(0);
        if payload.life < remote_life && self.plan.remembers {
            return Err(format!("{payload:?} of an earlier life was delivered"));
        }
        if !self.delivered.insert(payload) {
            return Err(format!("{payload:?} was delivered twice"));
        }
        // That none is left out shows at the end, when none is owed.
        let before = self.last.insert((to, from, payload.life), payload.id);
        if self.plan.ends[to].0 != Delivery::AnyOrder && before.is_some_and(|id| id >= payload.id) {
            return Err(format!("{payload:?} was delivered out of order"));
        }
        self.owed.remove(&payload);
        self.stats.delivered += 1;
        self.newest.insert((to, from), remote_life.max(payload.life));
        let held = self.held.get_mut(&(to, from)).expect("numbers have begun");
        held.count += 1;
        if held.count > self.plan.config.credit {
            return Err(format!("node {to} was given {} payloads of node {from} that it has no room for", held.count));
        }
        let generation = held.generation;
        let after = Duration::from_nanos(self.rng.below(20_000));
        self.schedule(after, Event::Consume { node: to, peer: from, generation });
        Ok(())
    }
}
