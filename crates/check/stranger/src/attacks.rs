//! What a stranger does: the one list of attacks.

use rackloom_node::Frame;
use rackloom_wire::{Ack, ErrorCode, IntoBytes, Kind, Read, U16, U32, U64};

use crate::make::{
    UNKNOWN_HOST, active, again, as_card, as_himself, as_owner, begin, claim, claims, claims_by_other_key, done, dst,
    flipped, from, grant, is_tagged_to_card, is_tagged_to_host, kind, other_data, pong, refusal, result_ack, said, src,
    swapped, to, wrong_tag,
};
use crate::stranger::Stranger;

/// One thing that a stranger does.
#[derive(Debug, Clone, Copy)]
pub struct Attack {
    /// What it is, in words.
    pub name: &'static str,
    /// Where it shows.
    pub seen: Seen,
    /// What he sends upon a frame that he hears; he remembers all before it.
    pub(crate) make: fn(&Frame, &mut Stranger) -> Vec<Frame>,
}

/// Where an attack shows, on cards and hosts with keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// By the card's counter `auth_untagged`.
    CardUntagged,
    /// By `auth_unknown`.
    CardUnknown,
    /// By `auth_wrong`.
    CardWrong,
    /// By `auth_replay`.
    CardReplay,
    /// By `drop_truncated`.
    CardTruncated,
    /// By `drop_kind`: only cards send it.
    CardKind,
    /// The host has dropped it for want of a tag.
    HostUntagged,
    /// For a wrong tag.
    HostWrong,
    /// For a counter that was used before.
    HostReplayed,
    /// Nowhere: everybody may send this, and it does nothing.
    Harmless,
    /// The load fails, by name: nobody can tell forged image data from the host's before all is there.
    Spoils,
}

const fn attack(name: &'static str, seen: Seen, make: fn(&Frame, &mut Stranger) -> Vec<Frame>) -> Attack {
    Attack { name, seen, make }
}

impl Stranger {
    /// What he sends by this attack upon the frame that he has heard last.
    pub fn attack(&mut self, attack: &Attack) -> Vec<Frame> {
        // What is shorter is nothing that anybody here would read.
        let read = |frame: &Frame| frame.len() >= usize::from(rackloom_wire::HEADER_END);
        self.last_heard().filter(read).map(|frame| (attack.make)(&frame, self)).unwrap_or_default()
    }
}

/// Floods have so many frames for each that is heard.
const FLOOD: usize = 20;

/// All that he does.
pub const ATTACKS: &[Attack] = &[
    attack("a claim in the owner's name", Seen::CardUntagged, claims),
    attack("a release in the owner's name", Seen::CardUntagged, |f, s| as_owner(f, s, Kind::SessionRelease, &[0; 8])),
    attack("a launch", Seen::CardUntagged, |f, s| as_owner(f, s, Kind::ExecLaunch, &[0; 32])),
    attack("a write", Seen::CardUntagged, |f, s| as_owner(f, s, Kind::InputWrite, &[0xee; 64])),
    attack("a read", Seen::CardUntagged, |f, s| {
        as_owner(f, s, Kind::InputRead, Read { length: U32::new(64), reserved: U32::ZERO }.as_bytes())
    }),
    attack("a load's begin", Seen::CardUntagged, |f, s| as_owner(f, s, Kind::ImageBegin, &begin())),
    attack("a load's poll", Seen::CardUntagged, |f, s| as_owner(f, s, Kind::ImagePoll, &[0; 8])),
    attack("a commit", Seen::CardUntagged, |f, s| as_owner(f, s, Kind::ImageCommit, &[])),
    attack("an abort", Seen::CardUntagged, |f, s| as_owner(f, s, Kind::ImageAbort, &[])),
    attack("a go", Seen::CardUntagged, |f, s| as_owner(f, s, Kind::ExecGo, &[])),
    attack("a cancel", Seen::CardUntagged, |f, s| as_owner(f, s, Kind::ExecCancel, &[])),
    attack("a query", Seen::CardUntagged, |f, s| as_owner(f, s, Kind::ExecQuery, &[])),
    attack("a result's acknowledgement", Seen::CardUntagged, |f, s| as_owner(f, s, Kind::ExecResultAck, &result_ack())),
    attack("a window", Seen::CardUntagged, |f, s| as_owner(f, s, Kind::SessionWindowSet, &[0; 24])),
    attack("a route", Seen::CardUntagged, |f, s| as_owner(f, s, Kind::SessionRouteSet, &[0; 8])),
    attack("a ping that renews nothing", Seen::Harmless, |f, s| as_owner(f, s, Kind::SessionPing, &[])),
    attack("a solicitation", Seen::Harmless, |f, s| as_owner(f, s, Kind::DiscoverySolicit, &[0; 8])),
    attack("a grant in the card's name", Seen::HostUntagged, |f, s| as_card(f, s, Kind::SessionGrant, 0, &grant())),
    attack("a refusal", Seen::HostUntagged, |f, s| as_card(f, s, Kind::SessionRefuse, 0, &refusal(ErrorCode::Claimed))),
    attack("a refusal for want of a key", Seen::HostUntagged, |f, s| {
        as_card(f, s, Kind::SessionRefuse, 0, &refusal(ErrorCode::KeyNeeded))
    }),
    attack("a released", Seen::HostUntagged, |f, s| as_card(f, s, Kind::SessionReleased, 0, &[])),
    attack("an acknowledgement of what was never sent", Seen::HostUntagged, |f, s| {
        as_card(f, s, Kind::InputConfirmWriteAck, 1 << 20, Ack { bitmap: [0xff; 32] }.as_bytes())
    }),
    attack("an acknowledgement of what is on its way", Seen::HostUntagged, |f, s| {
        as_card(f, s, Kind::InputConfirmWriteAck, 1, Ack { bitmap: [0; 32] }.as_bytes())
    }),
    attack("a launch's end", Seen::HostUntagged, |f, s| as_card(f, s, Kind::ResultDone, 0, &done())),
    attack("a result", Seen::HostUntagged, |f, s| as_card(f, s, Kind::ResultData, 0, &[0xee; 1408])),
    attack("an accepted launch", Seen::HostUntagged, |f, s| as_card(f, s, Kind::ResultAccepted, 0, &[])),
    attack("a lost claim", Seen::HostUntagged, |f, s| {
        as_card(f, s, Kind::ResultRefused, 0, &refusal(ErrorCode::StaleEpoch))
    }),
    attack("data of a read", Seen::HostUntagged, |f, s| as_card(f, s, Kind::InputConfirmReadData, 0, &[0xee; 64])),
    attack("an image that is active", Seen::HostUntagged, |f, s| {
        as_card(f, s, Kind::ImageConfirmActive, 0, &active(s))
    }),
    attack("an image that is staged", Seen::HostUntagged, |f, s| as_card(f, s, Kind::ImageConfirmStaged, 0, &[])),
    attack("a load that failed", Seen::HostUntagged, |f, s| {
        as_card(f, s, Kind::ImageConfirmFailed, 0, &[0, 17, 0, 0, 0, 0, 0, 0])
    }),
    attack("a pong of another claim", Seen::HostUntagged, |f, s| as_card(f, s, Kind::SessionPong, 0, &pong())),
    attack("a goodbye", Seen::Harmless, |f, s| as_card(f, s, Kind::DiscoveryGoodbye, 0, &[])),
    attack("an announcement of a restart", Seen::Harmless, |f, s| {
        said(f, &mut s.rng, |a, r| a.boot = U32::new(r.next_u64() as u32))
    }),
    attack("an announcement of an absurd memory", Seen::Harmless, |f, s| {
        said(f, &mut s.rng, |a, _| a.memory = U64::ZERO)
    }),
    attack("an announcement of the image as loaded", Seen::Harmless, |f, s| {
        let digest = s.digest;
        said(f, &mut s.rng, |a, _| a.digest = digest)
    }),
    attack("an announcement of another unit", Seen::Harmless, |f, s| {
        said(f, &mut s.rng, |a, r| a.unit = U16::new(r.below(99) as u16))
    }),
    attack("a wrong tag to a card", Seen::CardWrong, |f, s| to_card(f, s, |f, s| Some(wrong_tag(f, s)))),
    attack("a wrong tag to the host", Seen::HostWrong, |f, s| to_host(f, s, |f, s| Some(wrong_tag(f, s)))),
    attack("another payload under the tag", Seen::CardWrong, |f, s| {
        to_card(f, s, |f, _| (f.len() > 70).then(|| flipped(f, 40)))
    }),
    attack("another result under the tag", Seen::HostWrong, |f, s| {
        to_host(f, s, |f, _| (kind(f) == Some(Kind::ResultData) && f.len() > 100).then(|| flipped(f, 40)))
    }),
    attack("a later counter under the tag", Seen::CardWrong, |f, s| {
        to_card(f, s, |f, _| Some(flipped(f, f.len() - 17)))
    }),
    attack("a tag that is cut short", Seen::CardTruncated, |f, s| to_card(f, s, |f, _| Some(f.slice(..f.len() - 1)))),
    attack("each frame again, to the cards", Seen::CardReplay, |f, s| again(f, s, is_tagged_to_card)),
    attack("each frame again, to the host", Seen::HostReplayed, |f, s| again(f, s, is_tagged_to_host)),
    attack("each frame back to its card", Seen::CardKind, |f, s| to_host(f, s, |f, _| Some(swapped(f)))),
    attack("each frame back to the host", Seen::HostWrong, |f, s| to_card(f, s, |f, _| Some(swapped(f)))),
    attack("each frame to the other card", Seen::CardWrong, |f, s| to_card(f, s, |f, s| Some(to(f, s.other(dst(f)))))),
    attack("each frame in the other card's name", Seen::HostWrong, |f, s| {
        to_host(f, s, |f, s| Some(from(f, s.other(src(f)))))
    }),
    attack("a claim by the key of another host", Seen::CardWrong, claims_by_other_key),
    attack("frames from a host that the cards do not know", Seen::CardUnknown, |f, s| {
        to_card(f, s, |f, _| Some(from(f, UNKNOWN_HOST)))
    }),
    attack("a claim under an address of his own", Seen::CardUntagged, |f, s| {
        let body = claim(&mut s.rng);
        as_himself(f, s, Kind::SessionClaim, &body)
    }),
    attack("a launch under an address of his own", Seen::CardUntagged, |f, s| {
        as_himself(f, s, Kind::ExecLaunch, &[0; 32])
    }),
    attack("other image data", Seen::Spoils, |f, _| other_data(f)),
    attack("a flood of claims", Seen::CardUntagged, |f, s| flood(f, s, claims)),
    attack("a flood of wrong tags", Seen::CardWrong, |f, s| {
        flood(f, s, |f, s| to_card(f, s, |f, s| Some(wrong_tag(f, s))))
    }),
    attack("a flood of ends", Seen::HostUntagged, |f, s| {
        flood(f, s, |f, s| as_card(f, s, Kind::ResultDone, 0, &done()))
    }),
    attack("a flood of announcements", Seen::Harmless, |f, s| {
        flood(f, s, |f, s| said(f, &mut s.rng, |a, r| a.boot = U32::new(r.next_u64() as u32)))
    }),
];

/// What is made of a frame, if it can be.
type Change = fn(&Frame, &mut Stranger) -> Option<Frame>;

fn to_card(frame: &Frame, s: &mut Stranger, change: Change) -> Vec<Frame> {
    if is_tagged_to_card(frame, s) { change(frame, s).into_iter().collect() } else { Vec::new() }
}

fn to_host(frame: &Frame, s: &mut Stranger, change: Change) -> Vec<Frame> {
    if is_tagged_to_host(frame, s) { change(frame, s).into_iter().collect() } else { Vec::new() }
}

fn flood(frame: &Frame, s: &mut Stranger, one: fn(&Frame, &mut Stranger) -> Vec<Frame>) -> Vec<Frame> {
    (0..FLOOD).flat_map(|_| one(frame, s)).collect()
}
