//! Frames of the control family: built and taken apart.

use rackloom_wire::{self as wire, Kind, MacAddr, Packet};

use crate::Fault;

/// Everything of a frame but its payload.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Head {
    /// Destination address, 48 bits.
    pub dst: u64,
    /// Source address, 48 bits.
    pub src: u64,
    /// Address, offset or kernel number.
    pub addr: u64,
    /// Sequence or request number.
    pub seq: u32,
    /// The claim's epoch or the group id.
    pub epoch: u16,
    /// EtherType.
    pub ether_type: u16,
    /// The kind of this EtherType.
    pub kind: u8,
    /// Flags, 4 bits.
    pub flags: u8,
}

/// The frame with this payload, padded to Ethernet's minimum. Its kind must exist; the payload may be any.
pub(crate) fn build(head: &Head, payload: &[u8]) -> Result<Vec<u8>, Fault> {
    let kind = Kind::from_wire(head.ether_type, head.kind).ok_or(Fault::Refused)?;
    if head.flags > 0xf || payload.len() > usize::from(u16::MAX) {
        return Err(Fault::Argument);
    }
    let Head { epoch, seq, addr, flags, .. } = *head;
    let head = wire::Head { dst: mac(head.dst)?, src: mac(head.src)?, kind, flags, epoch, seq, addr };
    Ok(head.frame(&[payload]).to_vec())
}

/// A frame's head, and the length of its payload, which begins behind the header.
pub(crate) fn parse(frame: &[u8]) -> Result<(Head, usize), Fault> {
    let Packet { head, payload } = Packet::parse(frame).map_err(|_| Fault::Refused)?;
    let kind = head.kind as u32;
    let wire::Head { epoch, seq, addr, flags, .. } = head;
    let (ether_type, kind) = ((kind >> 8) as u16, kind as u8);
    let head = Head { dst: number(head.dst), src: number(head.src), addr, seq, epoch, ether_type, kind, flags };
    Ok((head, payload.len()))
}

/// An address from its 48 bits.
pub(crate) fn mac(bits: u64) -> Result<MacAddr, Fault> {
    let [0, 0, bytes @ ..] = bits.to_be_bytes() else { return Err(Fault::Argument) };
    Ok(MacAddr(bytes))
}

/// Its 48 bits.
pub(crate) fn number(mac: MacAddr) -> u64 {
    mac.0.iter().fold(0, |bits, &byte| bits << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: Head = Head {
        dst: 0x0352_4c00_0001,
        src: 0x0200_0000_0001,
        addr: 5,
        seq: 0x0102_0304,
        epoch: 7,
        ether_type: 0x80ef,
        kind: 2,
        flags: 1,
    };

    #[test]
    fn what_was_built_is_parsed() {
        let frame = build(&HEAD, &[9; 8]).unwrap();
        assert_eq!(frame.len(), 60);
        assert_eq!(frame[..16], [3, 0x52, 0x4c, 0, 0, 1, 2, 0, 0, 0, 0, 1, 0x80, 0xef, 0x11, 2]);
        assert_eq!(frame[16..42], [0, 8, 0, 7, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 5, 9, 9, 9, 9, 9, 9, 9, 9, 0, 0]);
        assert_eq!(parse(&frame), Ok((HEAD, 8)));
    }

    #[test]
    fn bad_heads_and_bad_frames_are_errors() {
        assert_eq!(build(&Head { kind: 99, ..HEAD }, &[]), Err(Fault::Refused));
        assert_eq!(build(&Head { flags: 16, ..HEAD }, &[]), Err(Fault::Argument));
        assert_eq!(build(&Head { dst: 1 << 48, ..HEAD }, &[]), Err(Fault::Argument));
        assert_eq!(build(&HEAD, &vec![0; 65_536]), Err(Fault::Argument));
        assert_eq!(parse(&build(&HEAD, &[]).unwrap()[..31]), Err(Fault::Refused));
    }
}
