//! The guard of one card that this host has a key for: tags of what goes there, and whether what comes is from it.
//!
//! Claims, releases and their answers have tags by the pair's key of claims; all else of a claim has tags by the
//! session's key. What has no tag is a hint at most.
//!
//! Keys have generations, and so do these tags. A claim goes under the newest that this host has; a card that does not
//! have it says so by its answer, which is under another one.

use rackloom_auth::{
    Agreement, Bound, Direction, ImagesKey, Opener, PairKey, Protection, Refused, Sealer, SessionKey, Tag,
};
use rackloom_node::Frame;
use rackloom_wire::{
    ErrorCode, FLAG_ENCRYPTED, FromBytes, Grant, Head, Kind, Packet, Refusal, Tagged, Trailer, in_session, open_bytes,
    with_trailer,
};

/// Keys and counters of one card.
#[derive(Debug)]
pub(crate) struct Guard {
    /// The newest generation first; at least one.
    pairs: Vec<Pair>,
    /// Which of them claims go under, and which the last grant was under.
    asking: usize,
    granted: usize,
    /// Which the last answer to a claim or a release was under.
    answered: usize,
    /// A generation that an answer in the card's name was of and that this host does not have. Anybody may have said
    /// it.
    unknown: Option<u32>,
    /// The boot number that the card has told under a tag.
    boot: Option<u32>,
    /// The one that the last claim or release was tagged with.
    asked: u32,
    /// Of the last claim that was granted.
    session: Option<(Sealer, Opener)>,
    /// Of the same, if it is encrypted: what keys of loads come from.
    images: Option<ImagesKey>,
    /// Sessions are encrypted, whatever the card says.
    encrypts: bool,
}

#[derive(Debug)]
struct Pair {
    generation: u32,
    key: PairKey,
    claims: SessionKey,
}

/// What was dropped because it cannot be from whom it says, by reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Forged {
    /// No tag, and such a frame of such a card has one.
    pub untagged: u64,
    /// A wrong tag: forged, changed, or of another session.
    pub wrong: u64,
    /// A counter that was used before.
    pub replayed: u64,
}

impl Forged {
    /// All of them.
    pub const fn total(&self) -> u64 {
        self.untagged + self.wrong + self.replayed
    }
}

impl Guard {
    /// The guard of a card by its keys, the newest generation first; `None` if there are none.
    /// If it `encrypts`, what needs a session leaves encrypted or not at all.
    pub(crate) fn new<'a>(keys: impl Iterator<Item = (u32, &'a PairKey)>, encrypts: bool) -> Option<Self> {
        let pair = |(generation, key): (u32, &PairKey)| Pair { generation, claims: key.claims(), key: key.clone() };
        let pairs: Vec<_> = keys.map(pair).collect();
        let guard = Self {
            pairs,
            asking: 0,
            granted: 0,
            answered: 0,
            unknown: None,
            boot: None,
            asked: 0,
            session: None,
            images: None,
            encrypts,
        };
        (!guard.pairs.is_empty()).then_some(guard)
    }

    /// The card is claimed: under the newest key, since it may have got that since it was claimed last. The claim's
    /// flags.
    pub(crate) const fn begin_claim(&mut self) -> u8 {
        (self.asking, self.unknown) = (0, None);
        if self.encrypts { FLAG_ENCRYPTED } else { 0 }
    }

    /// A generation of keys that the card seems to have, and this host has not.
    pub(crate) const fn unknown(&self) -> Option<u32> {
        self.unknown
    }

    /// Whether such a frame has no tag of a session.
    const fn is_untagged(kind: Kind) -> bool {
        matches!(
            kind,
            Kind::DiscoverySolicit
                | Kind::SessionPing
                | Kind::SessionCountersGet
                | Kind::SessionManifestGet
                | Kind::ImageData
        )
    }

    /// Whether a frame may leave of a host that encrypts though nothing seals it: anybody may say it and it has nothing
    /// of the claim, or it is encrypted already.
    pub(crate) const fn is_open(head: &Head) -> bool {
        let is_data = matches!(head.kind, Kind::ImageData);
        Self::is_untagged(head.kind) && (!is_data || head.flags & FLAG_ENCRYPTED != 0)
    }

    /// A frame to the card as it leaves. `hint`: the boot number that it announces; `counter`: of this claim or
    /// release, should it be one. `None` if it cannot be sent.
    pub(crate) fn seal(&mut self, frame: &Frame, hint: u32, counter: u64) -> Option<Frame> {
        let head = Packet::parse(frame).ok()?.head;
        match head.kind {
            // Without a claim: the card may have forgotten the last one.
            Kind::SessionPing if head.epoch == 0 => None,
            kind if kind != Kind::SessionPing && Self::is_untagged(kind) => None,
            Kind::SessionClaim | Kind::SessionRelease => {
                self.asked = self.boot.unwrap_or(hint);
                let (boot, direction) = (self.asked, Direction::ToCard);
                let is_claim = head.kind == Kind::SessionClaim;
                let Pair { generation, claims, .. } = &self.pairs[if is_claim { self.asking } else { self.granted }];
                let tag = |frame: &[u8]| claims.tag(&Bound { frame, boot, direction, counter });
                with_trailer(frame, *generation, |message| Some((counter, tag(message)?.0)))
            }
            _ => {
                let (sealer, _) = self.session.as_mut()?;
                in_session(frame, sealer.encrypts(), |message, open| {
                    sealer.seal(message, open).map(|(counter, tag)| (counter, tag.0))
                })
            }
        }
    }

    /// Whether the card has sent this. If its payload was encrypted, it is in `plain` then.
    pub(crate) fn open(
        &mut self,
        tagged: &Tagged<'_>,
        trailer: &Trailer<'_>,
        forged: &mut Forged,
        plain: &mut Option<Vec<u8>>,
    ) -> bool {
        let packet = &tagged.packet;
        let right = match packet.head.kind {
            Kind::SessionGrant | Kind::SessionReleased | Kind::SessionRefuse => {
                let boot = boot_told(packet).unwrap_or(self.asked);
                self.open_answer(packet.head.kind, boot, trailer)
            }
            _ => match &mut self.session {
                Some((_, opener)) => {
                    let open = open_bytes(packet.head.kind, trailer.message.len());
                    opener.open(trailer.message, open, trailer.counter, &Tag(trailer.tag)).map(|said| *plain = said)
                }
                None => Err(Refused::Tag),
            },
        };
        match right {
            Ok(()) => return true,
            Err(Refused::Replay(_)) => forged.replayed += 1,
            Err(Refused::Tag | Refused::Long(_)) => forged.wrong += 1,
        }
        false
    }

    /// An answer to a claim or a release.
    fn open_answer(&mut self, kind: Kind, boot: u32, trailer: &Trailer<'_>) -> Result<(), Refused> {
        let (frame, counter, direction) = (trailer.message, trailer.counter, Direction::ToHost);
        let Some(at) = self.pairs.iter().position(|pair| pair.generation == trailer.generation) else {
            self.unknown = Some(trailer.generation);
            return Err(Refused::Tag);
        };
        // A grant is under the key that was asked under: whoever has an older one only gives none.
        let right = self.pairs[at].claims.tag(&Bound { frame, boot, direction, counter });
        if right != Some(Tag(trailer.tag)) || (kind == Kind::SessionGrant && at != self.asking) {
            return Err(Refused::Tag);
        }
        self.answered = at;
        Ok(())
    }

    /// The card has not the boot number that it was asked with, or not that generation of keys: its answer tells the
    /// one under a tag of the other. False if it has both. A claim goes from newer keys to older ones only.
    pub(crate) fn learn(&mut self, boot: u32) -> bool {
        let (is_older, is_other) = (self.answered > self.asking, boot != self.asked);
        self.asking = self.asking.max(self.answered);
        self.boot = Some(boot);
        is_older || is_other
    }

    /// Whether a grant with these flags is as this host asked: it is encrypted, or need not be.
    pub(crate) const fn agrees(&self, granted: u8) -> bool {
        !self.encrypts || granted & FLAG_ENCRYPTED != 0
    }

    /// The session will be as the card wants it.
    #[cfg(feature = "planted-bugs")]
    pub(crate) const fn follow(&mut self, granted: u8) {
        self.encrypts = granted & FLAG_ENCRYPTED != 0;
    }

    /// What keys of loads come from that this card is the first member of, if its claim is encrypted.
    pub(crate) const fn images(&self) -> Option<&ImagesKey> {
        self.images.as_ref()
    }

    /// A claim is granted: its session begins.
    pub(crate) fn begin(&mut self, agreed: &Agreement) {
        self.granted = self.asking;
        let key = &self.pairs[self.granted].key;
        let keep: Protection = if self.encrypts { key.cipher(agreed).into() } else { key.session(agreed).into() };
        self.images = self.encrypts.then(|| key.images(agreed));
        self.boot = Some(agreed.boot);
        let sealer = Sealer::new(keep.clone(), agreed.boot, Direction::ToCard);
        self.session = Some((sealer, Opener::new(keep, agreed.boot, Direction::ToHost)));
    }
}

/// The boot number that an answer itself tells: a tag binds it too, so it is the card's own word.
fn boot_told(packet: &Packet<'_>) -> Option<u32> {
    match packet.head.kind {
        Kind::SessionGrant => Some(Grant::ref_from_prefix(packet.payload).ok()?.0.boot.get()),
        Kind::SessionRefuse => {
            let (refusal, _) = Refusal::ref_from_prefix(packet.payload).ok()?;
            let is_stale = refusal.code.get() == u16::from(ErrorCode::StaleBoot);
            is_stale.then(|| refusal.detail.get() as u32)
        }
        _ => None,
    }
}
