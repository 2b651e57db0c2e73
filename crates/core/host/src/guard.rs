//! The guard of one card that this host has a key for: tags of what goes there, and whether what comes is from it.
//!
//! Claims, releases and their answers have tags by the pair's key of claims; all else of a claim has tags by the
//! session's key. What has no tag is a hint at most.

use rackloom_auth::{Agreement, Bound, Direction, Opener, PairKey, Refused, Sealer, SessionKey, Tag};
use rackloom_node::Frame;
use rackloom_wire::{ErrorCode, FromBytes, Grant, Kind, Packet, Refusal, Tagged, Trailer, with_trailer};

/// Keys and counters of one card.
#[derive(Debug)]
pub(crate) struct Guard {
    key: PairKey,
    claims: SessionKey,
    /// The boot number that the card has told under a tag.
    boot: Option<u32>,
    /// The one that the last claim or release was tagged with.
    asked: u32,
    /// Of the last claim that was granted.
    session: Option<(Sealer, Opener)>,
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
    pub(crate) fn new(key: &PairKey) -> Self {
        Self { claims: key.claims(), key: key.clone(), boot: None, asked: 0, session: None }
    }

    /// A frame to the card as it leaves. `hint`: the boot number that it announces; `counter`: of this claim or
    /// release, should it be one. `None` if it cannot be sent.
    pub(crate) fn seal(&mut self, frame: &Frame, hint: u32, counter: u64) -> Option<Frame> {
        let head = Packet::parse(frame).ok()?.head;
        match head.kind {
            // Without a claim: the card may have forgotten the last one.
            Kind::SessionPing if head.epoch == 0 => None,
            Kind::DiscoverySolicit | Kind::SessionCountersGet | Kind::SessionManifestGet | Kind::ImageData => None,
            Kind::SessionClaim | Kind::SessionRelease => {
                self.asked = self.boot.unwrap_or(hint);
                let (boot, direction) = (self.asked, Direction::ToCard);
                let tag = |frame: &[u8]| self.claims.tag(&Bound { frame, boot, direction, counter });
                with_trailer(frame, |message| Some((counter, tag(message)?.0)))
            }
            _ => {
                let (sealer, _) = self.session.as_mut()?;
                with_trailer(frame, |message| sealer.seal(message).map(|(counter, tag)| (counter, tag.0)))
            }
        }
    }

    /// Whether the card has sent this.
    pub(crate) fn open(&mut self, tagged: &Tagged<'_>, trailer: &Trailer<'_>, forged: &mut Forged) -> bool {
        let packet = &tagged.packet;
        let right = match packet.head.kind {
            Kind::SessionGrant | Kind::SessionReleased | Kind::SessionRefuse => {
                let (frame, counter, direction) = (trailer.message, trailer.counter, Direction::ToHost);
                let boot = boot_told(packet).unwrap_or(self.asked);
                let right = self.claims.tag(&Bound { frame, boot, direction, counter });
                if right == Some(Tag(trailer.tag)) { Ok(()) } else { Err(Refused::Tag) }
            }
            _ => match &mut self.session {
                Some((_, opener)) => opener.open(trailer.message, trailer.counter, &Tag(trailer.tag)),
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

    /// The card says under a tag that it has another boot number than it was asked with. False if it has not.
    pub(crate) fn learn_boot(&mut self, boot: u32) -> bool {
        self.boot = Some(boot);
        boot != self.asked
    }

    /// A claim is granted: its session begins.
    pub(crate) fn begin(&mut self, agreed: &Agreement) {
        let key = self.key.session(agreed);
        self.boot = Some(agreed.boot);
        let sealer = Sealer::new(key.clone(), agreed.boot, Direction::ToCard);
        self.session = Some((sealer, Opener::new(key, agreed.boot, Direction::ToHost)));
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
