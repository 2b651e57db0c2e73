//! Reading and writing whole frames of the bridge family.

use core::fmt;

use alloc::vec::Vec;
use bytes::Bytes;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::bridge::{Bridge, CARRIER, HEADER_END, Header, Kind, VERSION};
use crate::{Frame, MacAddr, ParseError};

/// Everything of a bridge frame but its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BridgeHead {
    /// The receiver, a node.
    pub dst: MacAddr,
    /// The sender, a node.
    pub src: MacAddr,
    /// What the frame is.
    pub kind: Kind,
    /// `FLAG_*` bits.
    pub flags: u8,
    /// Number of the transaction.
    pub id: u16,
    /// Sequence number, for the kinds that have one.
    pub seq: u32,
    /// The sender's life.
    pub src_epoch: u32,
    /// The newest life that the sender knows of the receiver; 0: none.
    pub dst_epoch: u32,
    /// First sequence number that has not come from the receiver; valid if `dst_epoch` is not 0.
    pub ack: u32,
    /// First sequence number that the receiver may not send; valid if `dst_epoch` is not 0.
    pub limit: u32,
    /// Address in the receiver's windows, or offset in a stream's message.
    pub addr: u64,
    /// Bytes that are asked for, given or applied.
    pub count: u32,
    /// Status, stream or operation, as the kind has it.
    pub tag: u16,
    /// `CHANNEL_MEMORY` or `CHANNEL_STREAMS`.
    pub channel: u16,
}

impl BridgeHead {
    /// A frame of this kind between two nodes, with zeros for all else.
    pub const fn new(dst: MacAddr, src: MacAddr, kind: Kind) -> Self {
        let (flags, id, seq, src_epoch, dst_epoch, ack, limit) = (0, 0, 0, 0, 0, 0, 0);
        let (addr, count, tag, channel) = (0, 0, 0, 0);
        Self { dst, src, kind, flags, id, seq, src_epoch, dst_epoch, ack, limit, addr, count, tag, channel }
    }

    /// The frame with these payload parts, one after the other.
    ///
    /// # Panics
    /// If the payload and the header are longer than the 65,535 bytes of a packet: no caller may build such a frame.
    pub fn frame(&self, payload: &[&[u8]]) -> Bytes {
        let length: usize = payload.iter().map(|p| p.len()).sum();
        let packet = u16::try_from(size_of::<Header>() + length).expect("a frame's payload fits a packet");
        let header = Header {
            version_flags: VERSION << 4 | (self.flags & 0xf),
            kind: self.kind as u8,
            length: (length as u16).into(),
            id: self.id.into(),
            seq: self.seq.into(),
            src_epoch: self.src_epoch.into(),
            dst_epoch: self.dst_epoch.into(),
            ack: self.ack.into(),
            limit: self.limit.into(),
            addr: self.addr.into(),
            count: self.count.into(),
            tag: self.tag.into(),
            channel: self.channel.into(),
        };
        let mut out = Vec::with_capacity(usize::from(HEADER_END) + length);
        out.extend_from_slice(&self.dst.0);
        out.extend_from_slice(&self.src.0);
        out.extend_from_slice(&CARRIER.ethertype.to_be_bytes());
        out.extend_from_slice(CARRIER.header(self.dst, self.src, packet).as_bytes());
        out.extend_from_slice(header.as_bytes());
        for part in payload {
            out.extend_from_slice(part);
        }
        Bytes::from(out)
    }
}

/// A bridge frame taken apart, its payload still in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BridgePacket<'a> {
    /// Everything but the payload.
    pub head: BridgeHead,
    /// The payload, without padding.
    pub payload: &'a [u8],
}

impl<'a> BridgePacket<'a> {
    /// Takes a frame apart.
    ///
    /// # Errors
    /// See [`ParseError`]; nothing of such a frame may be used.
    pub fn parse(frame: &'a [u8]) -> Result<Self, ParseError> {
        let Frame { dst, src, kind, flags, header, payload } = Frame::<Bridge>::parse(frame)?;
        let head = BridgeHead {
            dst,
            src,
            kind,
            flags,
            id: header.id.get(),
            seq: header.seq.get(),
            src_epoch: header.src_epoch.get(),
            dst_epoch: header.dst_epoch.get(),
            ack: header.ack.get(),
            limit: header.limit.get(),
            addr: header.addr.get(),
            count: header.count.get(),
            tag: header.tag.get(),
            channel: header.channel.get(),
        };
        Ok(Self { head, payload })
    }

    /// The payload as the struct that its kind carries, and what follows the struct; `None` if it is too short.
    pub fn view<T: FromBytes + KnownLayout + Immutable + Unaligned>(&self) -> Option<(&'a T, &'a [u8])> {
        T::ref_from_prefix(self.payload).ok()
    }
}

impl fmt::Display for BridgePacket<'_> {
    /// One line in the manner of tcpdump.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BridgeHead { dst, src, kind, flags, id, seq, src_epoch, dst_epoch, ack, limit, .. } = self.head;
        let BridgeHead { addr, count, tag, channel, .. } = self.head;
        write!(
            f,
            "{src} > {dst} {} id {id} seq {seq} src_epoch {src_epoch} dst_epoch {dst_epoch} ack {ack} limit {limit} \
             addr {addr:#x} count {count} tag {tag} channel {channel} length {}",
            kind.name(),
            self.payload.len()
        )?;
        if flags != 0 { write!(f, " flags {flags:#x}") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bridge::{FLAG_ASKS, FLAG_LAST, FLAG_SELECTIVE, Sack};
    use crate::{Family, Ipv6Error};
    use alloc::string::ToString;

    const HERE: MacAddr = MacAddr([2, 0x52, 0x4c, 0, 0, 7]);
    const THERE: MacAddr = MacAddr([2, 0x52, 0x4c, 0, 1, 9]);

    fn head() -> BridgeHead {
        BridgeHead {
            flags: FLAG_ASKS | FLAG_SELECTIVE,
            id: 0x0102,
            seq: 0x0304_0506,
            src_epoch: 7,
            dst_epoch: 8,
            ack: 9,
            limit: 10,
            addr: 0x1_0000_0008,
            count: 4,
            tag: 1,
            channel: 1,
            ..BridgeHead::new(THERE, HERE, Kind::WriteRequest)
        }
    }

    fn good() -> Vec<u8> {
        head().frame(&[&[0xaa, 0xbb], &[0xcc, 0xdd]]).to_vec()
    }

    /// What the parser says of a good frame with other bytes at some place.
    fn with(at: usize, bytes: &[u8]) -> ParseError {
        let mut frame = good();
        frame[at..at + bytes.len()].copy_from_slice(bytes);
        BridgePacket::parse(&frame).unwrap_err()
    }

    fn ipv6(at: usize, bytes: &[u8]) -> Ipv6Error {
        match with(at, bytes) {
            ParseError::Ipv6(error) => error,
            other => panic!("{other}"),
        }
    }

    #[test]
    fn a_write_has_these_bytes() {
        let hex: Vec<_> = good().iter().map(|b| alloc::format!("{b:02x}")).collect();
        assert_eq!(
            hex.concat(),
            "02524c00010902524c00000786dd\
             60000000002efdfffd524c000000000000524cfffe000007fd524c000000000000524cfffe000109\
             19020004010203040506000000070000000800000009\
             0000000a00000001000000080000000400010001\
             aabbccdd"
        );
        let frame = good();
        let packet = BridgePacket::parse(&frame).unwrap();
        assert_eq!((packet.head, packet.payload), (head(), &[0xaa, 0xbb, 0xcc, 0xdd][..]));
        assert_eq!(
            packet.to_string(),
            "02:52:4c:00:00:07 > 02:52:4c:00:01:09 bridge.write-request id 258 seq 50595078 src_epoch 7 dst_epoch 8 \
             ack 9 limit 10 addr 0x100000008 count 4 tag 1 channel 1 length 4 flags 0x9"
        );
    }

    #[test]
    fn bytes_behind_the_packet_are_padding() {
        let frame = BridgeHead::new(THERE, HERE, Kind::Ack).frame(&[Sack { bitmap: [5; 32] }.as_bytes()]);
        let padded = [&frame[..], &[0xff; 5]].concat();
        let packet = BridgePacket::parse(&padded).unwrap();
        let (sack, rest) = packet.view::<Sack>().unwrap();
        assert_eq!((sack.bitmap, rest.len()), ([5; 32], 0));
        // Nothing is cut off but what is behind.
        for end in 0..frame.len() {
            assert!(matches!(BridgePacket::parse(&frame[..end]), Err(ParseError::Truncated { .. })), "{end}");
        }
    }

    #[test]
    fn each_fault_of_the_packet_has_its_name() {
        assert_eq!(ipv6(14, &[0x40]), Ipv6Error::Version(4));
        assert_eq!(ipv6(20, &[17]), Ipv6Error::NextHeader(17));
        assert_eq!(ipv6(38, &[0x20]), Ipv6Error::Destination("2052:4c00::52:4cff:fe00:109".parse().unwrap()));
        assert_eq!(ipv6(21, &[254]), Ipv6Error::HopLimit(254));
        assert_eq!(ipv6(29, &[1]), Ipv6Error::Subnet("fd52:4c00:0:1:52:4cff:fe00:7".parse().unwrap()));
        assert_eq!(ipv6(38, &[0xfc]), Ipv6Error::Subnet("fc52:4c00::52:4cff:fe00:109".parse().unwrap()));
        assert_eq!(ipv6(37, &[8]), Ipv6Error::Spoofed { address: CARRIER.address(with_last(HERE, 8)), mac: HERE });
        assert_eq!(ipv6(11, &[8]), Ipv6Error::Spoofed { address: CARRIER.address(HERE), mac: with_last(HERE, 8) });
        assert_eq!(
            ipv6(53, &[8]),
            Ipv6Error::Misdirected { address: CARRIER.address(with_last(THERE, 8)), mac: THERE }
        );
        assert_eq!(ipv6(5, &[8]), Ipv6Error::Misdirected { address: CARRIER.address(THERE), mac: with_last(THERE, 8) });
        let group = MacAddr([3, 0x52, 0x4c, 0, 0, 1]);
        let frame = BridgeHead::new(THERE, group, Kind::Unack).frame(&[]);
        let spoofed = Ipv6Error::Spoofed { address: CARRIER.address(group), mac: group };
        assert_eq!(BridgePacket::parse(&frame), Err(ParseError::Ipv6(spoofed)));
    }

    fn with_last(MacAddr([a, b, c, d, e, _]): MacAddr, last: u8) -> MacAddr {
        MacAddr([a, b, c, d, e, last])
    }

    #[test]
    fn lengths_of_packet_and_frame_must_agree() {
        assert_eq!(ipv6(18, &[0, 41]), Ipv6Error::Length { packet: 41, frame: 42 });
        assert_eq!(ipv6(18, &[0, 45]), Ipv6Error::Length { packet: 45, frame: 46 });
        assert_eq!(ipv6(56, &[0, 3]), Ipv6Error::Length { packet: 46, frame: 45 });
        assert_eq!(ipv6(56, &[0xff, 0xff]), Ipv6Error::Length { packet: 46, frame: 42 + 0xffff });
        assert_eq!(with(18, &[0, 47]), ParseError::Truncated { need: 101, have: 100 });
    }

    #[test]
    fn each_fault_of_the_header_has_its_name() {
        assert_eq!(with(12, &[8]), ParseError::Foreign(0x08dd));
        assert_eq!(with(54, &[0x29]), ParseError::Version { has: 2, speaks: VERSION });
        assert_eq!(with(55, &[11]), ParseError::UnknownKind { ethertype: 0x86dd, kind: 11 });
        assert_eq!(with(55, &[0]), ParseError::UnknownKind { ethertype: 0x86dd, kind: 0 });
        assert_eq!(with(54, &[0x14]), ParseError::Auth);
    }

    #[test]
    fn a_frame_is_of_the_family_by_its_packet_alone() {
        assert_eq!(Family::of(&good()), Some(Family::Bridge));
        // Its faults are the parser's.
        assert_eq!(Family::of(&good()[..39]), Some(Family::Bridge));
        let with = |at: usize, value: u8| {
            let mut frame = good();
            frame[at] = value;
            Family::of(&frame)
        };
        for (at, value) in [(21, 1), (39, 0), (22, 0), (54, 0xff), (0, 0xff)] {
            assert_eq!(with(at, value), Some(Family::Bridge), "{at}");
        }
        // Other packets are a host's, and so is what is too short to tell.
        for (at, value) in [(12, 8), (13, 0xde), (14, 0x40), (20, 254), (38, 0xfe), (38, 0x20), (38, 0xff)] {
            assert_eq!(with(at, value), None, "{at}");
        }
        assert_eq!(Family::of(&good()[..38]), None);
        assert_eq!(with(38, 0xfc), Some(Family::Bridge));
        let ping = crate::Head {
            dst: THERE,
            src: HERE,
            kind: crate::Kind::SessionPing,
            flags: FLAG_LAST,
            epoch: 0,
            seq: 1,
            addr: 0,
        };
        assert_eq!(Family::of(&ping.frame(&[])), Some(Family::Control));
        assert_eq!(Family::of(&ping.frame(&[])[..14]), Some(Family::Control));
        assert_eq!(Family::of(&ping.frame(&[])[..13]), None);
        assert_eq!(Family::from_ethertype(0x86dd), None);
    }
}
