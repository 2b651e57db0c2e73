//! Reading and writing whole frames of the control family.

use core::fmt;

use alloc::vec::Vec;
use bytes::Bytes;
use zerocopy::byteorder::network_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::{Control, FRAME_MIN, Frame, HEADER_END, Header, Kind, MacAddr, ParseError, VERSION};

/// Everything of a frame but its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Destination.
    pub dst: MacAddr,
    /// Source.
    pub src: MacAddr,
    /// EtherType and sub-kind.
    pub kind: Kind,
    /// `FLAG_*` bits.
    pub flags: u8,
    /// The claim's epoch or the group id.
    pub epoch: u16,
    /// Sequence or request number.
    pub seq: u32,
    /// Address, offset or kernel number.
    pub addr: u64,
}

impl Head {
    /// The frame with these payload parts, one after the other, padded to Ethernet's minimum.
    ///
    /// # Panics
    /// If the payload is longer than 65,535 bytes: no caller may build such a frame.
    pub fn frame(&self, payload: &[&[u8]]) -> Bytes {
        let length: usize = payload.iter().map(|p| p.len()).sum();
        let length16 = u16::try_from(length).expect("a frame's payload fits its length field");
        let mut out = Vec::with_capacity((usize::from(HEADER_END) + length).max(usize::from(FRAME_MIN)));
        out.extend_from_slice(&self.dst.0);
        out.extend_from_slice(&self.src.0);
        let wire = self.kind as u32;
        let header = Header {
            version_flags: VERSION << 4 | (self.flags & 0xf),
            kind: wire as u8,
            length: U16::new(length16),
            epoch: U16::new(self.epoch),
            seq: U32::new(self.seq),
            addr: U64::new(self.addr),
        };
        out.extend_from_slice(&((wire >> 8) as u16).to_be_bytes());
        out.extend_from_slice(header.as_bytes());
        for part in payload {
            out.extend_from_slice(part);
        }
        if out.len() < usize::from(FRAME_MIN) {
            out.resize(usize::from(FRAME_MIN), 0);
        }
        Bytes::from(out)
    }
}

/// A frame taken apart, its payload still in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet<'a> {
    /// Everything but the payload.
    pub head: Head,
    /// The payload, without padding.
    pub payload: &'a [u8],
}

impl<'a> Packet<'a> {
    /// Takes a frame apart.
    ///
    /// # Errors
    /// See [`ParseError`]; nothing of such a frame may be used.
    pub fn parse(frame: &'a [u8]) -> Result<Self, ParseError> {
        Ok(Self::of(Frame::parse(frame)?))
    }

    pub(crate) fn of(frame: Frame<'a, Control>) -> Self {
        let Frame { dst, src, kind, flags, header, payload } = frame;
        let (epoch, seq, addr) = (header.epoch.get(), header.seq.get(), header.addr.get());
        Self { head: Head { dst, src, kind, flags, epoch, seq, addr }, payload }
    }

    /// The payload as the struct that its kind carries, and what follows the struct; `None` if it is too short.
    pub fn view<T: FromBytes + KnownLayout + Immutable + Unaligned>(&self) -> Option<(&'a T, &'a [u8])> {
        T::ref_from_prefix(self.payload).ok()
    }
}

impl fmt::Display for Packet<'_> {
    /// One line in the manner of tcpdump.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Head { dst, src, kind, flags, epoch, seq, addr } = self.head;
        write!(
            f,
            "{src} > {dst} {} epoch {epoch} seq {seq} addr {addr:#x} length {}",
            kind.name(),
            self.payload.len()
        )?;
        if flags != 0 { write!(f, " flags {flags:#x}") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CARDS, ErrorCode, FLAG_RESEND, Solicit};
    use alloc::string::ToString;

    fn head() -> Head {
        let src = MacAddr([2, 0, 0, 0, 0, 1]);
        Head { dst: CARDS, src, kind: Kind::DiscoverySolicit, flags: FLAG_RESEND, epoch: 7, seq: 0x01020304, addr: 5 }
    }

    #[test]
    fn a_solicitation_has_these_bytes() {
        let body = Solicit { window_us: U32::new(100), reserved: U32::ZERO };
        let frame = head().frame(&[body.as_bytes()]);
        let hex: alloc::vec::Vec<_> = frame.iter().map(|b| alloc::format!("{b:02x}")).collect();
        assert_eq!(
            hex.concat(),
            "03524c000001020000000001\
             80ef110200080007010203040000000000000005\
             0000006400000000\
             0000000000000000000000000000000000000000"
        );
        let packet = Packet::parse(&frame).unwrap();
        assert_eq!(packet.head, head());
        assert_eq!(packet.view::<Solicit>().unwrap().0, &body);
        assert_eq!(
            packet.to_string(),
            "02:00:00:00:00:01 > 03:52:4c:00:00:01 discovery.solicit epoch 7 seq 16909060 addr 0x5 length 8 flags 0x1"
        );
    }

    #[test]
    fn each_fault_has_its_name() {
        let good = head().frame(&[&[0; 8]]);
        assert!(matches!(Packet::parse(&good[..13]), Err(ParseError::Truncated { .. })));
        assert!(matches!(Packet::parse(&good[..31]), Err(ParseError::Truncated { .. })));
        let with = |at: usize, value: u8| {
            let mut frame = good.to_vec();
            frame[at] = value;
            frame
        };
        assert_eq!(Packet::parse(&with(12, 8)), Err(ParseError::Foreign(0x08ef)));
        assert_eq!(Packet::parse(&with(14, 0x21)), Err(ParseError::Version { has: 2, speaks: VERSION }));
        assert_eq!(Packet::parse(&with(14, 0x14)), Err(ParseError::Auth));
        assert_eq!(Packet::parse(&with(15, 99)), Err(ParseError::UnknownKind { ethertype: 0x80ef, kind: 99 }));
        assert!(matches!(Packet::parse(&with(16, 0xff)), Err(ParseError::Truncated { .. })));
    }

    #[test]
    fn enums_refuse_what_they_do_not_know() {
        assert_eq!(ErrorCode::from_wire(5), Some(ErrorCode::Busy));
        assert_eq!(ErrorCode::from_wire(999), None);
        for kind in Kind::ALL {
            assert_eq!(Kind::from_wire((kind as u32 >> 8) as u16, kind as u32 as u8), Some(kind));
        }
    }
}
