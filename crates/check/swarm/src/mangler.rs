//! A host with bad memory, and what it has heard.

use std::collections::BTreeMap;

use rackloom_host::{Event, Host};
use rackloom_node::{Frame, Instant, Node, Output, Port, Rng};
use rackloom_wire::{Announce, HEADER_END, HOSTS, Kind, MacAddr, Packet, Pong, ethertype};

/// A host whose image data is damaged before the frame gets its check sequence. Only the image's digest can tell.
#[derive(Debug)]
pub struct Mangler {
    /// The host itself.
    pub host: Host,
    /// Probability that a frame of image data is damaged.
    pub chance: f64,
    /// Where the damage is drawn from.
    pub rng: Rng,
    /// When each card was last heard.
    heard: BTreeMap<MacAddr, Instant>,
}

impl Mangler {
    /// A host that has heard of no card. `chance`: that a frame of image data is damaged, from 0 to 1.
    pub const fn new(host: Host, chance: f64, rng: Rng) -> Self {
        Self { host, chance, rng, heard: BTreeMap::new() }
    }

    /// When the host last read an announcement or a pong of this card. Other frames are signs of life too, but not all
    /// of them count.
    pub fn heard_at(&self, card: MacAddr) -> Option<Instant> {
        self.heard.get(&card).copied()
    }

    fn hear(&mut self, now: Instant, frame: &Frame) {
        let Ok(packet) = Packet::parse(frame) else { return };
        let head = &packet.head;
        let is_whole = match head.kind {
            Kind::DiscoveryAnnounce => packet.view::<Announce>().is_some(),
            Kind::SessionPong => packet.view::<Pong>().is_some(),
            _ => false,
        };
        if is_whole && (head.dst == HOSTS || head.dst == self.host.mac()) {
            self.heard.insert(head.src, now);
        }
    }

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

impl Node for Mangler {
    type Event = Event;

    fn handle_frame(&mut self, now: Instant, port: Port, frame: Frame) {
        self.hear(now, &frame);
        self.host.handle_frame(now, port, frame);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.host.handle_timeout(now);
    }

    fn handle_starvation(&mut self) {
        self.host.handle_starvation();
    }

    fn poll(&mut self, now: Instant) -> Option<Output<Event>> {
        Some(match self.host.poll(now)? {
            Output::Transmit(port, frame) => Output::Transmit(port, self.pass(frame)),
            event @ Output::Event(_) => event,
        })
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.host.next_deadline()
    }
}
