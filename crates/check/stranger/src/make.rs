//! How a stranger makes frames of those that he has heard.

use rackloom_auth::{Bound, Direction};
use rackloom_node::{Frame, Rng};
use rackloom_wire::{
    Active, Announce, Claim, Done, ErrorCode, FromBytes, Grant, Head, ImageBegin, IntoBytes, Kind, MacAddr, Pong,
    Refusal, ResultAck, Tagged, U16, U32, U64, with_trailer,
};

use crate::stranger::Stranger;

/// A frame's kind, if it is one of the control family, with a tag or without.
pub fn kind(frame: &Frame) -> Option<Kind> {
    Some(Tagged::parse(frame).ok()?.packet.head.kind)
}

/// An announcement with something else in it, and no tag.
///
/// # Panics
/// If the frame is no announcement.
pub fn announce(frame: &Frame, change: impl FnOnce(&mut Announce)) -> Frame {
    said_instead(frame, change).expect("an announcement")
}

fn said_instead(frame: &Frame, change: impl FnOnce(&mut Announce)) -> Option<Frame> {
    let tagged = Tagged::parse(frame).ok()?;
    let mut said = *Announce::ref_from_prefix(tagged.packet.payload).ok()?.0;
    change(&mut said);
    Some(Head { flags: 0, ..tagged.packet.head }.frame(&[said.as_bytes()]))
}

pub(crate) fn flipped(frame: &Frame, at: usize) -> Frame {
    let mut bytes = frame.to_vec();
    bytes[at] ^= 1;
    bytes.into()
}

/// One bit of the frame's tag is another.
pub(crate) fn wrong_tag(frame: &Frame, s: &mut Stranger) -> Frame {
    flipped(frame, frame.len() - 1 - s.rng.below(16) as usize)
}

/// The frame under another source.
pub(crate) fn from(frame: &Frame, mac: MacAddr) -> Frame {
    with_address(frame, 6, mac)
}

/// The frame to another destination.
pub(crate) fn to(frame: &Frame, mac: MacAddr) -> Frame {
    with_address(frame, 0, mac)
}

pub(crate) fn swapped(frame: &Frame) -> Frame {
    from(&to(frame, src(frame)), dst(frame))
}

fn with_address(frame: &Frame, at: usize, mac: MacAddr) -> Frame {
    let mut bytes = frame.to_vec();
    bytes[at..at + 6].copy_from_slice(&mac.0);
    bytes.into()
}

pub(crate) fn dst(frame: &Frame) -> MacAddr {
    MacAddr(frame[..6].try_into().expect("a frame has addresses"))
}

pub(crate) fn src(frame: &Frame) -> MacAddr {
    MacAddr(frame[6..12].try_into().expect("a frame has addresses"))
}

/// Whether the frame has a tag and goes to a card.
pub(crate) fn is_tagged_to_card(frame: &Frame, s: &Stranger) -> bool {
    is_tagged(frame) && s.is_card(dst(frame))
}

/// Whether the frame has a tag and comes from a card.
pub(crate) fn is_tagged_to_host(frame: &Frame, s: &Stranger) -> bool {
    is_tagged(frame) && s.is_card(src(frame))
}

fn is_tagged(frame: &Frame) -> bool {
    Tagged::parse(frame).is_ok_and(|tagged| tagged.trailer.is_some())
}

/// On a frame of the owner to a card: one in its name, with the same epoch, number and address.
pub(crate) fn as_owner(frame: &Frame, s: &Stranger, kind: Kind, payload: &[u8]) -> Vec<Frame> {
    let Ok(Tagged { packet, .. }) = Tagged::parse(frame) else { return Vec::new() };
    if !s.is_card(packet.head.dst) {
        return Vec::new();
    }
    vec![Head { kind, flags: 0, ..packet.head }.frame(&[payload])]
}

/// The same under an address of his own, which no host with a key has.
pub(crate) fn as_himself(frame: &Frame, s: &Stranger, kind: Kind, payload: &[u8]) -> Vec<Frame> {
    as_owner(frame, s, kind, payload).iter().map(|frame| from(frame, HIMSELF)).collect()
}

/// On a frame between the owner and a card: one in the card's name, with the same epoch, and this number or the same.
pub(crate) fn as_card(frame: &Frame, s: &Stranger, kind: Kind, seq: u32, payload: &[u8]) -> Vec<Frame> {
    let Ok(Tagged { packet, .. }) = Tagged::parse(frame) else { return Vec::new() };
    let mut head = Head { kind, flags: 0, ..packet.head };
    if s.is_card(head.dst) {
        (head.src, head.dst) = (head.dst, head.src);
    } else if head.dst.is_multicast() || !s.is_card(head.src) {
        return Vec::new();
    }
    if seq != 0 {
        head.seq = seq;
    }
    vec![head.frame(&[payload])]
}

/// On an announcement: another one of the same card.
pub(crate) fn said(frame: &Frame, rng: &mut Rng, change: impl FnOnce(&mut Announce, &mut Rng)) -> Vec<Frame> {
    if kind(frame) != Some(Kind::DiscoveryAnnounce) {
        return Vec::new();
    }
    said_instead(frame, |a| change(a, rng)).into_iter().collect()
}

/// On a frame of image data: the same place with other bytes.
pub(crate) fn other_data(frame: &Frame) -> Vec<Frame> {
    let at = usize::from(rackloom_wire::HEADER_END);
    let is_data = kind(frame) == Some(Kind::ImageData) && frame.len() > at;
    if is_data { vec![flipped(frame, at)] } else { Vec::new() }
}

/// This frame once more and one that was heard before, if they are such.
pub(crate) fn again(frame: &Frame, s: &mut Stranger, is_such: fn(&Frame, &Stranger) -> bool) -> Vec<Frame> {
    let before = s.some_heard();
    [frame.clone()].into_iter().chain(before).filter(|frame| is_such(frame, s)).collect()
}

/// On a frame of the owner to a card: a claim in its name, without a tag.
pub(crate) fn claims(frame: &Frame, s: &mut Stranger) -> Vec<Frame> {
    let body = claim(&mut s.rng);
    as_owner(frame, s, Kind::SessionClaim, &body)
}

/// The same with a tag by the key that another host has for this card.
pub(crate) fn claims_by_other_key(frame: &Frame, s: &mut Stranger) -> Vec<Frame> {
    let plain = claims(frame, s);
    let counter = (1 << 62) + s.rng.below(1 << 20);
    let tagged = |plain: &Frame| {
        let card = dst(plain);
        let (key, boot) = (s.cards[&card].claims(), s.boots.get(&card).copied().unwrap_or_default());
        with_trailer(plain, 0, |frame| {
            let bound = Bound { frame, boot, direction: Direction::ToCard, counter };
            Some((counter, key.tag(&bound)?.0))
        })
    };
    plain.iter().filter_map(tagged).collect()
}

pub(crate) fn claim(rng: &mut Rng) -> Vec<u8> {
    let (nonce, lease_ms) = (U64::new(rng.next_u64()), U32::new(5000));
    Claim { nonce, lease_ms, group: U16::ZERO, scrub: 0, beats: 0 }.as_bytes().to_vec()
}

pub(crate) fn begin() -> Vec<u8> {
    let (length, chunk, group) = (U64::new(1000), U16::new(1472), U16::new(77));
    ImageBegin { length, chunk, group, members: U32::new(1), digest: [1; 32] }.as_bytes().to_vec()
}

pub(crate) fn result_ack() -> Vec<u8> {
    let (next, limit) = (U32::new(9), U32::new(9));
    ResultAck { next, limit, done: 1, reserved: [0; 7], bitmap: [0xff; 32] }.as_bytes().to_vec()
}

pub(crate) fn grant() -> Vec<u8> {
    Grant { nonce: U64::new(1), lease_ms: U32::new(5000), boot: U32::new(101) }.as_bytes().to_vec()
}

pub(crate) fn refusal(code: ErrorCode) -> Vec<u8> {
    Refusal { code: U16::new(code.into()), holder: MacAddr([2; 6]), detail: U64::new(60_000) }.as_bytes().to_vec()
}

pub(crate) fn done() -> Vec<u8> {
    let (chunk, chunks) = (U16::new(1408), U32::new(3));
    let zero = U64::ZERO;
    let done =
        Done { status: U16::ZERO, chunk, chunks, value: zero, cycles: zero, started_ns: zero, finished_ns: zero };
    done.as_bytes().to_vec()
}

pub(crate) fn active(s: &Stranger) -> Vec<u8> {
    Active { digest: s.digest, configure_ns: U64::ZERO }.as_bytes().to_vec()
}

pub(crate) fn pong() -> Vec<u8> {
    let boot = U32::new(77);
    Pong { boot, state: 1, queued: 0, reserved: U16::ZERO, uptime_ns: U64::ZERO }.as_bytes().to_vec()
}

/// An address that no host with a key and no card has.
const HIMSELF: MacAddr = MacAddr([0x02, 0xbd, 0, 0, 0, 0xbd]);
/// An address of a host that no card has a key for.
pub(crate) const UNKNOWN_HOST: MacAddr = MacAddr([6, 0xff, 9, 0, 0, 0]);
