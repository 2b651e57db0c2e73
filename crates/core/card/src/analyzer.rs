//! The packet analyzer: takes a frame apart and keeps out what is not for this card.
//!
//! It holds no state. Whatever it keeps out is a drop with a reason, and the reason is a counter.

use rackloom_wire::rules::Reach;
use rackloom_wire::{CARDS, Counter, MacAddr, Packet, ParseError};

/// The addresses a card listens to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Filter {
    pub(crate) mac: MacAddr,
    /// The group of the load it is a member of.
    pub(crate) load: Option<u16>,
    /// The group of the claim it is under.
    pub(crate) claim: Option<u16>,
}

impl Filter {
    /// The frame's parts, or the counter of the drop.
    pub(crate) fn analyze<'a>(&self, frame: &'a [u8]) -> Result<Packet<'a>, Counter> {
        let Some(dst) = mac_at(frame, 0) else { return Err(Counter::DropTruncated) };
        let Some(src) = mac_at(frame, 6) else { return Err(Counter::DropTruncated) };
        // Our own frames come back over a loop in the network; taking them would make a card suppress its own reports.
        if !self.listens(dst) || src == self.mac || src.is_multicast() {
            return Err(Counter::DropForeign);
        }
        let packet = Packet::parse(frame).map_err(|e| match e {
            ParseError::Foreign(_) => Counter::DropForeign,
            ParseError::Truncated { .. } => Counter::DropTruncated,
            ParseError::Version(_) => Counter::DropVersion,
            ParseError::UnknownKind { .. } => Counter::DropKind,
            ParseError::Auth => Counter::DropAuth,
        })?;
        let kind = packet.head.kind;
        match kind.reach() {
            _ if !kind.is_to_card() => Err(Counter::DropKind),
            Reach::Unicast if dst != self.mac => Err(Counter::DropForeign),
            Reach::Group if !is_group(dst) => Err(Counter::DropKind),
            Reach::Unicast | Reach::Group | Reach::Any => Ok(packet),
        }
    }

    fn listens(&self, dst: MacAddr) -> bool {
        let joined = |group: Option<u16>| group.is_some_and(|id| dst == MacAddr::group(id));
        dst == self.mac || dst == CARDS || dst == MacAddr::BROADCAST || joined(self.load) || joined(self.claim)
    }
}

/// A group address of Rackloom, whatever its id.
fn is_group(mac: MacAddr) -> bool {
    let [.., high, low] = mac.0;
    mac == MacAddr::group(u16::from_be_bytes([high, low]))
}

fn mac_at(frame: &[u8], at: usize) -> Option<MacAddr> {
    frame.get(at..at + 6).map(|b| MacAddr(b.try_into().expect("six bytes")))
}
