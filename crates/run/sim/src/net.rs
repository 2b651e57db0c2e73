//! The network: nodes driven by one queue of events in virtual time.

use core::fmt;
use std::collections::VecDeque;

use rackloom_node::{Frame, Instant, Node, Output, Port};

use crate::fabric::{Fabric, Trace};
use crate::ids::{End, LinkId, NodeId, PipeId, SwitchId, Way};
use crate::queue::{Flight, Pipes, What};
use crate::slot::{HORIZON, Slot};
use crate::stats::{DropReason, LinkStats, NodeStats, SwitchStats};

/// A simulated network of nodes of type `N`: one type, or an enum of the kinds that take part.
///
/// Build it with [`add`](Self::add), [`switch`](Self::switch) and [`connect`](Self::connect); then call
/// [`run_until`](Self::run_until), act on the events it returns, and call it again. Change a node with
/// [`with`](Self::with), which also polls it. All of it can be done at any time: cards are plugged, pulled, crashed and
/// restarted while the network runs.
///
/// A node is polled after each frame and each timeout until it has nothing more to do, or its transmit queue is full.
pub struct Net<N: Node> {
    pub(crate) slots: Vec<Slot<N>>,
    pub(crate) fabric: Fabric,
    pub(crate) seed: u64,
    /// All nodes share the processors of one machine.
    pub(crate) one_machine: bool,
    /// What nodes told their owners and nobody has taken yet.
    events: VecDeque<(Instant, NodeId, N::Event)>,
    deliveries: u64,
}

impl<N: Node> Net<N> {
    /// An empty network; all faults are drawn from `seed`.
    pub fn new(seed: u64) -> Self {
        Self {
            slots: Vec::new(),
            fabric: Fabric::new(),
            seed,
            one_machine: false,
            events: VecDeque::new(),
            deliveries: 0,
        }
    }

    /// Virtual time.
    pub fn now(&self) -> Instant {
        self.fabric.now
    }

    /// Runs until a node tells something, and returns it with its time; `None` when nothing is left up to and including
    /// `limit`, which is then the time.
    ///
    /// ```text
    /// while let Some((at, id, event)) = net.run_until(end) { ... }
    /// ```
    pub fn run_until(&mut self, limit: Instant) -> Option<(Instant, NodeId, N::Event)> {
        assert!(limit <= HORIZON, "virtual time ends after 106 days");
        let event = self.next(limit);
        if event.is_none() {
            self.fabric.now = self.fabric.now.max(limit);
        }
        event
    }

    /// Runs until a node tells something; `None` when nothing is left to happen at all. It does not return while nodes
    /// keep setting deadlines and tell nothing: see [`run_until`](Self::run_until).
    pub fn step(&mut self) -> Option<(Instant, NodeId, N::Event)> {
        self.next(HORIZON)
    }

    fn next(&mut self, limit: Instant) -> Option<(Instant, NodeId, N::Event)> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(event);
            }
            let (at, seq, what) = self.fabric.queue.pop_until(limit)?;
            assert!(at >= self.fabric.now, "time goes back");
            self.fabric.now = at;
            match what {
                What::Arrival(number) => self.arrive(number),
                What::Head(pipe) => {
                    if let Some(frame) = self.fabric.head(pipe, seq) {
                        let digest = self.fabric.digest(&frame);
                        self.deliver(pipe, frame, digest);
                    }
                }
                What::Deadline(id, generation) => self.deadline(id, generation),
                What::Wake(id, generation) => self.wake(id, generation),
                What::Serve(id, generation) => self.serve(id, generation),
            }
        }
    }

    /// The node in place `id`. Panics if it was taken out.
    pub fn node(&self, id: NodeId) -> &N {
        self.slots[id.index()].node.as_ref().expect("the node was taken out")
    }

    /// The node in place `id`, to be changed; call [`kick`](Self::kick) afterwards. Panics if it was taken out.
    pub fn node_mut(&mut self, id: NodeId) -> &mut N {
        self.slots[id.index()].node.as_mut().expect("the node was taken out")
    }

    /// Whether a node stands in place `id`.
    pub fn is_on(&self, id: NodeId) -> bool {
        self.slots[id.index()].node.is_some()
    }

    /// Polls a node that was changed from outside, sends what it transmits and notes its deadline.
    pub fn kick(&mut self, id: NodeId) {
        self.pump(id);
    }

    /// Changes a node and [`kick`](Self::kick)s it. Panics if it was taken out.
    pub fn with<R>(&mut self, id: NodeId, change: impl FnOnce(&mut N, Instant) -> R) -> R {
        let now = self.fabric.now;
        let result = change(self.node_mut(id), now);
        self.pump(id);
        result
    }

    /// All nodes that are on.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &N)> {
        self.slots.iter().zip(0..).filter_map(|(slot, i)| Some((NodeId(i), slot.node.as_ref()?)))
    }

    fn arrive(&mut self, number: u32) {
        let Flight { frame, to, .. } = self.fabric.flights.take(number);
        match to {
            Pipes::None => {}
            Pipes::One(pipe) => {
                let digest = self.fabric.digest(&frame);
                self.deliver(pipe, frame, digest);
            }
            Pipes::Many(list) => {
                let digest = self.fabric.digest(&frame);
                for pipe in &list {
                    self.deliver(*pipe, frame.clone(), digest);
                }
                self.fabric.flights.give_back(list);
            }
        }
    }

    fn deliver(&mut self, pipe: PipeId, frame: Frame, digest: u64) {
        if let End::Node(id, _) = self.fabric.pipes[pipe.index()].to
            && self.slots[id.index()].node.is_none()
        {
            self.fabric.pipes[pipe.index()].lose(DropReason::Absent);
            self.fabric.trace(Trace::Dropped, pipe.0, DropReason::Absent as u64);
            return;
        }
        self.deliveries += 1;
        match self.fabric.receive(pipe, &frame, digest) {
            End::Switch(id, port) => self.fabric.forward(id, port, frame),
            End::Node(id, port) => self.come(id, port, frame),
        }
    }

    /// A frame has come out of a cable at a node.
    fn come(&mut self, id: NodeId, port: Port, frame: Frame) {
        let slot = &mut self.slots[id.index()];
        if !slot.backlog.keeps() {
            return self.handle_frame(id, port, frame);
        }
        slot.stats.waited += 1;
        if !slot.backlog.push(self.fabric.now, port, frame) {
            slot.stats.unread_lost += 1;
        }
    }

    pub(crate) fn handle_frame(&mut self, id: NodeId, port: Port, frame: Frame) {
        let slot = &mut self.slots[id.index()];
        slot.stats.frames += 1;
        if let Some(node) = &mut slot.node {
            node.handle_frame(self.fabric.now, port, frame);
        }
        self.pump(id);
    }

    fn deadline(&mut self, id: NodeId, generation: u32) {
        let now = self.fabric.now;
        let others_starve = self.others_starve(id);
        let slot = &mut self.slots[id.index()];
        if slot.generation != generation {
            return;
        }
        // Without a processor nothing is due: what has passed is served when there is one again.
        if slot.ring(now) && !slot.backlog.is_starved() {
            slot.count_timeout(id, now);
            self.fabric.trace(Trace::Timeout, id.0, 0);
            if let Some(node) = &mut slot.node {
                if others_starve {
                    node.handle_starvation();
                }
                node.handle_timeout(now);
            }
        }
        self.pump(id);
    }

    fn wake(&mut self, id: NodeId, generation: u32) {
        let slot = &mut self.slots[id.index()];
        if slot.generation != generation {
            return;
        }
        slot.held = false;
        self.hold_if_full(id);
        self.pump(id);
    }

    /// Polls a node until it has nothing more to do or must wait for a transmit queue, if it has a processor.
    pub(crate) fn pump(&mut self, id: NodeId) {
        if self.is_starved(id) {
            return;
        }
        let now = self.fabric.now;
        while !self.slots[id.index()].held {
            let slot = &mut self.slots[id.index()];
            let Some(node) = &mut slot.node else { return };
            match node.poll(now) {
                None => break,
                Some(Output::Event(event)) => {
                    self.fabric.trace(Trace::Event, id.0, 0);
                    self.events.push_back((now, id, event));
                }
                Some(Output::Transmit(port, frame)) => match slot.egress(port) {
                    None => slot.stats.unplugged += 1,
                    Some(pipe) => {
                        self.fabric.transmit(pipe, frame);
                        if self.fabric.pipes[pipe.index()].full_until(now.as_nanos()).is_some() {
                            self.hold_if_full(id);
                        }
                    }
                },
            }
        }
        let slot = &mut self.slots[id.index()];
        if let Some(at) = slot.arm(now) {
            let generation = slot.generation;
            self.fabric.queue.push(at, What::Deadline(id, generation));
        }
    }

    /// Leaves a node unpolled while any of its queues is full: a poll does not say beforehand which port it will use.
    fn hold_if_full(&mut self, id: NodeId) {
        let now_ns = self.fabric.now.as_nanos();
        let slot = &mut self.slots[id.index()];
        let full = |pipe: &PipeId| self.fabric.pipes[pipe.index()].full_until(now_ns);
        if let Some(until) = slot.ports.iter().flatten().filter_map(full).max() {
            slot.held = true;
            slot.stats.held += 1;
            self.fabric.queue.push(until, What::Wake(id, slot.generation));
        }
    }

    /// The hash of all that happened: deliveries with their frames, drops, timeouts, events and changes, each with its
    /// time and place. `None` if [`hash_off`](Self::hash_off) was called.
    pub fn event_hash(&self) -> Option<u64> {
        self.fabric.hash.map(|hash| hash.value())
    }

    /// Stops hashing, for studies that want the time.
    pub fn hash_off(&mut self) {
        self.fabric.hash = None;
    }

    /// Counters of one direction of a cable.
    pub fn link_stats(&self, link: LinkId, way: Way) -> LinkStats {
        self.fabric.pipes[link.pipe(way).index()].stats()
    }

    /// Counters of a switch.
    pub fn switch_stats(&self, id: SwitchId) -> SwitchStats {
        self.fabric.switches[id.0 as usize].stats
    }

    /// Counters of a node's place.
    pub fn node_stats(&self, id: NodeId) -> NodeStats {
        self.slots[id.index()].stats
    }

    /// Counters of all cables, both ways, those pulled too: the volume of the whole network.
    pub fn total_stats(&self) -> LinkStats {
        self.fabric.pipes.iter().fold(LinkStats::default(), |mut sum, pipe| {
            sum += pipe.stats();
            sum
        })
    }

    /// Frames that came out of cables, at switches and at nodes.
    pub fn deliveries(&self) -> u64 {
        self.deliveries
    }

    /// Entries in the event queue: arrivals, deadlines (some of them out of date), nodes to be polled.
    pub fn pending(&self) -> usize {
        self.fabric.queue.len()
    }

    /// Panics unless every frame is accounted for on every cable. For tests, after each step or at the end.
    pub fn check_invariants(&self) {
        for pipe in &self.fabric.pipes {
            pipe.stats.check();
        }
    }
}

impl<N: Node> fmt::Debug for Net<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Net")
            .field("now", &self.fabric.now)
            .field("seed", &self.seed)
            .field("nodes", &self.slots.len())
            .field("switches", &self.fabric.switches.len())
            .field("links", &(self.fabric.pipes.len() / 2))
            .field("pending", &self.pending())
            .finish_non_exhaustive()
    }
}
