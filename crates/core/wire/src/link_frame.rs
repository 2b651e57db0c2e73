//! Reading and writing whole frames of the link family.

use alloc::vec::Vec;
use bytes::Bytes;
use zerocopy::IntoBytes;

use crate::generated::link::{HEADER_END, Header, Kind, LINK, Link, VERSION};
use crate::{FRAME_MIN, Frame, MacAddr, ParseError};

/// Everything of a link's frame but its payload. All of them are for the card at the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkHead {
    /// Address of the sender's port.
    pub src: MacAddr,
    /// What the frame is.
    pub kind: Kind,
    /// `FLAG_*` bits.
    pub flags: u8,
    /// The sender's context.
    pub slot: u16,
    /// Which message of the operation.
    pub tag: u16,
    /// The sender's life on this link.
    pub src_epoch: u32,
    /// The newest life that the sender knows of the receiver; 0: none.
    pub dst_epoch: u32,
    /// Sequence number, for the kinds that have one.
    pub seq: u32,
    /// First sequence number that has not come from the receiver; valid if `dst_epoch` is not 0.
    pub ack: u32,
    /// First sequence number that the receiver may not send; valid if `dst_epoch` is not 0.
    pub limit: u32,
    /// Number of the group's operation.
    pub sequence: u32,
    /// Offset of the payload in its message.
    pub offset: u32,
    /// Bytes of the whole message.
    pub total: u32,
    /// The group of cards.
    pub group: u64,
}

impl LinkHead {
    /// A frame of this kind, with zeros for all else.
    pub const fn new(src: MacAddr, kind: Kind) -> Self {
        let (flags, slot, tag, src_epoch, dst_epoch, seq, ack, limit) = (0, 0, 0, 0, 0, 0, 0, 0);
        let (sequence, offset, total, group) = (0, 0, 0, 0);
        Self { src, kind, flags, slot, tag, src_epoch, dst_epoch, seq, ack, limit, sequence, offset, total, group }
    }

    /// The frame with this payload, padded to Ethernet's minimum.
    ///
    /// # Panics
    /// If the payload is longer than 65,535 bytes: no caller may build such a frame.
    pub fn frame(&self, payload: &[u8]) -> Bytes {
        let length = u16::try_from(payload.len()).expect("a frame's payload fits its length field");
        let wire = self.kind as u32;
        let header = Header {
            version_flags: VERSION << 4 | (self.flags & 0xf),
            kind: wire as u8,
            length: length.into(),
            slot: self.slot.into(),
            tag: self.tag.into(),
            reserved: 0.into(),
            src_epoch: self.src_epoch.into(),
            dst_epoch: self.dst_epoch.into(),
            seq: self.seq.into(),
            ack: self.ack.into(),
            limit: self.limit.into(),
            number: self.sequence.into(),
            offset: self.offset.into(),
            total: self.total.into(),
            group: self.group.into(),
        };
        const { assert!(HEADER_END > FRAME_MIN, "no frame needs padding") };
        let mut out = Vec::with_capacity(usize::from(HEADER_END) + payload.len());
        out.extend_from_slice(&LINK.0);
        out.extend_from_slice(&self.src.0);
        out.extend_from_slice(&((wire >> 8) as u16).to_be_bytes());
        out.extend_from_slice(header.as_bytes());
        out.extend_from_slice(payload);
        Bytes::from(out)
    }
}

/// A link's frame taken apart, its payload still in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkPacket<'a> {
    /// Everything but the payload.
    pub head: LinkHead,
    /// The payload, without padding.
    pub payload: &'a [u8],
}

impl<'a> LinkPacket<'a> {
    /// Takes a frame apart. Whether it was sent to [`LINK`] is not asked: the cable has one other end.
    ///
    /// # Errors
    /// See [`ParseError`]; nothing of such a frame may be used.
    pub fn parse(frame: &'a [u8]) -> Result<Self, ParseError> {
        let Frame { src, kind, flags, header, payload, .. } = Frame::<Link>::parse(frame)?;
        let head = LinkHead {
            src,
            kind,
            flags,
            slot: header.slot.get(),
            tag: header.tag.get(),
            src_epoch: header.src_epoch.get(),
            dst_epoch: header.dst_epoch.get(),
            seq: header.seq.get(),
            ack: header.ack.get(),
            limit: header.limit.get(),
            sequence: header.number.get(),
            offset: header.offset.get(),
            total: header.total.get(),
            group: header.group.get(),
        };
        Ok(Self { head, payload })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Family;

    #[test]
    fn a_message_has_these_bytes_and_is_of_no_family_elsewhere() {
        let head = LinkHead {
            slot: 2,
            tag: 3,
            src_epoch: 7,
            dst_epoch: 8,
            seq: 9,
            ack: 10,
            limit: 11,
            sequence: 12,
            offset: 13,
            total: 15,
            group: 0x0102_0304_0506_0708,
            ..LinkHead::new(MacAddr([2, 0, 0, 0, 0, 1]), Kind::LinkData)
        };
        let frame = head.frame(&[0xaa, 0xbb]);
        let hex: Vec<_> = frame.iter().map(|b| alloc::format!("{b:02x}")).collect();
        assert_eq!(
            hex.concat(),
            "03524c00000302000000000188b5\
             1001000200020003000000000007000000080000\
             00090000000a0000000b0000000c0000000d0000000f0102030405060708aabb"
        );
        let packet = LinkPacket::parse(&frame).unwrap();
        assert_eq!((packet.head, packet.payload), (head, &[0xaa, 0xbb][..]));
        assert_eq!(Family::of(&frame), None);
        for end in 0..frame.len() {
            assert!(LinkPacket::parse(&frame[..end]).is_err(), "{end}");
        }
    }
}
