//! A card that keeps to the letter of the wire and is of no use: it says it is ready and then nothing, takes its time,
//! lies, or announces what no card is.

use std::collections::VecDeque;
use std::fmt;

use rackloom_card::{Card, Config};
use rackloom_node::{Duration, Frame, Instant, Node, Output, Port, Rng};
use rackloom_rack::Maker;
use rackloom_wire::{Announce, FromBytes, Head, IntoBytes, Kind, MacAddr, Packet, U16, U64, missing_report};

/// How a card is bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Badness {
    /// It takes claims, answers pings, says `ready`, and from then on nothing about loads, memory or launches.
    Silent,
    /// It states a tenth of the wire's rate, takes images no faster, and says everything late.
    Slow,
    /// However often an image is sent, it says that it lacks all of it; it acknowledges writes that were never sent.
    Lying,
    /// Once it has an image, it says for ever that nothing is missing, and never what it makes of it.
    Checking,
    /// It announces no memory, and frames of 64 bytes.
    Absurd,
}

impl Badness {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Silent, Self::Slow, Self::Lying, Self::Checking, Self::Absurd];

    /// One of them.
    pub fn draw(rng: &mut Rng) -> Self {
        Self::ALL[rng.below(Self::ALL.len() as u64) as usize]
    }
}

impl fmt::Display for Badness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Silent => "silent",
            Self::Slow => "slow",
            Self::Lying => "lying",
            Self::Checking => "checking",
            Self::Absurd => "absurd",
        })
    }
}

/// A model card whose words are changed, held back or swallowed.
#[derive(Debug)]
pub struct BadCard {
    card: Card,
    how: Badness,
    /// What a slow card will say, and when.
    later: VecDeque<(Instant, Port, Frame)>,
    /// Chunks of the image that is being loaded.
    chunks: u32,
}

/// How late a slow card says everything: a thousand times what another takes.
const LATE: Duration = Duration::from_millis(20);

impl BadCard {
    /// A card of this configuration that is bad in this way.
    pub fn new(config: Config, how: Badness) -> Self {
        let slow = config.port_rate / 10 / 8;
        let stage_rate = if how == Badness::Slow { slow } else { config.stage_rate };
        let sandbox = Maker::shared().sandbox().clone();
        let card = Card::new(Config { stage_rate, ..config }, sandbox).expect("memory for a small card");
        Self { card, how, later: VecDeque::new(), chunks: 0 }
    }

    /// What it says instead of this frame.
    fn spoil(&self, frame: Frame) -> Option<Frame> {
        let Ok(packet) = Packet::parse(&frame) else { return Some(frame) };
        let head = packet.head;
        match (self.how, head.kind) {
            (Badness::Silent, kind) => is_sign_of_life(kind).then_some(frame),
            (
                Badness::Lying,
                Kind::ImageConfirmMissing
                | Kind::ImageConfirmStaged
                | Kind::ImageConfirmCommitted
                | Kind::ImageConfirmActive,
            ) => {
                let kind = Kind::ImageConfirmMissing;
                let head = Head { kind, dst: MacAddr::group(head.epoch), ..head };
                Some(head.frame(&[&missing_report(self.chunks, &[(0, self.chunks)], 0)]))
            }
            (Badness::Checking, Kind::ImageConfirmStaged | Kind::ImageConfirmCommitted | Kind::ImageConfirmActive) => {
                let kind = Kind::ImageConfirmMissing;
                let head = Head { kind, dst: MacAddr::group(head.epoch), ..head };
                Some(head.frame(&[&missing_report(0, &[], 0)]))
            }
            (Badness::Lying, Kind::InputConfirmWriteAck) => {
                let seq = head.seq.wrapping_add(10_000);
                Some(Head { seq, ..head }.frame(&[packet.payload]))
            }
            (Badness::Absurd, Kind::DiscoveryAnnounce) => {
                let mut body = Announce::read_from_bytes(packet.payload).expect("a card's announcement");
                (body.memory, body.bulk) = (U64::ZERO, U16::new(64));
                Some(head.frame(&[body.as_bytes()]))
            }
            _ => Some(frame),
        }
    }
}

/// What a card that hangs beside its network still says.
const fn is_sign_of_life(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::DiscoveryAnnounce
            | Kind::SessionGrant
            | Kind::SessionRefuse
            | Kind::SessionReleased
            | Kind::SessionPong
            | Kind::ImageConfirmReady
    )
}

impl Node for BadCard {
    type Event = rackloom_host::Event;

    fn handle_frame(&mut self, now: Instant, port: Port, frame: Frame) {
        if let Ok(packet) = Packet::parse(&frame)
            && let Some((begin, _)) = packet.view::<rackloom_wire::ImageBegin>()
            && packet.head.kind == Kind::ImageBegin
        {
            self.chunks = begin.length.get().div_ceil(u64::from(begin.chunk.get().max(1))) as u32;
        }
        self.card.handle_frame(now, port, frame);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.card.handle_timeout(now);
    }

    fn poll(&mut self, now: Instant) -> Option<Output<Self::Event>> {
        while let Some(said) = self.card.poll(now) {
            let Output::Transmit(port, frame) = said else { continue };
            let Some(frame) = self.spoil(frame) else { continue };
            if self.how != Badness::Slow {
                return Some(Output::Transmit(port, frame));
            }
            self.later.push_back((now + LATE, port, frame));
        }
        let (_, port, frame) = self.later.pop_front_if(|(due, ..)| *due <= now)?;
        Some(Output::Transmit(port, frame))
    }

    fn next_deadline(&self) -> Option<Instant> {
        let later = self.later.front().map(|(due, ..)| *due);
        [self.card.next_deadline(), later].into_iter().flatten().min()
    }
}
