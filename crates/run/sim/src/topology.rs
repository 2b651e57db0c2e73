//! What is plugged where, and how it changes while the network runs.

use rackloom_node::{Instant, Node, Rng};

use crate::capture::{Capture, Tap};
use crate::fabric::Trace;
use crate::faults::Faults;
use crate::ids::{End, LinkId, NodeId, PipeId, SwitchId, Way};
use crate::impair::Impair;
use crate::link::{Cable, Pipe, WhenFull};
use crate::net::Net;
use crate::queue::What;
use crate::slot::Slot;
use crate::stats::DropReason;
use crate::switch::{Switch, SwitchConfig};

impl<N: Node> Net<N> {
    /// Adds a node, without a cable yet. It is polled first when the network next runs, after all that is still set up
    /// now.
    pub fn add(&mut self, node: N) -> NodeId {
        let id = NodeId(u32::try_from(self.slots.len()).expect("fewer than 2^32 nodes"));
        self.slots.push(Slot::new(node));
        self.wake_soon(id);
        id
    }

    /// Takes a node out of its place: power off, or crash. Its deadlines are forgotten; its cables stay, and what
    /// arrives on them is dropped. What it has already handed to its NIC is still sent, unless the link is taken
    /// [`down`](Self::down).
    ///
    /// Panics if the place is empty.
    pub fn take(&mut self, id: NodeId) -> N {
        self.fabric.trace(Trace::Change, id.0, Change::Take as u64);
        self.slots[id.index()].take().expect("the node was taken out before")
    }

    /// Puts a node in an empty place: power on, or restart. It is polled first when the network next runs.
    ///
    /// Panics if the place is taken.
    pub fn put(&mut self, id: NodeId, node: N) {
        self.fabric.trace(Trace::Change, id.0, Change::Put as u64);
        let slot = &mut self.slots[id.index()];
        assert!(slot.node.is_none(), "{id} is still there");
        slot.node = Some(node);
        self.wake_soon(id);
    }

    /// Adds a switch, without cables yet.
    pub fn switch(&mut self, config: SwitchConfig) -> SwitchId {
        self.fabric.switches.push(Switch::new(config));
        SwitchId(u32::try_from(self.fabric.switches.len() - 1).expect("fewer than 2^32 switches"))
    }

    /// Plugs a cable in at both ends; it is up at once. [`Way::Forth`] is from `a` to `b`.
    ///
    /// Panics if an end is taken or does not exist, and if switches would form a loop: nothing here breaks one up, and
    /// a broadcast would go round for ever.
    pub fn connect(&mut self, a: impl Into<End>, b: impl Into<End>, cable: Cable) -> LinkId {
        let (a, b) = (a.into(), b.into());
        assert!(a != b, "a cable needs two ends");
        if let (End::Switch(from, _), End::Switch(to, _)) = (a, b) {
            assert!(!self.reaches(from, to), "a loop of switches");
        }
        let link = LinkId(u32::try_from(self.fabric.pipes.len() / 2).expect("fewer than 2^31 cables"));
        for (way, from, to) in [(Way::Forth, a, b), (Way::Back, b, a)] {
            let (queue_bytes, tail_drop) = match from {
                End::Node(..) => (cable.queue_bytes, cable.when_full == WhenFull::Drop),
                End::Switch(id, _) => (self.fabric.switches[id.0 as usize].config.queue_bytes, true),
            };
            self.fabric.pipes.push(Pipe::new(&cable, from, to, queue_bytes, tail_drop));
            let place = self.place(from);
            assert!(place.is_none(), "{from:?} has a cable already");
            *place = Some(link.pipe(way));
        }
        self.fabric.trace(Trace::Change, link.0, Change::Connect as u64);
        link
    }

    /// Connects `end` to the first free port of a switch. Panics if none is free.
    pub fn plug(&mut self, end: impl Into<End>, switch: SwitchId, cable: Cable) -> LinkId {
        let port = self.free_port(switch).expect("no free port");
        self.connect(end, End::Switch(switch, port), cable)
    }

    /// The first port of a switch without a cable.
    pub fn free_port(&self, switch: SwitchId) -> Option<u16> {
        let ports = &self.fabric.switches[switch.0 as usize].ports;
        ports.iter().zip(0..).find_map(|(pipe, port)| pipe.is_none().then_some(port))
    }

    /// Pulls a cable for good: as [`down`](Self::down), and both ends are free again.
    pub fn disconnect(&mut self, link: LinkId) {
        self.down(link);
        for way in Way::BOTH {
            let pipe = link.pipe(way);
            let from = self.fabric.pipes[pipe.index()].from;
            let place = self.place(from);
            if *place == Some(pipe) {
                *place = None;
            }
        }
    }

    /// Takes a cable down: what is on it and queued for it is lost, and switches forget who was behind it. Nodes get
    /// no notice; call those that would see it yourself.
    pub fn down(&mut self, link: LinkId) {
        self.fabric.trace(Trace::Change, link.0, Change::Down as u64);
        for way in Way::BOTH {
            let id = link.pipe(way);
            self.fabric.lose(id, 0, u64::MAX, DropReason::Down);
            let pipe = &mut self.fabric.pipes[id.index()];
            pipe.up = false;
            pipe.clear();
            match pipe.from {
                End::Switch(switch, port) => self.fabric.switches[switch.0 as usize].forget(port),
                // The queue is empty now: a node that waited for it need not.
                End::Node(node, _) => self.wake_soon(node),
            }
        }
    }

    /// Brings a cable up again. Panics if it was [`disconnect`](Self::disconnect)ed.
    pub fn up(&mut self, link: LinkId) {
        self.fabric.trace(Trace::Change, link.0, Change::Up as u64);
        for way in Way::BOTH {
            let pipe = link.pipe(way);
            let from = self.fabric.pipes[pipe.index()].from;
            assert_eq!(*self.place(from), Some(pipe), "the cable was pulled");
            self.fabric.pipes[pipe.index()].up = true;
        }
    }

    /// Whether a cable is up.
    pub fn is_up(&self, link: LinkId) -> bool {
        self.fabric.pipes[link.pipe(Way::Forth).index()].up
    }

    /// Lets nothing arrive in one direction from `from` to before `until`, while the cable looks up to both ends: half
    /// a partition. Both directions make a whole one.
    pub fn cut(&mut self, link: LinkId, way: Way, from: Instant, until: Instant) {
        assert!(from >= self.now(), "a cut in the past");
        self.fabric.trace(Trace::Change, link.0, Change::Cut as u64);
        let window = (from.as_nanos(), until.as_nanos());
        let pipe = link.pipe(way);
        self.fabric.lose(pipe, window.0, window.1, DropReason::Outage);
        self.fabric.pipes[pipe.index()].cuts.push(window);
    }

    /// Gives both directions of a cable these faults, each with random numbers of its own; spells begin anew.
    pub fn set_faults(&mut self, link: LinkId, faults: Faults) {
        for way in Way::BOTH {
            self.set_faults_way(link, way, faults);
        }
    }

    /// Gives one direction of a cable these faults. The random numbers depend on the seed, the cable, the direction and
    /// the time only.
    pub fn set_faults_way(&mut self, link: LinkId, way: Way, faults: Faults) {
        let pipe = link.pipe(way);
        let seed = self.fault_seed(pipe);
        // Directions that fail together take the same numbers.
        let together = faults.outage.is_some_and(|o| o.symmetric);
        let outage_seed = if together { !self.fault_seed(link.pipe(Way::Forth)) } else { !seed };
        let impair = faults.any().then(|| Box::new(Impair::new(faults, self.now(), seed, outage_seed)));
        self.fabric.pipes[pipe.index()].impair = impair;
    }

    /// Takes all faults and cuts away, brings up all cables that are still plugged in, and gives every node a
    /// processor: from now on whatever can still end well must.
    pub fn calm(&mut self) {
        self.relieve_all();
        for number in 0..self.fabric.pipes.len() / 2 {
            let link = LinkId(number as u32);
            for way in Way::BOTH {
                let pipe = &mut self.fabric.pipes[link.pipe(way).index()];
                pipe.impair = None;
                pipe.cuts.clear();
            }
            let from = self.fabric.pipes[link.pipe(Way::Forth).index()].from;
            if !self.is_up(link) && *self.place(from) == Some(link.pipe(Way::Forth)) {
                self.up(link);
            }
        }
    }

    /// All cables that are plugged in.
    pub fn links(&self) -> impl Iterator<Item = LinkId> {
        let plugged = |link: &LinkId| {
            let id = link.pipe(Way::Forth);
            let hook = match self.fabric.pipes[id.index()].from {
                End::Node(node, port) => self.slots[node.index()].egress(port),
                End::Switch(switch, port) => self.fabric.switches[switch.0 as usize].ports[usize::from(port)],
            };
            hook == Some(id)
        };
        (0..self.fabric.pipes.len() as u32 / 2).map(LinkId).filter(plugged)
    }

    /// Starts a capture; the one before, if any, is returned.
    pub fn capture(&mut self, capture: Capture, taps: &[Tap]) -> Option<Capture> {
        let before = self.end_capture();
        self.fabric.capture = Some(capture);
        for tap in taps {
            match *tap {
                Tap::Sent => self.fabric.tap_nodes = true,
                Tap::Link(link) => {
                    for way in Way::BOTH {
                        self.fabric.pipes[link.pipe(way).index()].tap_received = true;
                    }
                }
                Tap::Node(node) => {
                    for pipe in self.slots[node.index()].ports.iter().copied().flatten() {
                        self.fabric.pipes[pipe.index()].tap_sent = true;
                        self.fabric.pipes[pipe.reverse().index()].tap_received = true;
                    }
                }
            }
        }
        before
    }

    /// Ends the capture and returns it.
    pub fn end_capture(&mut self) -> Option<Capture> {
        self.fabric.tap_nodes = false;
        for pipe in &mut self.fabric.pipes {
            pipe.tap_sent = false;
            pipe.tap_received = false;
        }
        self.fabric.capture.take()
    }

    /// Polls a node when the network next runs.
    fn wake_soon(&mut self, id: NodeId) {
        let generation = self.slots[id.index()].generation;
        self.fabric.queue.push(self.now().as_nanos(), What::Wake(id, generation));
    }

    /// Where a node or a switch keeps the pipe that leaves one of its ports.
    fn place(&mut self, end: End) -> &mut Option<PipeId> {
        match end {
            End::Switch(id, port) => self.fabric.switches[id.0 as usize]
                .ports
                .get_mut(usize::from(port))
                .expect("the switch has no such port"),
            End::Node(id, port) => {
                let ports = &mut self.slots[id.index()].ports;
                if ports.len() <= usize::from(port) {
                    ports.resize(usize::from(port) + 1, None);
                }
                &mut ports[usize::from(port)]
            }
        }
    }

    /// Whether cables between switches lead from one to the other.
    fn reaches(&self, from: SwitchId, to: SwitchId) -> bool {
        let mut seen = vec![false; self.fabric.switches.len()];
        let mut next = vec![from];
        while let Some(id) = next.pop() {
            if core::mem::replace(&mut seen[id.0 as usize], true) {
                continue;
            }
            for pipe in self.fabric.switches[id.0 as usize].ports.iter().flatten() {
                if let End::Switch(neighbour, _) = self.fabric.pipes[pipe.index()].to {
                    next.push(neighbour);
                }
            }
        }
        seen[to.0 as usize]
    }

    fn fault_seed(&self, pipe: PipeId) -> u64 {
        let mut place = Rng::new(u64::from(pipe.0));
        let mut time = Rng::new(self.now().as_nanos());
        Rng::new(self.seed ^ place.next_u64() ^ time.next_u64().rotate_left(32)).next_u64()
    }
}

/// Changes from outside, as the event hash tells them apart.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Change {
    Take = 1,
    Put = 2,
    Connect = 3,
    Down = 4,
    Up = 5,
    Cut = 6,
    Starve = 7,
}
