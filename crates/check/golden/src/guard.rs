//! The guard of a card with a key, as a bench of gateware drives it: sessions begin and end, frames come and leave.
//!
//! Claims, releases and the answers to them are the firmware's: here they go to it as they are, whatever their tag.

use rackloom_auth::{Agreement, Bound, CardKey, Direction, KEY_BYTES, PairKey, host};
use rackloom_card::{Guard as CardGuard, GuardVerdict, Keys};
use rackloom_node::Frame;
use rackloom_wire::{Counter, Head, Kind, Tagged, with_trailer};

use crate::Fault;
use crate::frame::mac;
use crate::judge::{Card, Verdict, route_of, waits};

/// What becomes of a frame on a card with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Guarded {
    /// What becomes of it; a frame that is dropped and not counted has `drop` -2.
    pub verdict: Verdict,
    /// 1: by its tag it is from the host whose address it has, else 0.
    pub proven: u8,
}

/// The guard of a card that one host has a key for, of the first generation.
#[derive(Debug)]
pub struct Guard {
    guard: CardGuard,
    pair: PairKey,
    boot: u32,
    claims: u64,
}

/// A claim as both sides have agreed on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Claim {
    /// The owner's address, 48 bits: one of the host that has a key.
    pub owner: u64,
    /// The host's nonce.
    pub host_nonce: u64,
    /// The card's nonce.
    pub card_nonce: u64,
    /// The epoch.
    pub epoch: u16,
}

impl Guard {
    /// A card with this key and boot number, and a host with this number.
    pub(crate) fn new(key: &[u8; KEY_BYTES], host: u16, boot: u32) -> Self {
        let key = CardKey::new(*key);
        let pair = key.host(host.into(), 0);
        Self { guard: CardGuard::new(&Keys::new(key, [(host, 0)])), pair, boot, claims: 0 }
    }

    /// The host has claimed the card, with a right tag: a session begins, and the one before ends.
    pub(crate) fn begin(&mut self, card: u64, claim: &Claim) -> Result<(), Fault> {
        let (dst, owner) = (mac(card)?, mac(claim.owner)?);
        host::number(owner.0).ok_or(Fault::Argument)?;
        let head = Head { dst, src: owner, kind: Kind::SessionClaim, flags: 0, epoch: 0, seq: 1, addr: 0 };
        self.claims += 1;
        let (boot, counter, key) = (self.boot, self.claims, self.pair.claims());
        let tag = |frame: &[u8]| key.tag(&Bound { frame, boot, direction: Direction::ToCard, counter });
        let frame = with_trailer(&head.frame(&[]), 0, |frame| Some((counter, tag(frame)?.0))).ok_or(Fault::Refused)?;
        let tagged = Tagged::parse(&frame).map_err(|_| Fault::Refused)?;
        let verdict = self.guard.judge(boot, &tagged.packet.head, tagged.trailer.as_ref(), &mut None);
        if verdict != (GuardVerdict::Take { proven: true }) {
            return Err(Fault::Refused);
        }
        let Claim { host_nonce, card_nonce, epoch, .. } = *claim;
        self.guard.end();
        // Gateware does not encrypt.
        self.guard.begin(owner, &Agreement { host_nonce, card_nonce, boot, epoch }, false);
        Ok(())
    }

    /// The session ends.
    pub(crate) fn end(&mut self) {
        self.guard.end();
    }

    /// What becomes of these bytes, their check sequence being right.
    pub(crate) fn judge(&mut self, card: &Card, frame: &[u8]) -> Result<Guarded, Fault> {
        let filter = card.filter()?;
        let (verdict, proven) = match filter.analyze_tagged(frame) {
            Err(counter) => (Verdict::dropped(counter), false),
            Ok(tagged) => {
                let (head, trailer) = (&tagged.packet.head, tagged.trailer.as_ref());
                let is_firmwares = match head.kind {
                    Kind::SessionClaim => true,
                    Kind::SessionRelease => trailer.is_some(),
                    _ => false,
                };
                let verdict = if is_firmwares {
                    GuardVerdict::Take { proven: false }
                } else {
                    self.guard.judge(self.boot, head, trailer, &mut None)
                };
                match verdict {
                    GuardVerdict::Take { proven } => (route_of(card, &filter, &tagged.packet), proven),
                    GuardVerdict::Drop(counter) => (Verdict::dropped(counter), false),
                    GuardVerdict::Ignore => (Verdict { drop: -2, ..Verdict::dropped(Counter::AuthWrong) }, false),
                    GuardVerdict::NoKey | GuardVerdict::StaleBoot | GuardVerdict::Revoked => {
                        return Err(Fault::Refused);
                    }
                }
            }
        };
        Ok(Guarded { verdict: Verdict { waits: waits(frame).into(), ..verdict }, proven: proven.into() })
    }

    /// A frame as it leaves the card.
    pub(crate) fn seal(&mut self, frame: &[u8]) -> Vec<u8> {
        self.guard.seal(self.boot, Frame::copy_from_slice(frame)).to_vec()
    }
}
