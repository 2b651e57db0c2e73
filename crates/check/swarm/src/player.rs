//! What stands in a rack beside its good cards: hosts, a card that is bad, and a stranger.

use rackloom_host::Event;
use rackloom_node::{Frame, Instant, Node, Output, Port};

use crate::bad_card::BadCard;
use crate::hostile::Hostile;

/// A host, or somebody else in a host's place.
#[derive(Debug)]
pub enum Player<H> {
    /// A host.
    Host(H),
    /// A bad card.
    Bad(Box<BadCard>),
    /// A stranger.
    Hostile(Box<Hostile>),
}

impl<H> Player<H> {
    /// The host.
    ///
    /// # Panics
    /// If somebody else stands here.
    pub fn host(&self) -> &H {
        match self {
            Self::Host(host) => host,
            Self::Bad(_) | Self::Hostile(_) => panic!("who stands here is no host"),
        }
    }

    /// The host, to be changed.
    ///
    /// # Panics
    /// As [`host`](Self::host).
    pub fn host_mut(&mut self) -> &mut H {
        match self {
            Self::Host(host) => host,
            Self::Bad(_) | Self::Hostile(_) => panic!("who stands here is no host"),
        }
    }
}

impl<H: Node<Event = Event>> Node for Player<H> {
    type Event = Event;

    fn handle_frame(&mut self, now: Instant, port: Port, frame: Frame) {
        match self {
            Self::Host(host) => host.handle_frame(now, port, frame),
            Self::Bad(card) => card.handle_frame(now, port, frame),
            Self::Hostile(stranger) => stranger.handle_frame(now, port, frame),
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        match self {
            Self::Host(host) => host.handle_timeout(now),
            Self::Bad(card) => card.handle_timeout(now),
            Self::Hostile(stranger) => stranger.handle_timeout(now),
        }
    }

    fn handle_starvation(&mut self) {
        if let Self::Host(host) = self {
            host.handle_starvation();
        }
    }

    fn poll(&mut self, now: Instant) -> Option<Output<Event>> {
        match self {
            Self::Host(host) => host.poll(now),
            Self::Bad(card) => card.poll(now),
            Self::Hostile(stranger) => stranger.poll(now),
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        match self {
            Self::Host(host) => host.next_deadline(),
            Self::Bad(card) => card.next_deadline(),
            Self::Hostile(stranger) => stranger.next_deadline(),
        }
    }
}
