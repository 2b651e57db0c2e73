//! The two ends of a claim.

use rackloom_node::Frame;
use rackloom_wire::{Head, Kind, MacAddr};

/// Host, card and epoch of a claim: what every frame under it names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ends {
    pub(crate) host: MacAddr,
    pub(crate) card: MacAddr,
    pub(crate) epoch: u16,
}

impl Ends {
    /// A frame to the card.
    pub(crate) fn frame(&self, kind: Kind, flags: u8, seq: u32, addr: u64, payload: &[&[u8]]) -> Frame {
        Head { dst: self.card, src: self.host, kind, flags, epoch: self.epoch, seq, addr }.frame(payload)
    }
}
