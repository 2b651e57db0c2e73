//! A host or a card as one node of the simulated network.

use rackloom_card::{Card, CardEvent};
use rackloom_host::{Event, Host};
use rackloom_node::{Frame, Instant, Node, Output, Port};

/// A node of the rack.
#[derive(Debug)]
pub enum Actor {
    /// A host.
    Host(Box<Host>),
    /// A card.
    Card(Box<Card>),
}

/// What a node tells.
#[derive(Debug)]
pub enum Said {
    /// A host.
    Host(Event),
    /// A card.
    Card(CardEvent),
}

impl Actor {
    /// The host that this is.
    ///
    /// # Panics
    /// If it is a card.
    pub fn host(&mut self) -> &mut Host {
        match self {
            Self::Host(host) => host,
            Self::Card(_) => panic!("a card where a host stands"),
        }
    }

    /// The card that this is, if it is one.
    pub fn card(&self) -> Option<&Card> {
        match self {
            Self::Host(_) => None,
            Self::Card(card) => Some(card),
        }
    }
}

impl Node for Actor {
    type Event = Said;

    fn handle_frame(&mut self, now: Instant, port: Port, frame: Frame) {
        match self {
            Self::Host(n) => n.handle_frame(now, port, frame),
            Self::Card(n) => n.handle_frame(now, port, frame),
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        match self {
            Self::Host(n) => n.handle_timeout(now),
            Self::Card(n) => n.handle_timeout(now),
        }
    }

    fn poll(&mut self, now: Instant) -> Option<Output<Said>> {
        fn said<E>(output: Output<E>, say: impl FnOnce(E) -> Said) -> Output<Said> {
            match output {
                Output::Transmit(port, frame) => Output::Transmit(port, frame),
                Output::Event(event) => Output::Event(say(event)),
            }
        }
        match self {
            Self::Host(n) => n.poll(now).map(|o| said(o, Said::Host)),
            Self::Card(n) => n.poll(now).map(|o| said(o, Said::Card)),
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        match self {
            Self::Host(n) => n.next_deadline(),
            Self::Card(n) => n.next_deadline(),
        }
    }
}
