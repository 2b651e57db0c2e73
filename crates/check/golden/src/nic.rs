//! A host behind a card, as a bench drives it: frames come in at the wire and from the host, and leave at either.

use rackloom_card::{Nic as NicConfig, NicCounters, NicPath, PortConfig, PortService, Side};
use rackloom_node::{Frame, Instant};

use crate::Fault;
use crate::frame::mac;

/// What became of its frames.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct NicCounts {
    /// Frames to the host,
    pub to_host_frames: u64,
    /// and their bytes.
    pub to_host_bytes: u64,
    /// Frames to the wire,
    pub to_wire_frames: u64,
    /// and their bytes.
    pub to_wire_bytes: u64,
    /// Dropped: their source cannot be.
    pub forged: u64,
    /// Dropped: of a family of ours, or MAC control.
    pub reserved: u64,
    /// Dropped: for the card or the host itself.
    pub astray: u64,
    /// Dropped: too long, or too many waited.
    pub overflow: u64,
    /// Times that the host was ordered to be silent.
    pub paused: u64,
}

/// A side, as a number: 0 is the wire, 1 the host.
pub(crate) const fn side(number: u8) -> Result<Side, Fault> {
    match number {
        0 => Ok(Side::Wire),
        1 => Ok(Side::Host),
        _ => Err(Fault::Argument),
    }
}

/// The path of a card between the wire and its host, at port 1 and without a hook.
#[derive(Debug)]
pub struct Nic(NicPath);

impl Nic {
    /// The path of a card with this address, and a host with that one.
    pub(crate) fn new(card: u64, host: u64) -> Result<Self, Fault> {
        let port = PortConfig::new(mac(host)?, PortService::Closed);
        Ok(Self(NicPath::new(NicConfig { host: 1, hook: None }, mac(card)?, &[port])))
    }

    /// A frame has come in at a side. Whether it was the host's, or pretended to be.
    pub(crate) fn handle(&mut self, at: Side, frame: &[u8]) -> bool {
        let (to, verdict) = match at {
            Side::Wire => (Side::Host, self.0.judge_from_wire(frame)),
            Side::Host => (Side::Wire, Some(self.0.judge_from_host(frame))),
        };
        let result = verdict.map(|verdict| verdict.and_then(|()| self.0.push(to, Frame::copy_from_slice(frame))));
        if let Some(Err(why)) = result {
            self.0.drops(why);
        }
        result.is_some()
    }

    /// The next frame that leaves at a side: to the host, orders first.
    pub(crate) fn poll(&mut self, now_ns: u64, at: Side) -> Option<Frame> {
        let order = match at {
            Side::Wire => None,
            Side::Host => self.0.pause(Instant::from_nanos(now_ns)),
        };
        order.or_else(|| self.0.pop(at)).map(|(_, frame)| frame)
    }

    /// What it has counted.
    pub(crate) fn counts(&self) -> NicCounts {
        let NicCounters { to_host, to_wire, forged, reserved, astray, overflow, held: 0, missed: 0, paused } =
            self.0.counters()
        else {
            unreachable!("there is no hook")
        };
        NicCounts {
            to_host_frames: to_host.frames,
            to_host_bytes: to_host.bytes,
            to_wire_frames: to_wire.frames,
            to_wire_bytes: to_wire.bytes,
            forged,
            reserved,
            astray,
            overflow,
            paused,
        }
    }
}
