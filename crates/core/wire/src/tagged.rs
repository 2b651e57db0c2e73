//! Frames of the control family with a trailer: what their tag binds, and how a frame gets one.
//!
//! Nobody here knows a key: whoever holds one makes and checks tags of the [`message`](Tagged::message).

use alloc::vec::Vec;

use bytes::Bytes;
use zerocopy::byteorder::network_endian::{U32, U64};
use zerocopy::{FromBytes, IntoBytes};

use crate::{AuthTrailer, FLAG_AUTH, FLAG_ENCRYPTED, Frame, HEADER_END, Kind, Packet, ParseError};

/// A frame taken apart that may have a trailer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tagged<'a> {
    /// The frame without its trailer.
    pub packet: Packet<'a>,
    /// The trailer, if there is one.
    pub trailer: Option<Trailer<'a>>,
}

/// What a frame's trailer says, and of what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trailer<'a> {
    /// What the tag is of: the frame from its first address to the end of the payload.
    pub message: &'a [u8],
    /// Of claims, releases and their answers: the generation of the keys that the tag is by. Zero of all else.
    pub generation: u32,
    /// The frame's number under its key.
    pub counter: u64,
    /// The tag, which nobody has checked.
    pub tag: [u8; 16],
}

impl<'a> Tagged<'a> {
    /// Takes a frame apart. Whether its tag is right is another question.
    ///
    /// # Errors
    /// See [`ParseError`]; a trailer that is cut short is [`ParseError::Truncated`].
    pub fn parse(frame: &'a [u8]) -> Result<Self, ParseError> {
        let packet = Packet::of(Frame::parse_any(frame)?);
        if packet.head.flags & FLAG_AUTH == 0 {
            return Ok(Self { packet, trailer: None });
        }
        let (message, behind) = frame.split_at(usize::from(HEADER_END) + packet.payload.len());
        let truncated = |_| ParseError::Truncated { need: message.len() + size_of::<AuthTrailer>(), have: frame.len() };
        let (trailer, _) = AuthTrailer::ref_from_prefix(behind).map_err(|e| truncated(e.into_src()))?;
        let (generation, counter) = (trailer.key.get(), trailer.counter.get());
        let trailer = Trailer { message, generation, counter, tag: trailer.tag };
        Ok(Self { packet, trailer: Some(trailer) })
    }
}

/// The same frame with a trailer: `seal` makes counter and tag of the message. `None` if it makes none.
///
/// # Panics
/// If it is no frame of this family without a trailer: who sends it has just built it.
pub fn with_trailer(
    frame: &[u8],
    generation: u32,
    seal: impl FnOnce(&mut [u8]) -> Option<(u64, [u8; 16])>,
) -> Option<Bytes> {
    trailed(frame, FLAG_AUTH, generation, seal)
}

/// The same in a session. If it `encrypts`, `seal` does so with what stands behind the number of bytes that it gets.
///
/// # Panics
/// See [`with_trailer`].
pub fn in_session(
    frame: &[u8],
    encrypts: bool,
    seal: impl FnOnce(&mut [u8], usize) -> Option<(u64, [u8; 16])>,
) -> Option<Bytes> {
    let kind = Packet::parse(frame).expect("a frame of ours without a trailer").head.kind;
    let flags = if encrypts && !is_hint(kind) { FLAG_AUTH | FLAG_ENCRYPTED } else { FLAG_AUTH };
    trailed(frame, flags, 0, |message| {
        let open = open_bytes(kind, message.len());
        seal(message, open)
    })
}

/// How many bytes of such a frame can be read in a session that is encrypted; `length`: up to the end of its payload.
/// The receiver knows it by the kind, whatever the flags say.
pub const fn open_bytes(kind: Kind, length: usize) -> usize {
    if is_hint(kind) { length } else { HEADER_END as usize }
}

/// What a card or a host says that has no session as well: a program that has started again under its address reads it
/// without the key of the session before.
const fn is_hint(kind: Kind) -> bool {
    matches!(kind, Kind::DiscoveryAnnounce | Kind::DiscoveryGoodbye | Kind::SessionPing | Kind::SessionPong)
}

fn trailed(
    frame: &[u8],
    flags: u8,
    generation: u32,
    seal: impl FnOnce(&mut [u8]) -> Option<(u64, [u8; 16])>,
) -> Option<Bytes> {
    let length = Packet::parse(frame).expect("a frame of ours without a trailer").payload.len();
    let end = usize::from(HEADER_END) + length;
    let mut out = Vec::with_capacity(end + size_of::<AuthTrailer>());
    out.extend_from_slice(&frame[..end]);
    out[VERSION_FLAGS] |= flags;
    let (counter, tag) = seal(&mut out)?;
    out.extend_from_slice(AuthTrailer { key: U32::new(generation), counter: U64::new(counter), tag }.as_bytes());
    Some(Bytes::from(out))
}

/// Where the flags stand.
const VERSION_FLAGS: usize = 14;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Head, Kind, MacAddr};

    fn plain(payload: &[u8]) -> Bytes {
        let (dst, src) = (MacAddr([2, 0, 0, 0, 0, 1]), MacAddr([2, 0, 0, 0, 0, 2]));
        Head { dst, src, kind: Kind::InputWrite, flags: 0, epoch: 7, seq: 3, addr: 64 }.frame(&[payload])
    }

    #[test]
    fn a_trailer_stands_behind_the_payload_and_the_padding_is_gone() {
        let plain = plain(&[9; 5]);
        let frame = with_trailer(&plain, 9, |message| Some((message.len() as u64, [0xaa; 16]))).unwrap();
        assert_eq!((plain.len(), frame.len()), (60, 32 + 5 + 28));
        assert_eq!(Packet::parse(&frame), Err(ParseError::Auth));
        let Tagged { packet, trailer } = Tagged::parse(&frame).unwrap();
        let trailer = trailer.unwrap();
        assert_eq!((packet.payload, packet.head.flags), (&[9; 5][..], FLAG_AUTH));
        assert_eq!((trailer.message, trailer.generation), (&frame[..37], 9));
        assert_eq!((trailer.counter, trailer.tag), (37, [0xaa; 16]));
        for end in 37..frame.len() {
            assert!(matches!(Tagged::parse(&frame[..end]), Err(ParseError::Truncated { need: 65, .. })), "{end}");
        }
        assert!(with_trailer(&plain, 0, |_| None).is_none());
        assert_eq!(Tagged::parse(&plain).unwrap().trailer, None);
    }
}
