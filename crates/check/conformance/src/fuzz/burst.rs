//! A burst: frames on each other's heels, and the pause behind them.

use bytes::Bytes;
use rackloom_node::{Duration, Frame};
use rackloom_wire::{Claim, Kind, Launch, Packet, Poll, Release, Solicit};

use crate::bench::{BASE, CHUNK, MEMORY};

/// Frames that arrive without a gap, and how long nothing arrives then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Burst {
    /// The frames, and whether each one's check sequence is right.
    pub frames: Vec<(Frame, bool)>,
    /// Until the next burst.
    pub pause: Duration,
}

/// Where in a burst a frame may stand, so that a slow card does the same as a quick one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// Before all others: it ends what the others belong to, and answers that are still due go with it.
    Head,
    /// Anywhere between.
    Body,
    /// Behind all good writes: it reads memory, and may do so when later frames have come; or it is a bad write, which
    /// gateware judges while it takes good ones.
    Late,
    /// Behind all others, and one only: it begins what takes a card its time, or asks how far that is.
    Tail,
}

impl Place {
    /// The place of a frame, whatever becomes of it.
    pub fn of(frame: &[u8]) -> Self {
        let Ok(packet) = Packet::parse(frame) else { return Self::Body };
        match packet.head.kind {
            Kind::SessionClaim | Kind::SessionRelease | Kind::ImageBegin | Kind::ImageAbort => Self::Head,
            Kind::InputRead => Self::Late,
            Kind::InputWrite if !is_good(&packet) => Self::Late,
            Kind::ExecGo | Kind::ExecResultAck | Kind::ImagePoll | Kind::ImageCommit => Self::Tail,
            Kind::DiscoverySolicit if solicits_later(&packet) => Self::Tail,
            // A launch that waits for its Go changes nothing yet.
            Kind::ExecLaunch if packet.view::<Launch>().is_some_and(|(body, _)| body.go.get() == 0) => Self::Tail,
            _ => Self::Body,
        }
    }
}

fn solicits_later(packet: &Packet<'_>) -> bool {
    packet.view::<Solicit>().is_some_and(|(body, _)| body.window_us.get() > 0)
}

/// Whether a frame asks for zeroed memory.
fn zeroes(frame: &[u8]) -> bool {
    let Ok(packet) = Packet::parse(frame) else { return false };
    match packet.head.kind {
        Kind::SessionClaim => packet.view::<Claim>().is_some_and(|(body, _)| body.scrub != 0),
        Kind::SessionRelease => packet.view::<Release>().is_some_and(|(body, _)| body.scrub != 0),
        _ => false,
    }
}

/// The random delay that a frame gives the card for its answer, in microseconds.
fn window_of(frame: &[u8]) -> u32 {
    let Ok(packet) = Packet::parse(frame) else { return 0 };
    match packet.head.kind {
        Kind::DiscoverySolicit => packet.view::<Solicit>().map_or(0, |(body, _)| body.window_us.get()),
        Kind::ImagePoll => packet.view::<Poll>().map_or(0, |(body, _)| body.window_us.get()),
        _ => 0,
    }
}

fn kind_of(frame: &[u8]) -> Option<Kind> {
    Packet::parse(frame).ok().map(|packet| packet.head.kind)
}

/// Whether a card would take this write from its owner.
fn is_good(write: &Packet<'_>) -> bool {
    let (addr, length) = (write.head.addr, write.payload.len() as u64);
    let inside = addr >= BASE && addr.checked_add(length).is_some_and(|end| end <= MEMORY);
    inside && length <= CHUNK.into()
}

/// The launch that a frame is about.
fn launch_of(frame: &[u8]) -> Option<u32> {
    let packet = Packet::parse(frame).ok()?;
    let about = matches!(packet.head.kind, Kind::ExecLaunch | Kind::ExecCancel | Kind::ExecQuery);
    about.then_some(packet.head.seq)
}

/// The launch whose result a frame acknowledges.
fn acknowledged_by(frame: &[u8]) -> Option<u32> {
    let packet = Packet::parse(frame).ok()?;
    (packet.head.kind == Kind::ExecResultAck).then_some(packet.head.seq)
}

impl Burst {
    /// Orders the frames by their places; of those for the tail one is left. One that asks for zeroed memory is alone.
    pub fn new(frames: Vec<Bytes>, pause: Duration) -> Self {
        // While memory is zeroed for a host, a card serves what needs no claim: how far it gets is its own affair.
        if let Some(alone) = frames.iter().find(|frame| zeroes(frame)) {
            return Self { frames: vec![(alone.clone(), true)], pause };
        }
        let at = |place: Place| frames.iter().filter(move |frame| Place::of(frame) == place).cloned();
        let mut all: Vec<Bytes> = at(Place::Head).chain(at(Place::Body)).chain(at(Place::Late)).collect();
        // Whoever acknowledges a result does not want to hear of it, and may hear of it all the same.
        let asks_about = |seq| all.iter().any(|frame| launch_of(frame) == Some(seq));
        // An image that has just become whole is reported, or what was asked is answered instead.
        let loads = all.iter().any(|frame| kind_of(frame) == Some(Kind::ImageData));
        let asks = |frame: &[u8]| matches!(kind_of(frame), Some(Kind::ImagePoll | Kind::ImageCommit));
        let fits = |frame: &Bytes| !(acknowledged_by(frame).is_some_and(asks_about) || loads && asks(frame));
        let tail = at(Place::Tail).find(fits);
        all.extend(tail);
        let window = all.iter().map(|frame| window_of(frame)).max().unwrap_or(0);
        let pause = pause.max(Duration::from_micros(u64::from(window) + 100));
        Self { frames: all.into_iter().map(|frame| (frame, true)).collect(), pause }
    }

    /// Bytes on the wire.
    pub fn bytes(&self) -> usize {
        self.frames.iter().map(|(frame, _)| frame.len()).sum()
    }
}
