//! TCP in Ethernet frames, as far as segmentation looks at it.

use std::ops::Range;

use crate::wire::ETHERNET_HEADER;

/// Where the parts of a TCP packet lie in a frame of IPv4 without options, or of IPv6 without extension headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tcp {
    pub(super) is_v6: bool,
    /// First byte of the TCP header.
    pub(super) tcp: usize,
    /// First byte of its payload.
    pub(super) payload: usize,
    /// End of the packet; what follows is padding.
    pub(super) end: usize,
}

/// TCP's flags.
pub(super) const FIN: u8 = 1 << 0;
pub(super) const PSH: u8 = 1 << 3;
pub(super) const ACK: u8 = 1 << 4;
pub(super) const CWR: u8 = 1 << 7;

/// Offset of TCP's checksum in its header.
pub(super) const CHECKSUM: usize = 16;

impl Tcp {
    /// The packet in a frame. `None` if there is none of this kind, or only a fragment. Its length field may be wrong
    /// if the kernel has yet to cut it: `whole` says to take the frame's end for the packet's.
    pub(super) fn of(frame: &[u8], whole: bool) -> Option<Self> {
        let ip = frame.get(ETHERNET_HEADER..)?;
        let (is_v6, tcp, length) = match word(frame, 12)? {
            0x0800 => {
                let is_plain = *ip.first()? == 0x45 && *ip.get(9)? == 6 && word(ip, 6)? & 0x3fff == 0;
                is_plain.then_some((false, ETHERNET_HEADER + 20, usize::from(word(ip, 2)?)))?
            }
            0x86dd => {
                let is_plain = *ip.first()? >> 4 == 6 && *ip.get(6)? == 6;
                is_plain.then_some((true, ETHERNET_HEADER + 40, 40 + usize::from(word(ip, 4)?)))?
            }
            _ => return None,
        };
        let end = if whole { frame.len() } else { ETHERNET_HEADER + length };
        let header = usize::from(*frame.get(tcp + 12)? >> 4) * 4;
        let payload = tcp + header;
        (header >= 20 && payload <= end && end <= frame.len()).then_some(Self { is_v6, tcp, payload, end })
    }

    /// The source and destination of IP.
    pub(super) const fn addresses(self) -> Range<usize> {
        if self.is_v6 { ETHERNET_HEADER + 8..ETHERNET_HEADER + 40 } else { ETHERNET_HEADER + 12..ETHERNET_HEADER + 20 }
    }

    pub(super) fn seq(self, frame: &[u8]) -> u32 {
        u32::from_be_bytes(frame[self.tcp + 4..self.tcp + 8].try_into().expect("four bytes"))
    }

    pub(super) fn flags(self, frame: &[u8]) -> u8 {
        frame[self.tcp + 13]
    }

    /// Sum of the pseudo-header, which TCP's checksum covers too.
    pub(super) fn pseudo(self, frame: &[u8]) -> u64 {
        sum(&frame[self.addresses()]) + 6 + (self.end - self.tcp) as u64
    }

    /// Puts the length of the frame, which is whole, into the header of IP, and its checksum.
    pub(super) fn set_length(self, frame: &mut [u8]) {
        let length = (self.end - ETHERNET_HEADER) as u16;
        if self.is_v6 {
            put(frame, ETHERNET_HEADER + 4, length - 40);
        } else {
            put(frame, ETHERNET_HEADER + 2, length);
            put(frame, ETHERNET_HEADER + 10, 0);
            let checksum = !fold(sum(&frame[ETHERNET_HEADER..self.tcp]));
            put(frame, ETHERNET_HEADER + 10, checksum);
        }
    }

    /// Puts TCP's checksum in its place.
    pub(super) fn set_checksum(self, frame: &mut [u8]) {
        put(frame, self.tcp + CHECKSUM, 0);
        let checksum = !fold(self.pseudo(frame) + sum(&frame[self.tcp..self.end]));
        put(frame, self.tcp + CHECKSUM, checksum);
    }

    /// Whether the checksums of TCP and of IP are right.
    pub(super) fn is_sound(self, frame: &[u8]) -> bool {
        let is_ip = self.is_v6 || fold(sum(&frame[ETHERNET_HEADER..self.tcp])) == 0xffff;
        is_ip && fold(self.pseudo(frame) + sum(&frame[self.tcp..self.end])) == 0xffff
    }
}

/// The sum of 16-bit words that the Internet's checksum is made of (RFC 1071); an odd byte is a high one.
pub(super) fn sum(bytes: &[u8]) -> u64 {
    let words = bytes.chunks_exact(4);
    let tail = words.remainder();
    let mut last = [0; 4];
    last[..tail.len()].copy_from_slice(tail);
    let word = |bytes: [u8; 4]| u64::from(u32::from_be_bytes(bytes));
    words.map(|bytes| word(bytes.try_into().expect("four bytes"))).sum::<u64>() + word(last)
}

/// A sum in 16 bits, with the carries added in.
pub(super) const fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

pub(super) fn put(frame: &mut [u8], at: usize, value: u16) {
    frame[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().expect("two bytes")))
}
