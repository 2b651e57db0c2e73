//! The IPv6 packets that carry a family's frames, and the addresses of their nodes.

use core::net::Ipv6Addr;

use zerocopy::byteorder::network_endian::{U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::mac::{ETHERNET, MacAddr};
use crate::parse_error::{Ipv6Error, ParseError};

/// IPv6's header, RFC 8200. protogen holds the descriptions of families against the same.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct Ipv6 {
    /// Version, traffic class and flow label.
    version_class_flow: U32,
    /// Bytes behind this header.
    payload_length: U16,
    next_header: u8,
    hop_limit: u8,
    src: [u8; 16],
    dst: [u8; 16],
}

/// What a packet of IPv6 has to have to carry a frame of a family.
///
/// Each node's address is the subnet and the EUI-64 of its port, so an Ethernet address says which address of IPv6 is
/// its node's, and the other way round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Carrier {
    /// The EtherType of IPv6.
    pub ethertype: u16,
    /// The next header that announces a frame of the family.
    pub next_header: u8,
    /// Sent, and demanded of what comes. 255 shows that no router has passed the packet on (RFC 5082).
    pub hop_limit: u8,
    /// The first eight bytes of every node's address.
    pub subnet: u64,
}

impl Carrier {
    /// The address of the node with this Ethernet address: the subnet and the modified EUI-64 of RFC 4291, appendix A.
    pub const fn address(&self, node: MacAddr) -> Ipv6Addr {
        let [a, b, c, d, e, f] = node.0;
        let eui64 = u64::from_be_bytes([a ^ 2, b, c, 0xff, 0xfe, d, e, f]);
        Ipv6Addr::from_bits((self.subnet as u128) << 64 | eui64 as u128)
    }

    /// The Ethernet address of the node with this address; `None` if no node has it.
    pub const fn node(&self, address: Ipv6Addr) -> Option<MacAddr> {
        let bits = address.to_bits();
        match (bits as u64).to_be_bytes() {
            [a, b, c, 0xff, 0xfe, d, e, f] if (bits >> 64) as u64 == self.subnet => {
                Some(MacAddr([a ^ 2, b, c, d, e, f]))
            }
            _ => None,
        }
    }

    /// Whether the frame is of the family: such a packet, to an address within fc00::/7. It may yet break the family's
    /// other rules. All other packets of the EtherType are a host's.
    pub fn carries(&self, frame: &[u8]) -> bool {
        // The first byte of the destination is the last one that matters.
        let Some(head) = frame.first_chunk::<{ ETHERNET + 25 }>() else { return false };
        let [ethertype, packet] = [&head[12..14], &head[ETHERNET..]];
        ethertype == self.ethertype.to_be_bytes()
            && packet[0] >> 4 == 6
            && packet[6] == self.next_header
            && packet[24] & 0xfe == 0xfc
    }

    /// The header of a packet with so many bytes between two nodes.
    pub(crate) fn header(&self, dst: MacAddr, src: MacAddr, bytes: u16) -> Ipv6 {
        Ipv6 {
            version_class_flow: U32::new(6 << 28),
            payload_length: bytes.into(),
            next_header: self.next_header,
            hop_limit: self.hop_limit,
            src: self.address(src).octets(),
            dst: self.address(dst).octets(),
        }
    }

    /// Opens a packet, which starts behind the EtherType: where its contents start in the frame, and the contents,
    /// which have at least `least` bytes.
    pub(crate) fn open<'a>(
        &self,
        packet: &'a [u8],
        dst: MacAddr,
        src: MacAddr,
        least: usize,
    ) -> Result<(usize, &'a [u8]), ParseError> {
        let start = ETHERNET + size_of::<Ipv6>();
        let truncated = |need: usize| ParseError::Truncated { need, have: ETHERNET + packet.len() };
        let (ipv6, behind) = Ipv6::ref_from_prefix(packet).map_err(|_| truncated(start))?;
        let [to, from] = [ipv6.dst, ipv6.src].map(Ipv6Addr::from);
        let version = (ipv6.version_class_flow.get() >> 28) as u8;
        // These say that the packet is of the family at all: `carries` has them as well.
        if version != 6 {
            return Err(Ipv6Error::Version(version).into());
        }
        if ipv6.next_header != self.next_header {
            return Err(Ipv6Error::NextHeader(ipv6.next_header).into());
        }
        if ipv6.dst[0] & 0xfe != 0xfc {
            return Err(Ipv6Error::Destination(to).into());
        }
        if ipv6.hop_limit != self.hop_limit {
            return Err(Ipv6Error::HopLimit(ipv6.hop_limit).into());
        }
        for address in [from, to] {
            if (address.to_bits() >> 64) as u64 != self.subnet {
                return Err(Ipv6Error::Subnet(address).into());
            }
        }
        if from != self.address(src) || src.is_multicast() {
            return Err(Ipv6Error::Spoofed { address: from, mac: src }.into());
        }
        if to != self.address(dst) {
            return Err(Ipv6Error::Misdirected { address: to, mac: dst }.into());
        }
        let length = usize::from(ipv6.payload_length.get());
        let contents = behind.get(..length).ok_or_else(|| truncated(start + length))?;
        if length < least {
            return Err(Ipv6Error::Length { packet: length, frame: least }.into());
        }
        Ok((start, contents))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bridge::CARRIER;
    use alloc::string::ToString;

    #[test]
    fn addresses_and_nodes_name_each_other() {
        let node = MacAddr([2, 0x52, 0x4c, 0, 0, 7]);
        let address = CARRIER.address(node);
        assert_eq!(address.to_string(), "fd52:4c00::52:4cff:fe00:7");
        assert_eq!(CARRIER.node(address), Some(node));
        // RFC 4291's own example: the bit of global addresses is set.
        let global = MacAddr([0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde]);
        assert_eq!(CARRIER.address(global).to_string(), "fd52:4c00::3656:78ff:fe9a:bcde");
        for other in ["fd52:4c00::52:4cfe:fe00:7", "fd52:4c00::52:4cff:ff00:7", "fd52:4c00:0:1:52:4cff:fe00:7", "::1"] {
            assert_eq!(CARRIER.node(other.parse().unwrap()), None, "{other}");
        }
        for first in [0, 2, 0xfd, 0xff] {
            let node = MacAddr([first, 1, 2, 3, 4, 5]);
            assert_eq!(CARRIER.node(CARRIER.address(node)), Some(node));
        }
    }
}
