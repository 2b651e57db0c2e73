//! A place for a node: the node, its ports, its deadline.

use rackloom_node::{Instant, Node, Port};

use crate::backlog::Backlog;
use crate::ids::{NodeId, PipeId};
use crate::stats::NodeStats;

/// What the network knows of one node.
#[derive(Debug)]
pub(crate) struct Slot<N> {
    /// `None` while it is powered off.
    pub(crate) node: Option<N>,
    /// Counts the nodes that were here, so that no deadline of an earlier one fires for this one.
    pub(crate) generation: u32,
    /// The pipe that leaves each port, if a cable is there.
    pub(crate) ports: Vec<Option<PipeId>>,
    /// Not to be polled: a transmit queue is full.
    pub(crate) held: bool,
    /// What it has not read for want of a processor.
    pub(crate) backlog: Backlog,
    pub(crate) stats: NodeStats,
    /// Deadlines of this generation in the event queue, the earliest last. A deadline that moves back, as most do with
    /// each frame, adds nothing: the entry that is there comes early, finds nothing due and asks again.
    armed: Vec<u64>,
    /// When the last timeout was handled, and how many before it at the same time.
    last_timeout: Option<Instant>,
    spins: u32,
}

impl<N: Node> Slot<N> {
    pub(crate) fn new(node: N) -> Self {
        Self {
            node: Some(node),
            generation: 0,
            ports: Vec::new(),
            held: false,
            backlog: Backlog::default(),
            stats: NodeStats::default(),
            armed: Vec::new(),
            last_timeout: None,
            spins: 0,
        }
    }

    /// The pipe that leaves a port.
    pub(crate) fn egress(&self, port: Port) -> Option<PipeId> {
        self.ports.get(usize::from(port)).copied().flatten()
    }

    /// Takes the node out and forgets its deadlines.
    pub(crate) fn take(&mut self) -> Option<N> {
        self.generation += 1;
        self.held = false;
        self.backlog = Backlog::default();
        self.armed.clear();
        self.last_timeout = None;
        self.node.take()
    }

    /// When to ask for a new entry in the event queue, if one is needed for the node's present deadline.
    pub(crate) fn arm(&mut self, now: Instant) -> Option<u64> {
        let deadline = self.node.as_ref()?.next_deadline()?;
        // A node that waits for its queue has had its timeout; it asks for the next when it is polled again.
        if self.held && deadline <= now {
            return None;
        }
        let at = deadline.max(now).as_nanos();
        if at > HORIZON.as_nanos() || self.armed.last().is_some_and(|earliest| *earliest <= at) {
            return None;
        }
        self.armed.push(at);
        Some(at)
    }

    /// An entry of this generation has come. Says whether a timeout is due.
    pub(crate) fn ring(&mut self, now: Instant) -> bool {
        let rung = self.armed.pop();
        assert_eq!(rung, Some(now.as_nanos()), "deadlines come in order");
        let deadline = self.node.as_ref().and_then(Node::next_deadline);
        deadline.is_some_and(|d| d <= now)
    }

    /// Counts a timeout; panics if the node asks for one after another without time passing.
    pub(crate) fn count_timeout(&mut self, id: NodeId, now: Instant) {
        self.stats.timeouts += 1;
        self.spins = if self.last_timeout == Some(now) { self.spins + 1 } else { 0 };
        self.last_timeout = Some(now);
        assert!(self.spins < SPINS_MAX, "{id} wants a timeout for ever at {now:?}: its deadline does not move");
    }
}

/// The end of virtual time, 106 days: beyond it picoseconds would not fit 64 bits. A later deadline means never.
pub(crate) const HORIZON: Instant = Instant::from_nanos(u64::MAX / 2000);

/// Timeouts of one node while virtual time stands still; a node that wants more hangs.
const SPINS_MAX: u32 = 100_000;
