//! A host with bad memory.

use rackloom_host::{Event, Host};
use rackloom_node::{Frame, Instant, Node, Output, Port, Rng};
use rackloom_wire::{HEADER_END, ethertype};

/// A host whose image data is damaged before the frame gets its check sequence. Only the image's digest can tell.
#[derive(Debug)]
pub struct Mangler {
    /// The host itself.
    pub host: Host,
    /// Probability that a frame of image data is damaged.
    pub chance: f64,
    /// Where the damage is drawn from.
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

impl Node for Mangler {
    type Event = Event;

    fn handle_frame(&mut self, now: Instant, port: Port, frame: Frame) {
        self.host.handle_frame(now, port, frame);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.host.handle_timeout(now);
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
