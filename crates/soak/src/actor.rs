//! A host or a card as one node of the simulated network.

use rackloom_card::{Card, CardEvent};
use rackloom_host::{Event, Host};
use rackloom_node::{Frame, Instant, Node, Output, Port, Rng};
use rackloom_wire::{HEADER_END, ethertype};

/// A node of the rack.
#[derive(Debug)]
pub enum Actor {
    /// A host.
    Host(Box<Host>, Mangler),
    /// A card.
    Card(Box<Card>),
}

/// A host's bad memory: image data is damaged before the frame gets its check sequence. Only the image's digest can
/// tell.
#[derive(Debug)]
pub struct Mangler {
    /// Probability that a frame of image data is damaged.
    pub chance: f64,
    /// Its random numbers.
    pub rng: Rng,
}

impl Mangler {
    fn pass(&mut self, frame: Frame) -> Frame {
        let end = usize::from(HEADER_END);
        if frame[12..14] != ethertype::IMAGE.to_be_bytes() || frame.len() < end + 64 || !self.rng.chance(self.chance) {
            return frame;
        }
        let mut bytes = frame.to_vec();
        let at = end + self.rng.below((bytes.len() - end) as u64) as usize;
        bytes[at] ^= 1 << self.rng.below(8);
        Frame::from(bytes)
    }
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
            Self::Host(host, _) => host,
            Self::Card(_) => panic!("a card where a host stands"),
        }
    }

    /// From now on image data leaves undamaged.
    pub fn calm(&mut self) {
        if let Self::Host(_, mangler) = self {
            mangler.chance = 0.0;
        }
    }

    /// The card that this is, if it is one.
    pub fn card(&self) -> Option<&Card> {
        match self {
            Self::Host(..) => None,
            Self::Card(card) => Some(card),
        }
    }
}

impl Node for Actor {
    type Event = Said;

    fn handle_frame(&mut self, now: Instant, port: Port, frame: Frame) {
        match self {
            Self::Host(n, _) => n.handle_frame(now, port, frame),
            Self::Card(n) => n.handle_frame(now, port, frame),
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        match self {
            Self::Host(n, _) => n.handle_timeout(now),
            Self::Card(n) => n.handle_timeout(now),
        }
    }

    fn poll(&mut self, now: Instant) -> Option<Output<Said>> {
        match self {
            Self::Host(n, mangler) => n.poll(now).map(|o| match o {
                Output::Transmit(port, frame) => Output::Transmit(port, mangler.pass(frame)),
                Output::Event(event) => Output::Event(Said::Host(event)),
            }),
            Self::Card(n) => n.poll(now).map(|o| match o {
                Output::Transmit(port, frame) => Output::Transmit(port, frame),
                Output::Event(event) => Output::Event(Said::Card(event)),
            }),
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        match self {
            Self::Host(n, _) => n.next_deadline(),
            Self::Card(n) => n.next_deadline(),
        }
    }
}
