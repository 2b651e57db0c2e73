//! The shape of everything that speaks on the network.
//!
//! A card, a host, a switch or a manager is a [`Node`]: a state machine with no socket, no clock and no thread inside.
//! Frames and time go in; frames, events and the next deadline come out. A live network, the deterministic simulator
//! and the Verilated gateware drive the same node, and it cannot tell which.
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;

use alloc::boxed::Box;

mod either;
mod instant;
mod rng;

pub use core::time::Duration;
pub use either::Either;
pub use instant::Instant;
pub use rng::Rng;

/// An Ethernet frame from the destination address to the end of the payload, without preamble and check sequence.
///
/// Reference-counted: a switch that floods a frame to 256 cards copies no byte of it.
pub type Frame = bytes::Bytes;

/// Number of a node's network port, from 0.
pub type Port = u8;

/// What a node wants done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output<E> {
    /// Send this frame on this port.
    Transmit(Port, Frame),
    /// Tell whoever owns the node.
    Event(E),
}

impl<E> Output<E> {
    /// Maps the event type.
    pub fn map<F>(self, told: impl FnOnce(E) -> F) -> Output<F> {
        match self {
            Self::Transmit(port, frame) => Output::Transmit(port, frame),
            Self::Event(event) => Output::Event(told(event)),
        }
    }
}

/// A state machine behind a wire.
///
/// The law: after each `handle_*` (and each method of the node's own that changes it), call [`poll`](Node::poll) until
/// it returns `None`; then sleep until [`next_deadline`](Node::next_deadline) or the next frame, whichever comes first.
/// `now` never goes back. A driver may leave off polling while its wire is full, and go on later.
pub trait Node {
    /// What the node tells its owner.
    type Event;

    /// A frame has arrived. A malformed one is counted and dropped, never a panic.
    fn handle_frame(&mut self, now: Instant, port: Port, frame: Frame);

    /// The deadline has come. Harmless when called early or for nothing.
    fn handle_timeout(&mut self, now: Instant);

    /// The driver has seen that other nodes on this machine wait for a processor: frames to them lie unread. Their
    /// silence since this node's last timeout says little. Comes just before a
    /// [`handle_timeout`](Self::handle_timeout); a node that waits for nobody ignores it.
    fn handle_starvation(&mut self) {}

    /// The next thing to do, or `None`: nothing until a frame or the deadline.
    fn poll(&mut self, now: Instant) -> Option<Output<Self::Event>>;

    /// When [`handle_timeout`](Node::handle_timeout) is wanted; a time that has passed means at once.
    fn next_deadline(&self) -> Option<Instant>;
}

impl<N: Node + ?Sized> Node for Box<N> {
    type Event = N::Event;

    fn handle_frame(&mut self, now: Instant, port: Port, frame: Frame) {
        (**self).handle_frame(now, port, frame);
    }

    fn handle_timeout(&mut self, now: Instant) {
        (**self).handle_timeout(now);
    }

    fn handle_starvation(&mut self) {
        (**self).handle_starvation();
    }

    fn poll(&mut self, now: Instant) -> Option<Output<Self::Event>> {
        (**self).poll(now)
    }

    fn next_deadline(&self) -> Option<Instant> {
        (**self).next_deadline()
    }
}
