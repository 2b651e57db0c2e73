//! The guard of a card with a key: which frames it takes, by their tags, and the tags of what it says.
//!
//! Each host that the card has a key for is known by the number in its address. Claims and releases, and the answers to
//! them, have tags by the pair's key of claims, since both may come when there is no session; all else of a claim has
//! tags by the session's key. What the card says of itself to everybody has no tag.
//!
//! A claim that has ended is remembered until the next one ends: its host learns under a tag that it is over. Whose key
//! a frame is by follows from its head alone, so each is checked against one: gateware knows it before the payload.

use std::collections::BTreeMap;

use rackloom_auth::{Agreement, Direction, Opener, PairKey, Protection, Refused, Sealer, Tag, host};
use rackloom_node::Frame;
use rackloom_wire::rules::ClaimRule;
use rackloom_wire::{
    Counter, ErrorCode, FromBytes, HOSTS, Head, Kind, MacAddr, Packet, Refusal, Trailer, in_session, open_bytes,
    with_trailer,
};

use crate::keys::Keys;
use crate::pairs::{Pairs, Worth};

/// What the card holds of its hosts and of their claims.
#[derive(Debug)]
pub struct Guard {
    hosts: BTreeMap<u16, Pairs>,
    /// The present claim's, and that of the claim before.
    session: Option<Session>,
    former: Option<Session>,
}

#[derive(Debug)]
struct Session {
    owner: MacAddr,
    /// What its key comes from.
    key: PairKey,
    agreed: Agreement,
    sealer: Sealer,
    opener: Opener,
}

/// What becomes of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is dropped, and counted here.
    Drop(Counter),
    /// It is dropped, and is nothing to count: what other cards say.
    Ignore,
    /// A claim without a tag: dropped, and answered so.
    NoKey,
    /// A claim whose tag is wrong: the host may have another boot or another generation of keys in mind, and gets an
    /// answer.
    StaleBoot,
    /// A claim under a key that was revoked: dropped, and answered so.
    Revoked,
    /// It is taken.
    Take {
        /// By its tag it is from the host whose address it has.
        proven: bool,
    },
}

impl Guard {
    /// The guard of a card with these keys.
    pub fn new(keys: &Keys) -> Self {
        Self { hosts: hosts(keys), session: None, former: None }
    }

    /// The card starts again, with another boot number: no tag of the life before is right any more.
    pub(crate) fn restart(&mut self) {
        (self.session, self.former) = (None, None);
        self.hosts.values_mut().for_each(Pairs::restart);
    }

    /// The card is given other keys: those that it had before go on as they were. Whether the present claim does.
    pub(crate) fn rekey(&mut self, keys: &Keys) -> bool {
        let mut before = std::mem::replace(&mut self.hosts, hosts(keys));
        for (number, pairs) in &mut self.hosts {
            before.remove(number).into_iter().for_each(|before| pairs.inherit(before));
        }
        let counts = |s: &Session| self.pairs(s.owner).is_some_and(|pairs| pairs.has(&s.key));
        self.session.as_ref().is_none_or(counts)
    }

    /// No claim is known as taken any more.
    #[cfg(feature = "planted-bugs")]
    pub(crate) fn forget_claims(&mut self) {
        self.hosts.values_mut().for_each(Pairs::restart);
    }

    fn pairs(&self, host: MacAddr) -> Option<&Pairs> {
        self.hosts.get(&host::number(host.0)?)
    }

    /// Whether this host may have the card: its claim was taken, and its key counts still.
    pub(crate) fn may_own(&self, host: MacAddr) -> bool {
        self.pairs(host).is_some_and(|pairs| pairs.proven().is_some())
    }

    /// Judges a frame that the card would take if it had no key. If its payload was encrypted, it is in `plain` once
    /// the frame is taken.
    pub fn judge(
        &mut self,
        boot: u32,
        head: &Head,
        trailer: Option<&Trailer<'_>>,
        plain: &mut Option<Vec<u8>>,
    ) -> Verdict {
        match (rule(head.kind), trailer) {
            (Rule::Open, _) => Verdict::Take { proven: false },
            (Rule::Cards, _) => Verdict::Ignore,
            (Rule::Renews, None) => Verdict::Take { proven: false },
            (Rule::Claims, None) if head.kind == Kind::SessionClaim => Verdict::NoKey,
            (_, None) => Verdict::Drop(Counter::AuthUntagged),
            (Rule::Claims, Some(trailer)) => self.open_claim(boot, head, trailer),
            (Rule::Renews | Rule::Session, Some(trailer)) => self.open(head, trailer, plain),
        }
    }

    fn open_claim(&mut self, boot: u32, head: &Head, trailer: &Trailer<'_>) -> Verdict {
        let pairs = host::number(head.src.0).and_then(|number| self.hosts.get_mut(&number));
        let Some(pairs) = pairs else { return Verdict::Drop(Counter::AuthUnknown) };
        let is_claim = head.kind == Kind::SessionClaim;
        match pairs.open(boot, trailer) {
            Worth::Proven => Verdict::Take { proven: true },
            Worth::Revoked if is_claim => Verdict::Revoked,
            Worth::Revoked => Verdict::Drop(Counter::AuthUnknown),
            Worth::Replayed => Verdict::Drop(Counter::AuthReplay),
            Worth::Nothing if is_claim => Verdict::StaleBoot,
            Worth::Nothing => Verdict::Drop(Counter::AuthWrong),
        }
    }

    fn open(&mut self, head: &Head, trailer: &Trailer<'_>, plain: &mut Option<Vec<u8>>) -> Verdict {
        let Some(session) = self.session_of(head) else { return Verdict::Drop(Counter::AuthUnknown) };
        let open = open_bytes(head.kind, trailer.message.len());
        match session.opener.open(trailer.message, open, trailer.counter, &Tag(trailer.tag)) {
            Ok(said) => {
                *plain = said;
                Verdict::Take { proven: true }
            }
            Err(Refused::Replay(_)) => Verdict::Drop(Counter::AuthReplay),
            Err(Refused::Tag | Refused::Long(_)) => Verdict::Drop(Counter::AuthWrong),
        }
    }

    /// The session by whose key this frame is, if its sender has one. Who has both, the present claim and the one
    /// before, says by the epoch which is meant; where the field has a group's number or a load's, the present one is.
    fn session_of(&mut self, head: &Head) -> Option<&mut Session> {
        let has_epoch = matches!(head.kind.claim(), ClaimRule::None | ClaimRule::Epoch);
        let is_senders = |s: &&mut Session| s.owner == head.src;
        let present = self.session.as_mut().filter(is_senders);
        let former = self.former.as_mut().filter(is_senders);
        if former.as_ref().is_some_and(|s| has_epoch && s.agreed.epoch == head.epoch) {
            former
        } else {
            present.or(former)
        }
    }

    /// A claim is granted: its session begins, encrypted if its host wants that.
    pub fn begin(&mut self, owner: MacAddr, agreed: &Agreement, encrypts: bool) {
        let Some(key) = self.pairs(owner).and_then(Pairs::proven).cloned() else { return };
        let keep: Protection = if encrypts { key.cipher(agreed).into() } else { key.session(agreed).into() };
        let sealer = Sealer::new(keep.clone(), agreed.boot, Direction::ToHost);
        let opener = Opener::new(keep, agreed.boot, Direction::ToCard);
        self.session = Some(Session { owner, key, agreed: *agreed, sealer, opener });
    }

    /// The claim has ended.
    pub fn end(&mut self) {
        if let Some(session) = self.session.take() {
            self.former = Some(session);
        }
    }

    /// The nonce that the card has drawn for the present claim.
    pub(crate) fn card_nonce(&self) -> Option<u64> {
        self.session.as_ref().map(|s| s.agreed.card_nonce)
    }

    /// Whether the present claim's frames are encrypted.
    pub(crate) fn encrypts(&self) -> bool {
        self.session.as_ref().is_some_and(|s| s.sealer.encrypts())
    }

    /// The frame as it leaves: with a tag, if its receiver can check one and its kind has one.
    pub fn seal(&mut self, boot: u32, frame: Frame) -> Frame {
        let Ok(packet) = Packet::parse(&frame) else { return frame };
        let sealed = match packet.head.kind {
            Kind::SessionCounters | Kind::SessionManifest => None,
            Kind::SessionGrant | Kind::SessionReleased | Kind::SessionRefuse if !says_key_needed(&packet) => {
                let is_refusal = packet.head.kind == Kind::SessionRefuse;
                let pairs = host::number(packet.head.dst.0).and_then(|number| self.hosts.get_mut(&number));
                pairs
                    .and_then(|pairs| pairs.answering(is_refusal))
                    .and_then(|key| with_trailer(&frame, key.generation(), |message| key.seal(boot, message)))
            }
            _ => {
                let dst = packet.head.dst;
                let is_owners = |s: &&mut Session| s.owner == dst || (dst.is_group() && dst != HOSTS);
                let mut sessions = [&mut self.session, &mut self.former].into_iter().flatten();
                sessions.find(is_owners).and_then(|Session { sealer, .. }| {
                    in_session(&frame, sealer.encrypts(), |message, open| {
                        sealer.seal(message, open).map(|(counter, tag)| (counter, tag.0))
                    })
                })
            }
        };
        sealed.unwrap_or(frame)
    }
}

fn hosts(keys: &Keys) -> BTreeMap<u16, Pairs> {
    let mut hosts: BTreeMap<u16, Pairs> = BTreeMap::new();
    keys.shared().for_each(|shared| hosts.entry(shared.host).or_default().push(shared));
    hosts
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
