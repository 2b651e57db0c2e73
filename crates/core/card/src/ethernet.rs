//! Ethernet's header, and what can be said of a frame by its first bytes.

use rackloom_wire::{Family, MAC_CONTROL, MacAddr};

/// Addresses and family of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EthernetHead {
    pub(crate) dst: MacAddr,
    pub(crate) src: MacAddr,
    pub(crate) ethertype: u16,
    pub(crate) family: Option<Family>,
}

impl EthernetHead {
    /// The header; `None` if the frame is shorter than one.
    pub(crate) fn of(frame: &[u8]) -> Option<Self> {
        let head: &[u8; HEADER] = frame.first_chunk()?;
        let mac = |at: usize| MacAddr(head[at..at + 6].try_into().expect("six bytes"));
        Some(Self {
            dst: mac(0),
            src: mac(6),
            ethertype: u16::from_be_bytes([head[12], head[13]]),
            family: Family::of(frame),
        })
    }

    /// Whether its source cannot be: a group, or the port where it came in, over a loop in the network.
    pub(crate) fn is_forged(&self, mac: MacAddr) -> bool {
        self.src == mac || self.src.is_multicast()
    }

    /// Whether it belongs to a family of ours, none of which is a role's.
    pub(crate) const fn is_ours(&self) -> bool {
        self.family.is_some()
    }

    /// Whether neither a role nor a host behind the card may send it: it is of a family of ours, or what stations say
    /// to the next one on their cable (IEEE 802.3 annex 31), by which they would stop it and everybody behind it.
    pub(crate) const fn is_reserved(&self) -> bool {
        self.is_ours() || self.ethertype == MAC_CONTROL
    }
}

/// Bytes of Ethernet's header.
const HEADER: usize = 14;
/// Most bytes of a frame: a jumbo frame's.
pub(crate) const FRAME_MAX: usize = HEADER + 9000;
