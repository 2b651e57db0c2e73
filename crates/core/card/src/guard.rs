//! The guard of a card with a key: which frames it takes, by their tags, and the tags of what it says.
//!
//! Each host that the card has a key for is known by the number in its address. Claims and releases, and the answers to
//! them, have tags by the pair's key of claims, since both may come when there is no session; all else of a claim has
//! tags by the session's key. What the card says of itself to everybody has no tag.
//!
//! A claim that has ended is remembered until the next one ends: its host learns under a tag that it is over.

use std::collections::BTreeMap;

use rackloom_auth::{Agreement, Bound, Direction, Opener, PairKey, Refused, Sealer, SessionKey, Tag, Window, host};
use rackloom_node::Frame;
use rackloom_wire::{
    Counter, ErrorCode, FromBytes, HOSTS, Head, Kind, MacAddr, Packet, Refusal, Trailer, with_trailer,
};

use crate::keys::Keys;

/// What the card holds of its hosts and of their claims.
#[derive(Debug)]
pub(crate) struct Guard {
    hosts: BTreeMap<u16, Pair>,
    /// The present claim's, and that of the claim before.
    session: Option<Session>,
    former: Option<Session>,
}

#[derive(Debug)]
struct Pair {
    key: PairKey,
    claims: SessionKey,
    /// Counters of the host's claims and releases.
    window: Window,
    /// The last counter of an answer.
    sent: u64,
}

#[derive(Debug)]
struct Session {
    owner: MacAddr,
    card_nonce: u64,
    sealer: Sealer,
    opener: Opener,
}

/// What becomes of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is dropped, and counted here.
    Drop(Counter),
    /// It is dropped, and is nothing to count: what other cards say.
    Ignore,
    /// A claim without a tag: dropped, and answered so.
    NoKey,
    /// A claim whose tag is wrong: the host may have another boot in mind, and gets an answer.
    StaleBoot,
    /// It is taken. `proven`: by its tag it is from the host whose address it has.
    Take { proven: bool },
}

impl Guard {
    pub(crate) fn new(keys: &Keys) -> Self {
        let pair = |key: PairKey| Pair { claims: key.claims(), key, window: Window::new(), sent: 0 };
        Self { hosts: keys.pairs().map(|(host, key)| (host, pair(key))).collect(), session: None, former: None }
    }

    /// The card starts again, with another boot number: no tag of the life before is right any more.
    pub(crate) fn restart(&mut self) {
        (self.session, self.former) = (None, None);
        self.hosts.values_mut().for_each(|pair| (pair.window, pair.sent) = (Window::new(), 0));
    }

    /// Judges a frame that the card would take if it had no key.
    pub(crate) fn judge(&mut self, boot: u32, head: &Head, trailer: Option<&Trailer<'_>>) -> Verdict {
        match (rule(head.kind), trailer) {
            (Rule::Open, _) => Verdict::Take { proven: false },
            (Rule::Cards, _) => Verdict::Ignore,
            (Rule::Renews, None) => Verdict::Take { proven: false },
            (Rule::Claims, None) if head.kind == Kind::SessionClaim => Verdict::NoKey,
            (_, None) => Verdict::Drop(Counter::AuthUntagged),
            (Rule::Claims, Some(trailer)) => self.open_claim(boot, head, trailer),
            (Rule::Renews | Rule::Session, Some(trailer)) => self.open(head.src, trailer),
        }
    }

    fn open_claim(&mut self, boot: u32, head: &Head, trailer: &Trailer<'_>) -> Verdict {
        let pair = host::number(head.src.0).and_then(|number| self.hosts.get_mut(&number));
        let Some(pair) = pair else { return Verdict::Drop(Counter::AuthUnknown) };
        if pair.window.check(trailer.counter).is_err() {
            return Verdict::Drop(Counter::AuthReplay);
        }
        let (frame, counter, direction) = (trailer.message, trailer.counter, Direction::ToCard);
        if pair.claims.tag(&Bound { frame, boot, direction, counter }) != Some(Tag(trailer.tag)) {
            let is_claim = head.kind == Kind::SessionClaim;
            return if is_claim { Verdict::StaleBoot } else { Verdict::Drop(Counter::AuthWrong) };
        }
        pair.window.accept(counter).expect("it was checked");
        Verdict::Take { proven: true }
    }

    fn open(&mut self, from: MacAddr, trailer: &Trailer<'_>) -> Verdict {
        let mut verdict = Verdict::Drop(Counter::AuthUnknown);
        for session in [&mut self.session, &mut self.former].into_iter().flatten().filter(|s| s.owner == from) {
            match session.opener.open(trailer.message, trailer.counter, &Tag(trailer.tag)) {
                Ok(()) => return Verdict::Take { proven: true },
                Err(Refused::Replay(_)) if verdict == Verdict::Drop(Counter::AuthUnknown) => {
                    verdict = Verdict::Drop(Counter::AuthReplay);
                }
                Err(Refused::Replay(_)) => {}
                Err(Refused::Tag | Refused::Long(_)) => verdict = Verdict::Drop(Counter::AuthWrong),
            }
        }
        verdict
    }

    /// A claim is granted: its session begins.
    pub(crate) fn begin(&mut self, owner: MacAddr, agreed: &Agreement) {
        let Some(pair) = host::number(owner.0).and_then(|number| self.hosts.get(&number)) else { return };
        let key = pair.key.session(agreed);
        let sealer = Sealer::new(key.clone(), agreed.boot, Direction::ToHost);
        let opener = Opener::new(key, agreed.boot, Direction::ToCard);
        self.session = Some(Session { owner, card_nonce: agreed.card_nonce, sealer, opener });
    }

    /// The claim has ended.
    pub(crate) fn end(&mut self) {
        if let Some(session) = self.session.take() {
            self.former = Some(session);
        }
    }

    /// The nonce that the card has drawn for the present claim.
    pub(crate) fn card_nonce(&self) -> Option<u64> {
        self.session.as_ref().map(|s| s.card_nonce)
    }

    /// The frame as it leaves: with a tag, if its receiver can check one and its kind has one.
    pub(crate) fn seal(&mut self, boot: u32, frame: Frame) -> Frame {
        let Ok(packet) = Packet::parse(&frame) else { return frame };
        let sealed = match packet.head.kind {
            Kind::SessionCounters | Kind::SessionManifest => None,
            Kind::SessionGrant | Kind::SessionReleased | Kind::SessionRefuse if !says_key_needed(&packet) => {
                let pair = host::number(packet.head.dst.0).and_then(|number| self.hosts.get_mut(&number));
                pair.and_then(|pair| with_trailer(&frame, |message| pair.answer(boot, message)))
            }
            _ => {
                let dst = packet.head.dst;
                let is_owners = |s: &&mut Session| s.owner == dst || (dst.is_group() && dst != HOSTS);
                let mut sessions = [&mut self.session, &mut self.former].into_iter().flatten();
                sessions.find(is_owners).and_then(|session| {
                    with_trailer(&frame, |message| session.sealer.seal(message).map(|(counter, tag)| (counter, tag.0)))
                })
            }
        };
        sealed.unwrap_or(frame)
    }
}

impl Pair {
    /// Counter and tag of an answer to a claim or a release.
    fn answer(&mut self, boot: u32, frame: &[u8]) -> Option<(u64, [u8; 16])> {
        let counter = self.sent.checked_add(1)?;
        let tag = self.claims.tag(&Bound { frame, boot, direction: Direction::ToHost, counter })?;
        self.sent = counter;
        Some((counter, tag.0))
    }
}

/// Whether a refusal tells a host without a key that it needs one: it could check no tag.
fn says_key_needed(packet: &Packet<'_>) -> bool {
    let code = Refusal::ref_from_prefix(packet.payload).map(|(r, _)| r.code.get());
    packet.head.kind == Kind::SessionRefuse && code == Ok(u16::from(ErrorCode::KeyNeeded))
}

/// Under which key a card with a key takes a kind of frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// None: questions that anybody may ask; and image data, judged by the digest that a begin has named under a tag.
    Open,
    /// None, but only under the session's key it renews the lease.
    Renews,
    /// The pair's key of claims.
    Claims,
    /// The session's key.
    Session,
    /// It is from another card, and this one has no key to check it.
    Cards,
}

const fn rule(kind: Kind) -> Rule {
    match kind {
        Kind::DiscoverySolicit | Kind::SessionCountersGet | Kind::SessionManifestGet | Kind::ImageData => Rule::Open,
        Kind::SessionPing => Rule::Renews,
        Kind::SessionClaim | Kind::SessionRelease => Rule::Claims,
        Kind::ImageConfirmMissing => Rule::Cards,
        _ => Rule::Session,
    }
}
