//! Networks of two kinds of node.

use crate::{Frame, Instant, Node, Output, Port};

/// One of two kinds of node; and of what they tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Either<A, B> {
    /// The one kind.
    A(A),
    /// The other kind.
    B(B),
}

impl<A: Node, B: Node> Node for Either<A, B> {
    type Event = Either<A::Event, B::Event>;

    fn handle_frame(&mut self, now: Instant, port: Port, frame: Frame) {
        match self {
            Self::A(node) => node.handle_frame(now, port, frame),
            Self::B(node) => node.handle_frame(now, port, frame),
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        match self {
            Self::A(node) => node.handle_timeout(now),
            Self::B(node) => node.handle_timeout(now),
        }
    }

    fn handle_starvation(&mut self) {
        match self {
            Self::A(node) => node.handle_starvation(),
            Self::B(node) => node.handle_starvation(),
        }
    }

    fn poll(&mut self, now: Instant) -> Option<Output<Self::Event>> {
        match self {
            Self::A(node) => node.poll(now).map(|out| out.map(Either::A)),
            Self::B(node) => node.poll(now).map(|out| out.map(Either::B)),
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        match self {
            Self::A(node) => node.next_deadline(),
            Self::B(node) => node.next_deadline(),
        }
    }
}
