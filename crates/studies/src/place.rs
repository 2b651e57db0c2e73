//! The two kinds of node of a simulated rack.

use rackloom_card::{Card, CardEvent};
use rackloom_host::{Event, Host};
use rackloom_node::{Frame, Instant, Node, Output, Port};

/// A node of a rack: the production host, or a model card.
#[derive(Debug)]
pub enum Place {
    /// The host.
    Host(Box<Host>),
    /// A card.
    Card(Box<Card>),
}

/// What a node of a rack tells.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    /// The host tells.
    Host(Event),
    /// A card tells.
    Card(CardEvent),
}

impl Node for Place {
    type Event = Told;

    fn handle_frame(&mut self, now: Instant, port: Port, frame: Frame) {
        match self {
            Self::Host(host) => host.handle_frame(now, port, frame),
            Self::Card(card) => card.handle_frame(now, port, frame),
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        match self {
            Self::Host(host) => host.handle_timeout(now),
            Self::Card(card) => card.handle_timeout(now),
        }
    }

    fn poll(&mut self, now: Instant) -> Option<Output<Told>> {
        match self {
            Self::Host(host) => host.poll(now).map(|out| map(out, Told::Host)),
            Self::Card(card) => card.poll(now).map(|out| map(out, Told::Card)),
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        match self {
            Self::Host(host) => host.next_deadline(),
            Self::Card(card) => card.next_deadline(),
        }
    }
}

fn map<E>(out: Output<E>, told: fn(E) -> Told) -> Output<Told> {
    match out {
        Output::Transmit(port, frame) => Output::Transmit(port, frame),
        Output::Event(event) => Output::Event(told(event)),
    }
}
