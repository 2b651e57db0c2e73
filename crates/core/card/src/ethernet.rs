//! Ethernet's header, and what can be said of a frame by its first bytes.

use rackloom_wire::{Family, MacAddr};

/// The first 14 bytes of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EthernetHead {
    pub(crate) dst: MacAddr,
    pub(crate) src: MacAddr,
    pub(crate) ethertype: u16,
}

impl EthernetHead {
    /// The header; `None` if the frame is shorter than one.
    pub(crate) fn of(frame: &[u8]) -> Option<Self> {
        let head: &[u8; HEADER] = frame.first_chunk()?;
        let mac = |at: usize| MacAddr(head[at..at + 6].try_into().expect("six bytes"));
        Some(Self { dst: mac(0), src: mac(6), ethertype: u16::from_be_bytes([head[12], head[13]]) })
    }

    /// Whether its source cannot be: a group, or the port where it came in, over a loop in the network.
    pub(crate) fn is_forged(&self, mac: MacAddr) -> bool {
        self.src == mac || self.src.is_multicast()
    }

    /// Whether it belongs to a family of ours, none of which is a role's.
    pub(crate) fn is_ours(&self) -> bool {
        Family::from_ethertype(self.ethertype).is_some()
    }
}

/// Whether a frame is of the bridge family, which shares its EtherType with all of IPv6: next header 253 (RFC 3692, for
/// experiments), to a unique local address (RFC 4193).
pub(crate) fn is_bridge(frame: &[u8]) -> bool {
    let byte = |at: usize| frame.get(at).copied().unwrap_or(0);
    let ipv6 = (byte(12), byte(13)) == (0x86, 0xdd) && byte(14) >> 4 == 6;
    ipv6 && byte(20) == 253 && byte(38) & 0xfe == 0xfc
}

/// Bytes of Ethernet's header.
const HEADER: usize = 14;
/// Most bytes of a frame: a jumbo frame's.
pub(crate) const FRAME_MAX: usize = HEADER + 9000;
