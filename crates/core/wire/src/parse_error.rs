//! What can be wrong with a frame.

use core::net::Ipv6Addr;

use crate::mac::MacAddr;

/// Why a frame is not of a family, or not whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// An EtherType that is not the family's.
    #[error("EtherType 0x{0:04x} does not belong to this protocol")]
    Foreign(u16),
    /// Shorter than its header, or than its length field says.
    #[error("{have} bytes where {need} are needed")]
    Truncated {
        /// Bytes needed.
        need: usize,
        /// Bytes there.
        have: usize,
    },
    /// Another protocol version.
    #[error("protocol version {has}, and this end speaks {speaks}")]
    Version {
        /// The frame's.
        has: u8,
        /// This build's.
        speaks: u8,
    },
    /// The EtherType has no such sub-kind.
    #[error("EtherType 0x{ethertype:04x} has no kind {kind}")]
    UnknownKind {
        /// The frame's EtherType.
        ethertype: u16,
        /// The frame's sub-kind.
        kind: u8,
    },
    /// Authenticated, and this version holds no keys.
    #[error("authenticated frame, and there is no key")]
    Auth,
    /// The packet that carries the frame is not as a node sends it. Of families that IPv6 packets carry.
    #[error(transparent)]
    Ipv6(#[from] Ipv6Error),
}

/// Why the packet that carries a frame is not as a node sends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Ipv6Error {
    /// Another version of IP.
    #[error("version {0} of IP in a packet of IPv6")]
    Version(u8),
    /// Another next header: the packet is a host's.
    #[error("next header {0} is not the family's")]
    NextHeader(u8),
    /// A destination that is not within fc00::/7: the packet is a host's.
    #[error("destination {0} is none that a node can have")]
    Destination(Ipv6Addr),
    /// A router has passed the packet on, or its sender is no node.
    #[error("hop limit {0}, which no node sends")]
    HopLimit(u8),
    /// Source or destination is not of the nodes' subnet.
    #[error("{0} is not of the nodes' subnet")]
    Subnet(Ipv6Addr),
    /// The source is another node's than the Ethernet source, or the latter is a group's.
    #[error("source {address} is not the address of {mac}")]
    Spoofed {
        /// The source.
        address: Ipv6Addr,
        /// The Ethernet source.
        mac: MacAddr,
    },
    /// The destination is another node's than the Ethernet destination.
    #[error("destination {address} is not the address of {mac}")]
    Misdirected {
        /// The destination.
        address: Ipv6Addr,
        /// The Ethernet destination.
        mac: MacAddr,
    },
    /// The packet's length is not its frame's.
    #[error("a packet of {packet} bytes for a frame that has {frame}")]
    Length {
        /// Bytes that the packet has behind IPv6's header.
        packet: usize,
        /// Bytes of the frame's header and payload; of the header alone if the packet is too short for that.
        frame: usize,
    },
}
