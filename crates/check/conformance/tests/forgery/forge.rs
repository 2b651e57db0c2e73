//! What the stranger does: each attack is made of the frames that he has heard.

use rackloom_node::{Frame, Rng};
use rackloom_wire::{
    Ack, Active, Announce, Claim, Done, ErrorCode, FLAG_AUTH, FromBytes, Grant, Head, ImageBegin, IntoBytes, Kind,
    MacAddr, Pong, Read, Refusal, ResultAck, Tagged, U16, U32, U64, with_trailer,
};

use crate::segment::{CARDS, OTHER_HOST, card_key};

/// Where an attack shows.
#[derive(Debug, Clone, Copy)]
pub enum Seen {
    CardUntagged,
    CardUnknown,
    CardWrong,
    CardReplay,
    CardTruncated,
    /// Only cards send it.
    CardKind,
    HostUntagged,
    HostWrong,
    HostReplayed,
    /// Nowhere: everybody may send this, and it does nothing.
    Harmless,
}

/// What the stranger sends when he hears a frame; he remembers all before it.
pub type Make = fn(&Frame, &[Frame], &mut Rng) -> Vec<Frame>;

pub const ATTACKS: &[(&str, Seen, Make)] = &[
    ("a claim in the owner's name", Seen::CardUntagged, |f, _, r| as_owner(f, Kind::SessionClaim, &claim(r))),
    ("a release in the owner's name", Seen::CardUntagged, |f, _, _| as_owner(f, Kind::SessionRelease, &[0; 8])),
    ("a launch", Seen::CardUntagged, |f, _, _| as_owner(f, Kind::ExecLaunch, &[0; 32])),
    ("a write", Seen::CardUntagged, |f, _, _| as_owner(f, Kind::InputWrite, &[0xee; 64])),
    ("a read", Seen::CardUntagged, |f, _, _| {
        as_owner(f, Kind::InputRead, Read { length: U32::new(64), reserved: U32::ZERO }.as_bytes())
    }),
    ("a load's begin", Seen::CardUntagged, |f, _, _| as_owner(f, Kind::ImageBegin, &begin())),
    ("a load's poll", Seen::CardUntagged, |f, _, _| as_owner(f, Kind::ImagePoll, &[0; 8])),
    ("a commit", Seen::CardUntagged, |f, _, _| as_owner(f, Kind::ImageCommit, &[])),
    ("an abort", Seen::CardUntagged, |f, _, _| as_owner(f, Kind::ImageAbort, &[])),
    ("a go", Seen::CardUntagged, |f, _, _| as_owner(f, Kind::ExecGo, &[])),
    ("a cancel", Seen::CardUntagged, |f, _, _| as_owner(f, Kind::ExecCancel, &[])),
    ("a query", Seen::CardUntagged, |f, _, _| as_owner(f, Kind::ExecQuery, &[])),
    ("a result's acknowledgement", Seen::CardUntagged, |f, _, _| as_owner(f, Kind::ExecResultAck, &result_ack())),
    ("a window", Seen::CardUntagged, |f, _, _| as_owner(f, Kind::SessionWindowSet, &[0; 24])),
    ("a route", Seen::CardUntagged, |f, _, _| as_owner(f, Kind::SessionRouteSet, &[0; 8])),
    ("a ping that renews nothing", Seen::Harmless, |f, _, _| as_owner(f, Kind::SessionPing, &[])),
    ("a solicitation", Seen::Harmless, |f, _, _| as_owner(f, Kind::DiscoverySolicit, &[0; 8])),
    ("a grant in the card's name", Seen::HostUntagged, |f, _, _| as_card(f, Kind::SessionGrant, 0, &grant())),
    ("a refusal", Seen::HostUntagged, |f, _, _| as_card(f, Kind::SessionRefuse, 0, &refusal(ErrorCode::Claimed))),
    ("a refusal for want of a key", Seen::HostUntagged, |f, _, _| {
        as_card(f, Kind::SessionRefuse, 0, &refusal(ErrorCode::KeyNeeded))
    }),
    ("a released", Seen::HostUntagged, |f, _, _| as_card(f, Kind::SessionReleased, 0, &[])),
    ("an acknowledgement of what was never sent", Seen::HostUntagged, |f, _, _| {
        as_card(f, Kind::InputConfirmWriteAck, 1 << 20, Ack { bitmap: [0xff; 32] }.as_bytes())
    }),
    ("an acknowledgement of what is on its way", Seen::HostUntagged, |f, _, _| {
        as_card(f, Kind::InputConfirmWriteAck, 1, Ack { bitmap: [0; 32] }.as_bytes())
    }),
    ("a launch's end", Seen::HostUntagged, |f, _, _| as_card(f, Kind::ResultDone, 0, &done())),
    ("a result", Seen::HostUntagged, |f, _, _| as_card(f, Kind::ResultData, 0, &[0xee; 1408])),
    ("an accepted launch", Seen::HostUntagged, |f, _, _| as_card(f, Kind::ResultAccepted, 0, &[])),
    ("a lost claim", Seen::HostUntagged, |f, _, _| as_card(f, Kind::ResultRefused, 0, &refusal(ErrorCode::StaleEpoch))),
    ("data of a read", Seen::HostUntagged, |f, _, _| as_card(f, Kind::InputConfirmReadData, 0, &[0xee; 64])),
    ("an image that is active", Seen::HostUntagged, |f, _, _| as_card(f, Kind::ImageConfirmActive, 0, &active(f))),
    ("an image that is staged", Seen::HostUntagged, |f, _, _| as_card(f, Kind::ImageConfirmStaged, 0, &[])),
    ("a load that failed", Seen::HostUntagged, |f, _, _| {
        as_card(f, Kind::ImageConfirmFailed, 0, &[0, 17, 0, 0, 0, 0, 0, 0])
    }),
    ("a pong of another claim", Seen::HostUntagged, |f, _, _| as_card(f, Kind::SessionPong, 0, &pong())),
    ("a goodbye", Seen::Harmless, |f, _, _| as_card(f, Kind::DiscoveryGoodbye, 0, &[])),
    ("an announcement of a restart", Seen::Harmless, |f, _, r| {
        said(f, r, |a, r| a.boot = U32::new(r.next_u64() as u32))
    }),
    ("an announcement of an absurd memory", Seen::Harmless, |f, _, r| said(f, r, |a, _| a.memory = U64::ZERO)),
    ("an announcement of the image as loaded", Seen::Harmless, |f, _, r| {
        let image = rackloom_builtin_roles::image("burn").expect("it is built in");
        said(f, r, |a, _| a.digest = *blake3::hash(image).as_bytes())
    }),
    ("an announcement of another unit", Seen::Harmless, |f, _, r| {
        said(f, r, |a, r| a.unit = U16::new(r.below(99) as u16))
    }),
    ("a wrong tag to a card", Seen::CardWrong, |f, _, r| {
        tagged_to_card(f, |f| Some(flipped(f, f.len() - 1 - r.below(16) as usize)))
    }),
    ("a wrong tag to the host", Seen::HostWrong, |f, _, r| {
        tagged_to_host(f, |f| Some(flipped(f, f.len() - 1 - r.below(16) as usize)))
    }),
    ("another payload under the tag", Seen::CardWrong, |f, _, _| {
        tagged_to_card(f, |f| (f.len() > 70).then(|| flipped(f, 40)))
    }),
    ("another result under the tag", Seen::HostWrong, |f, _, _| {
        tagged_to_host(f, |f| (kind(f) == Some(Kind::ResultData)).then(|| flipped(f, 100)))
    }),
    ("a later counter under the tag", Seen::CardWrong, |f, _, _| tagged_to_card(f, |f| Some(flipped(f, f.len() - 17)))),
    ("a tag that is cut short", Seen::CardTruncated, |f, _, _| tagged_to_card(f, |f| Some(f.slice(..f.len() - 1)))),
    ("each frame again, to the cards", Seen::CardReplay, |f, log, _| {
        again(f, log, |f| Some(f.clone()), tagged_to_card)
    }),
    ("each frame again, to the host", Seen::HostReplayed, |f, log, _| {
        again(f, log, |f| Some(f.clone()), tagged_to_host)
    }),
    ("each frame back to its card", Seen::CardKind, |f, _, _| tagged_to_host(f, |f| Some(swapped(f)))),
    ("each frame back to the host", Seen::HostWrong, |f, _, _| tagged_to_card(f, |f| Some(swapped(f)))),
    ("each frame to the other card", Seen::CardWrong, |f, _, _| tagged_to_card(f, |f| Some(at(f, 0, other(dst(f)))))),
    ("each frame in the other card's name", Seen::HostWrong, |f, _, _| {
        tagged_to_host(f, |f| Some(at(f, 6, other(src(f)))))
    }),
    ("a claim by the key of another host", Seen::CardWrong, |f, _, r| {
        as_owner(f, Kind::SessionClaim, &claim(r)).iter().filter_map(|f| with_other_key(f, r)).collect()
    }),
    ("frames from a host that the cards do not know", Seen::CardUnknown, |f, _, _| {
        tagged_to_card(f, |f| Some(at(f, 6, MacAddr([6, 0, 9, 0, 0, 0]))))
    }),
    ("a flood of claims", Seen::CardUntagged, |f, _, r| {
        (0..20).flat_map(|_| as_owner(f, Kind::SessionClaim, &claim(r))).collect()
    }),
    ("a flood of wrong tags", Seen::CardWrong, |f, _, r| {
        (0..20).flat_map(|_| tagged_to_card(f, |f| Some(flipped(f, f.len() - 1 - r.below(16) as usize)))).collect()
    }),
    ("a flood of ends", Seen::HostUntagged, |f, _, _| {
        (0..20).flat_map(|_| as_card(f, Kind::ResultDone, 0, &done())).collect()
    }),
    ("a flood of announcements", Seen::Harmless, |f, _, r| {
        (0..20).flat_map(|_| said(f, r, |a, r| a.boot = U32::new(r.next_u64() as u32))).collect()
    }),
];

pub fn kind(frame: &Frame) -> Option<Kind> {
    Some(Tagged::parse(frame).ok()?.packet.head.kind)
}

/// An announcement with something else in it.
pub fn announce(frame: &Frame, change: impl FnOnce(&mut Announce)) -> Frame {
    let tagged = Tagged::parse(frame).unwrap();
    let mut said = *Announce::ref_from_prefix(tagged.packet.payload).unwrap().0;
    change(&mut said);
    Head { flags: 0, ..tagged.packet.head }.frame(&[said.as_bytes()])
}

fn dst(frame: &Frame) -> MacAddr {
    MacAddr(frame[..6].try_into().unwrap())
}

fn src(frame: &Frame) -> MacAddr {
    MacAddr(frame[6..12].try_into().unwrap())
}

fn other(card: MacAddr) -> MacAddr {
    if card == CARDS[0] { CARDS[1] } else { CARDS[0] }
}

fn flipped(frame: &Frame, at: usize) -> Frame {
    let mut bytes = frame.to_vec();
    bytes[at] ^= 1;
    bytes.into()
}

/// The frame with another address at 0, its destination, or 6, its source.
fn at(frame: &Frame, at: usize, mac: MacAddr) -> Frame {
    let mut bytes = frame.to_vec();
    bytes[at..at + 6].copy_from_slice(&mac.0);
    bytes.into()
}

fn swapped(frame: &Frame) -> Frame {
    at(&at(frame, 0, src(frame)), 6, dst(frame))
}

/// On a frame of the owner to a card: one in its name, with the same epoch, number and address.
fn as_owner(frame: &Frame, kind: Kind, payload: &[u8]) -> Vec<Frame> {
    let Ok(Tagged { packet, .. }) = Tagged::parse(frame) else { return Vec::new() };
    if !CARDS.contains(&packet.head.dst) {
        return Vec::new();
    }
    vec![Head { kind, flags: 0, ..packet.head }.frame(&[payload])]
}

/// On a frame between the owner and a card: one in the card's name, with the same epoch, and this number or the same.
fn as_card(frame: &Frame, kind: Kind, seq: u32, payload: &[u8]) -> Vec<Frame> {
    let Ok(Tagged { packet, .. }) = Tagged::parse(frame) else { return Vec::new() };
    let mut head = Head { kind, flags: 0, ..packet.head };
    if CARDS.contains(&head.dst) {
        (head.src, head.dst) = (head.dst, head.src);
    } else if head.dst.is_multicast() {
        return Vec::new();
    }
    if seq != 0 {
        head.seq = seq;
    }
    vec![head.frame(&[payload])]
}

/// On an announcement: another one of the same card.
fn said(frame: &Frame, rng: &mut Rng, change: impl FnOnce(&mut Announce, &mut Rng)) -> Vec<Frame> {
    if kind(frame) != Some(Kind::DiscoveryAnnounce) {
        return Vec::new();
    }
    vec![announce(frame, |a| change(a, rng))]
}

fn tagged_to_card(frame: &Frame, make: impl FnOnce(&Frame) -> Option<Frame>) -> Vec<Frame> {
    let is_one = frame[14] & FLAG_AUTH != 0 && CARDS.contains(&dst(frame));
    make(frame).filter(|_| is_one).into_iter().collect()
}

fn tagged_to_host(frame: &Frame, make: impl FnOnce(&Frame) -> Option<Frame>) -> Vec<Frame> {
    let is_one = frame[14] & FLAG_AUTH != 0 && CARDS.contains(&src(frame));
    make(frame).filter(|_| is_one).into_iter().collect()
}

/// What is made of a frame, if it can be.
type Change = fn(&Frame) -> Option<Frame>;

/// This frame once more, and one that was heard before.
fn again(frame: &Frame, log: &[Frame], copy: Change, those: fn(&Frame, Change) -> Vec<Frame>) -> Vec<Frame> {
    let before = &log[log.len() / 2];
    [those(frame, copy), those(before, copy)].concat()
}

/// A claim in the owner's name with a tag by the key that another host has.
fn with_other_key(frame: &Frame, rng: &mut Rng) -> Option<Frame> {
    use rackloom_auth::{Bound, Direction};
    let claims = card_key(dst(frame)).host(OTHER_HOST.into(), 0).claims();
    let counter = (1 << 62) + rng.below(1 << 20);
    with_trailer(frame, |frame| {
        let bound = Bound { frame, boot: 101, direction: Direction::ToCard, counter };
        Some((counter, claims.tag(&bound)?.0))
    })
}

fn claim(rng: &mut Rng) -> Vec<u8> {
    let (nonce, lease_ms) = (U64::new(rng.next_u64()), U32::new(5000));
    Claim { nonce, lease_ms, group: U16::ZERO, scrub: 0, beats: 0 }.as_bytes().to_vec()
}

fn begin() -> Vec<u8> {
    let (length, chunk, group) = (U64::new(1000), U16::new(1472), U16::new(77));
    ImageBegin { length, chunk, group, members: U32::new(1), digest: [1; 32] }.as_bytes().to_vec()
}

fn result_ack() -> Vec<u8> {
    let (next, limit) = (U32::new(9), U32::new(9));
    ResultAck { next, limit, done: 1, reserved: [0; 7], bitmap: [0xff; 32] }.as_bytes().to_vec()
}

fn grant() -> Vec<u8> {
    Grant { nonce: U64::new(1), lease_ms: U32::new(5000), boot: U32::new(101) }.as_bytes().to_vec()
}

fn refusal(code: ErrorCode) -> Vec<u8> {
    Refusal { code: U16::new(code.into()), holder: MacAddr([2; 6]), detail: U64::new(60_000) }.as_bytes().to_vec()
}

fn done() -> Vec<u8> {
    let (chunk, chunks) = (U16::new(1408), U32::new(3));
    let zero = U64::ZERO;
    let done =
        Done { status: U16::ZERO, chunk, chunks, value: zero, cycles: zero, started_ns: zero, finished_ns: zero };
    done.as_bytes().to_vec()
}

fn active(_: &Frame) -> Vec<u8> {
    let image = rackloom_builtin_roles::image("burn").expect("it is built in");
    Active { digest: *blake3::hash(image).as_bytes(), configure_ns: U64::ZERO }.as_bytes().to_vec()
}

fn pong() -> Vec<u8> {
    let boot = U32::new(77);
    Pong { boot, state: 1, queued: 0, reserved: U16::ZERO, uptime_ns: U64::ZERO }.as_bytes().to_vec()
}
