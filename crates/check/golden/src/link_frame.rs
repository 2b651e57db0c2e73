//! Frames of the link family: built and taken apart.

use rackloom_wire::link::{Kind, ethertype};
use rackloom_wire::{self as wire, LinkPacket, ParseError};

use crate::Fault;
use crate::frame::{mac, number};

/// Everything of a link's frame but its payload.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct LinkHead {
    /// The sender's port, 48 bits.
    pub src: u64,
    /// The group of cards.
    pub group: u64,
    /// The sender's life on this link.
    pub src_epoch: u32,
    /// The newest life that the sender knows of the receiver; 0: none.
    pub dst_epoch: u32,
    /// Sequence number.
    pub seq: u32,
    /// First sequence number missing.
    pub ack: u32,
    /// First sequence number that the receiver may not send.
    pub limit: u32,
    /// Number of the group's operation.
    pub number: u32,
    /// Offset of the payload in its message.
    pub offset: u32,
    /// Bytes of the whole message.
    pub total: u32,
    /// The sender's context.
    pub slot: u16,
    /// Which message of the operation.
    pub tag: u16,
    /// What the frame is.
    pub kind: u8,
    /// Flags, 4 bits.
    pub flags: u8,
}

/// What is wrong with a frame: the parser's errors by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum LinkFault {
    /// It is shorter than a head, or than it says.
    Truncated = 1,
    /// Another EtherType.
    Foreign = 2,
    /// Another version of the family.
    Version = 3,
    /// There is no such kind.
    Kind = 4,
    /// It is authenticated.
    Auth = 5,
}

impl From<ParseError> for LinkFault {
    fn from(error: ParseError) -> Self {
        match error {
            // No packet carries a link's frame.
            ParseError::Foreign(_) | ParseError::Ipv6(_) => Self::Foreign,
            ParseError::Truncated { .. } => Self::Truncated,
            ParseError::Version { .. } => Self::Version,
            ParseError::UnknownKind { .. } => Self::Kind,
            ParseError::Auth => Self::Auth,
        }
    }
}

/// The frame with this payload. Its kind must exist; the payload may be any.
pub(crate) fn build(head: &LinkHead, payload: &[u8]) -> Result<Vec<u8>, Fault> {
    let kind = Kind::from_wire(ethertype::LINK, head.kind).ok_or(Fault::Refused)?;
    if head.flags > 0xf || payload.len() > usize::from(u16::MAX) {
        return Err(Fault::Argument);
    }
    let LinkHead { group, src_epoch, dst_epoch, seq, ack, limit, number, offset, total, slot, tag, flags, .. } = *head;
    let src = mac(head.src)?;
    let sequence = number;
    let head = wire::LinkHead {
        src,
        kind,
        flags,
        slot,
        tag,
        src_epoch,
        dst_epoch,
        seq,
        ack,
        limit,
        sequence,
        offset,
        total,
        group,
    };
    Ok(head.frame(payload).to_vec())
}

/// A frame's head, and the length of its payload, which begins at byte 64.
pub(crate) fn parse(frame: &[u8]) -> Result<(LinkHead, usize), LinkFault> {
    let LinkPacket { head, payload } = LinkPacket::parse(frame)?;
    let wire::LinkHead { flags, slot, tag, src_epoch, dst_epoch, seq, ack, limit, offset, total, group, .. } = head;
    let (src, number, kind) = (number(head.src), head.sequence, head.kind as u8);
    let head =
        LinkHead { src, group, src_epoch, dst_epoch, seq, ack, limit, number, offset, total, slot, tag, kind, flags };
    Ok((head, payload.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: LinkHead = LinkHead {
        src: 0x0252_4c00_0001,
        group: 2,
        src_epoch: 3,
        dst_epoch: 4,
        seq: 5,
        ack: 6,
        limit: 7,
        number: 8,
        offset: 9,
        total: 10,
        slot: 11,
        tag: 12,
        kind: 1,
        flags: 1,
    };

    #[test]
    fn what_was_built_is_parsed() {
        let frame = build(&HEAD, &[9; 8]).unwrap();
        assert_eq!(frame[12..24], [0x88, 0xb5, 0x11, 1, 0, 8, 0, 11, 0, 12, 0, 0]);
        assert_eq!(parse(&frame), Ok((HEAD, 8)));
    }

    #[test]
    fn bad_heads_are_errors() {
        assert_eq!(build(&LinkHead { kind: 9, ..HEAD }, &[]), Err(Fault::Refused));
        assert_eq!(build(&LinkHead { flags: 16, ..HEAD }, &[]), Err(Fault::Argument));
        assert_eq!(build(&LinkHead { src: 1 << 48, ..HEAD }, &[]), Err(Fault::Argument));
        assert_eq!(build(&HEAD, &[0; 1 << 16]), Err(Fault::Argument));
    }

    #[test]
    fn each_fault_of_a_frame_has_its_number() {
        let good = build(&HEAD, &[9; 8]).unwrap();
        assert_eq!(parse(&good[..71]), Err(LinkFault::Truncated));
        let of = [
            (12, 0x08, LinkFault::Foreign),
            (14, 0x21, LinkFault::Version),
            (15, 9, LinkFault::Kind),
            (14, 0x14, LinkFault::Auth),
            (16, 1, LinkFault::Truncated),
        ];
        for (at, value, expected) in of {
            let mut frame = good.clone();
            frame[at] = value;
            assert_eq!(parse(&frame), Err(expected), "{at}");
        }
    }
}
