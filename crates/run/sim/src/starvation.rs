//! Nodes that get no processor for a while.

use rackloom_node::{Instant, Node};

use crate::fabric::Trace;
use crate::ids::NodeId;
use crate::net::Net;
use crate::queue::What;
use crate::topology::Change;

impl<N: Node> Net<N> {
    /// Gives a node no processor until `until`, as a busy machine does to a process. Frames that come wait unread (up
    /// to 1024; more are lost), deadlines pass, and the node is not polled, not even after [`with`](Self::with). What
    /// its NIC has is sent. Then all of it is served late, in the order of a live driver: a batch of frames, the
    /// deadline, the next batch.
    ///
    /// A node that is starved already is so until the later time.
    ///
    /// # Panics
    /// If the node was taken out, or `until` has passed.
    pub fn starve(&mut self, id: NodeId, until: Instant) {
        assert!(until >= self.now(), "starvation in the past");
        assert!(self.is_on(id), "{id} was taken out");
        self.fabric.trace(Trace::Change, id.0, Change::Starve as u64);
        let slot = &mut self.slots[id.index()];
        let until = slot.backlog.starve(until);
        self.fabric.queue.push(until.as_nanos(), What::Serve(id, slot.generation));
    }

    /// Whether a node has no processor now.
    pub fn is_starved(&self, id: NodeId) -> bool {
        self.slots[id.index()].backlog.is_starved()
    }

    /// All nodes run on one machine from now on, where a live driver sees which of them leave frames unread: a node is
    /// notified by [`handle_starvation`](Node::handle_starvation) before a timeout if another has done so for 100 ms.
    pub const fn share_machine(&mut self) {
        self.one_machine = true;
    }

    /// Every node has a processor from now on.
    pub(crate) fn relieve_all(&mut self) {
        let now = self.fabric.now;
        for (slot, number) in self.slots.iter_mut().zip(0..) {
            if slot.backlog.relieve(now) {
                self.fabric.queue.push(now.as_nanos(), What::Serve(NodeId(number), slot.generation));
            }
        }
    }

    /// A node that was starved gets its processor back, if it is still due, and reads what has waited.
    pub(crate) fn serve(&mut self, id: NodeId, generation: u32) {
        let now = self.fabric.now;
        let slot = &mut self.slots[id.index()];
        if slot.generation != generation || !slot.backlog.is_over(now) {
            return;
        }
        let (frames, more) = slot.backlog.read(now);
        for (port, frame) in frames {
            self.handle_frame(id, port, frame);
        }
        // A deadline that has passed is in the event queue by now, before the next batch.
        self.pump(id);
        if more {
            self.fabric.queue.push(now.as_nanos(), What::Serve(id, generation));
        }
    }

    /// Whether a node other than this one shows that processors are short.
    pub(crate) fn others_starve(&self, id: NodeId) -> bool {
        let now = self.fabric.now;
        self.one_machine && self.slots.iter().enumerate().any(|(i, slot)| i != id.index() && slot.backlog.shows(now))
    }
}
