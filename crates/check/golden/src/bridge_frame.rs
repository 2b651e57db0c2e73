//! Frames of the bridge family: built and taken apart.

use rackloom_wire::bridge::Kind;
use rackloom_wire::{self as wire, BridgePacket, Ipv6Error, MacAddr, ParseError};

use crate::Fault;
use crate::frame::{mac, number};

/// Everything of a bridge frame but its payload.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct BridgeHead {
    /// The receiver, 48 bits.
    pub dst: u64,
    /// The sender, 48 bits.
    pub src: u64,
    /// Address in the receiver's windows, or offset in a stream's message.
    pub addr: u64,
    /// Sequence number.
    pub seq: u32,
    /// The sender's life.
    pub src_epoch: u32,
    /// The newest life that the sender knows of the receiver; 0: none.
    pub dst_epoch: u32,
    /// First sequence number missing.
    pub ack: u32,
    /// First sequence number that the receiver may not send.
    pub limit: u32,
    /// Bytes asked for, given or applied.
    pub count: u32,
    /// Number of the transaction.
    pub id: u16,
    /// Status, stream or operation.
    pub tag: u16,
    /// The channel, which may be any.
    pub channel: u16,
    /// What the frame is.
    pub kind: u8,
    /// Flags, 4 bits.
    pub flags: u8,
}

/// What is wrong with a frame: the parser's errors by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum BridgeFault {
    /// It is shorter than a head, or than its packet says.
    Truncated = 1,
    /// It is not of the family: another EtherType, version of IP or next header, or no node's destination.
    Foreign = 2,
    /// Its hop limit is not a node's.
    HopLimit = 3,
    /// Source or destination is not of the nodes' subnet.
    Subnet = 4,
    /// Its sources of IPv6 and Ethernet are not the same node's.
    Spoofed = 5,
    /// Its destinations of IPv6 and Ethernet are not the same node's.
    Misdirected = 6,
    /// The lengths of packet and payload do not agree.
    Length = 7,
    /// Another version of the family.
    Version = 8,
    /// There is no such kind.
    Kind = 9,
    /// It is authenticated.
    Auth = 10,
}

impl From<ParseError> for BridgeFault {
    fn from(error: ParseError) -> Self {
        match error {
            ParseError::Foreign(_) => Self::Foreign,
            ParseError::Truncated { .. } => Self::Truncated,
            ParseError::Version { .. } => Self::Version,
            ParseError::UnknownKind { .. } => Self::Kind,
            ParseError::Auth => Self::Auth,
            ParseError::Ipv6(error) => match error {
                Ipv6Error::Version(_) | Ipv6Error::NextHeader(_) | Ipv6Error::Destination(_) => Self::Foreign,
                Ipv6Error::HopLimit(_) => Self::HopLimit,
                Ipv6Error::Subnet(_) => Self::Subnet,
                Ipv6Error::Spoofed { .. } => Self::Spoofed,
                Ipv6Error::Misdirected { .. } => Self::Misdirected,
                Ipv6Error::Length { .. } => Self::Length,
            },
        }
    }
}

/// Most payload bytes that a packet has room for.
const PAYLOAD_MAX: usize = u16::MAX as usize - size_of::<wire::bridge::Header>();

/// The frame with this payload. Its kind must exist; the payload may be any.
pub(crate) fn build(head: &BridgeHead, payload: &[u8]) -> Result<Vec<u8>, Fault> {
    let kind = Kind::from_wire(head.kind).ok_or(Fault::Refused)?;
    if head.flags > 0xf || payload.len() > PAYLOAD_MAX {
        return Err(Fault::Argument);
    }
    let BridgeHead { addr, seq, src_epoch, dst_epoch, ack, limit, count, id, tag, channel, flags, .. } = *head;
    let (dst, src): (MacAddr, MacAddr) = (mac(head.dst)?, mac(head.src)?);
    let head = wire::BridgeHead {
        dst,
        src,
        kind,
        flags,
        id,
        seq,
        src_epoch,
        dst_epoch,
        ack,
        limit,
        addr,
        count,
        tag,
        channel,
    };
    Ok(head.frame(&[payload]).to_vec())
}

/// A frame's head, and the length of its payload, which begins at byte 96.
pub(crate) fn parse(frame: &[u8]) -> Result<(BridgeHead, usize), BridgeFault> {
    let BridgePacket { head, payload } = BridgePacket::parse(frame)?;
    let wire::BridgeHead { flags, id, seq, src_epoch, dst_epoch, ack, limit, addr, count, tag, channel, .. } = head;
    let (dst, src, kind) = (number(head.dst), number(head.src), head.kind as u8);
    let head =
        BridgeHead { dst, src, addr, seq, src_epoch, dst_epoch, ack, limit, count, id, tag, channel, kind, flags };
    Ok((head, payload.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: BridgeHead = BridgeHead {
        dst: 0x0252_4c00_0001,
        src: 0x0200_0000_0002,
        addr: 3,
        seq: 4,
        src_epoch: 5,
        dst_epoch: 6,
        ack: 7,
        limit: 8,
        count: 9,
        id: 10,
        tag: 11,
        channel: 12,
        kind: 2,
        flags: 1,
    };

    #[test]
    fn what_was_built_is_parsed() {
        let frame = build(&HEAD, &[9; 8]).unwrap();
        assert_eq!(frame[54..64], [0x11, 2, 0, 8, 0, 10, 0, 0, 0, 4]);
        assert_eq!(parse(&frame), Ok((HEAD, 8)));
    }

    #[test]
    fn bad_heads_are_errors() {
        assert_eq!(build(&BridgeHead { kind: 11, ..HEAD }, &[]), Err(Fault::Refused));
        assert_eq!(build(&BridgeHead { flags: 16, ..HEAD }, &[]), Err(Fault::Argument));
        assert_eq!(build(&BridgeHead { src: 1 << 48, ..HEAD }, &[]), Err(Fault::Argument));
        assert_eq!(build(&HEAD, &vec![0; PAYLOAD_MAX + 1]), Err(Fault::Argument));
        assert_eq!(build(&HEAD, &vec![0; PAYLOAD_MAX]).unwrap().len(), 96 + PAYLOAD_MAX);
    }

    #[test]
    fn each_fault_of_a_frame_has_its_number() {
        let good = build(&HEAD, &[9; 8]).unwrap();
        let fault = |at: usize, value: u8| {
            let mut frame = good.clone();
            frame[at] = value;
            parse(&frame).unwrap_err()
        };
        assert_eq!(parse(&good[..103]), Err(BridgeFault::Truncated));
        let of = [
            (12, 0x08, BridgeFault::Foreign),
            (14, 0x40, BridgeFault::Foreign),
            (20, 6, BridgeFault::Foreign),
            (38, 0x20, BridgeFault::Foreign),
            (21, 64, BridgeFault::HopLimit),
            (25, 1, BridgeFault::Subnet),
            (37, 1, BridgeFault::Spoofed),
            (5, 9, BridgeFault::Misdirected),
            (57, 7, BridgeFault::Length),
            (54, 0x21, BridgeFault::Version),
            (55, 0, BridgeFault::Kind),
            (54, 0x14, BridgeFault::Auth),
        ];
        for (at, value, expected) in of {
            assert_eq!(fault(at, value), expected, "{at}");
        }
    }
}
