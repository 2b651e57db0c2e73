//! The way in for control frames: what the analyzer lets through and, on a card with a key, the guard.

use rackloom_auth::Agreement;
use rackloom_node::{Frame, Instant};
use rackloom_wire::{
    Announce, AnnounceReason, Counter, ErrorCode, FLAG_AUTH, FLAG_ENCRYPTED, Head, Kind, MacAddr, Packet, Proof, U64,
};

use super::Card;
use crate::analyzer::{Claimed, Filter};
use crate::discovery;
use crate::guard::{Guard, Verdict};
use crate::session::Claim;
use crate::{Keys, ReleaseReason};

impl Card {
    /// What frames are judged by at present.
    pub(super) fn filter(&self) -> Filter {
        let claim = self.session.claim().map(|c| Claimed { owner: c.owner, epoch: c.epoch, group: c.group });
        Filter { mac: self.shell.config.mac, claim, load: self.loader.group() }
    }

    /// A frame has come in on port 0.
    pub(super) fn handle_control(&mut self, now: Instant, frame: &Frame) {
        let mut plain = None;
        let judged = match self.guard {
            None => self.filter().analyze(frame).map(Some),
            Some(_) => self.judge(frame, &mut plain),
        };
        match judged {
            Ok(Some(packet)) => self.dispatch(now, frame, &packet),
            Ok(None) => {}
            Err(drop) => return self.shell.counters.inc(drop),
        }
        self.settle(now);
    }

    /// What the guard lets through; flag AUTH of it says whether a tag has proven its sender. A payload that was
    /// encrypted comes from `plain`.
    fn judge<'a>(&mut self, frame: &'a Frame, plain: &'a mut Option<Vec<u8>>) -> Result<Option<Packet<'a>>, Counter> {
        let tagged = self.filter().analyze_tagged(frame)?;
        let (mut packet, boot) = (tagged.packet, self.shell.config.boot);
        let Some(guard) = &mut self.guard else { return Ok(Some(packet)) };
        match guard.judge(boot, &packet.head, tagged.trailer.as_ref(), plain) {
            Verdict::Drop(_) if self.ignores_tags() => packet.head.flags |= FLAG_AUTH,
            Verdict::Drop(counter) => return Err(counter),
            Verdict::Ignore => return Ok(None),
            Verdict::NoKey => {
                self.shell.counters.inc(Counter::AuthUntagged);
                self.shell.refuse(&packet.head, Kind::SessionRefuse, ErrorCode::KeyNeeded, 0);
                return Ok(None);
            }
            Verdict::StaleBoot => {
                self.shell.counters.inc(Counter::AuthWrong);
                self.shell.refuse(&packet.head, Kind::SessionRefuse, ErrorCode::StaleBoot, boot.into());
                return Ok(None);
            }
            Verdict::Revoked => {
                self.shell.counters.inc(Counter::AuthUnknown);
                self.shell.refuse(&packet.head, Kind::SessionRefuse, ErrorCode::KeyRevoked, 0);
                return Ok(None);
            }
            Verdict::Take { proven: true } => packet.head.flags |= FLAG_AUTH,
            Verdict::Take { proven: false } => packet.head.flags &= !FLAG_AUTH,
        }
        packet.payload = plain.as_deref().unwrap_or(packet.payload);
        Ok(Some(packet))
    }

    #[cfg(feature = "planted-bugs")]
    fn ignores_tags(&self) -> bool {
        self.shell.config.planted == Some(crate::PlantedBug::IgnoreTag)
    }

    #[cfg(not(feature = "planted-bugs"))]
    #[allow(clippy::unused_self)]
    const fn ignores_tags(&self) -> bool {
        false
    }

    /// The card is given other keys. A claim whose key counts no more ends; all others go on. False if the card has no
    /// key so far: whether it has one is decided when it is made.
    pub fn rekey(&mut self, now: Instant, keys: Keys) -> bool {
        let Some(guard) = &mut self.guard else { return false };
        #[cfg(feature = "planted-bugs")]
        let keys = match self.shell.config.planted {
            Some(crate::PlantedBug::ServeRevoked) => keys.revoking_none(),
            _ => keys,
        };
        let goes_on = guard.rekey(&keys);
        self.shell.config.keys = Some(keys);
        #[cfg(feature = "planted-bugs")]
        let goes_on = match self.shell.config.planted {
            Some(crate::PlantedBug::KeepRevoked) => true,
            Some(crate::PlantedBug::ForgetClaims) => {
                guard.forget_claims();
                goes_on
            }
            _ => goes_on,
        };
        if !goes_on {
            self.end_claim(now, ReleaseReason::Revoked);
            self.settle(now);
        }
        true
    }

    /// Whether this host may have the card, as far as keys go.
    pub(super) fn may_own(&self, host: MacAddr) -> bool {
        self.guard.as_ref().is_none_or(|guard| guard.may_own(host))
    }

    /// Whether a frame is from whom its address says, as far as this card can tell.
    pub(super) const fn is_proven(&self, head: &Head) -> bool {
        self.guard.is_none() || head.flags & FLAG_AUTH != 0
    }

    /// A claim is granted: under keys a session begins, with a nonce of this card's.
    pub(super) fn begin_session(&mut self, claim: &Claim, encrypts: bool) {
        if let Some(guard) = &mut self.guard {
            let (card_nonce, boot) = (self.shell.rng.next_u64(), self.shell.config.boot);
            let agreed = Agreement { host_nonce: claim.nonce, card_nonce, boot, epoch: claim.epoch };
            #[cfg(feature = "planted-bugs")]
            let encrypts = encrypts && self.shell.config.planted != Some(crate::PlantedBug::NeverEncrypt);
            guard.begin(claim.owner, &agreed, encrypts);
        }
    }

    /// Whether a claim is refused because its host would go on without encryption.
    pub(super) fn needs_encryption(&self, asked: &Head) -> bool {
        let demands = self.shell.config.keys.as_ref().is_some_and(Keys::demands_encryption);
        demands && asked.flags & FLAG_ENCRYPTED == 0
    }

    /// Whether the present claim is encrypted.
    pub(super) fn encrypts(&self) -> bool {
        self.guard.as_ref().is_some_and(Guard::encrypts)
    }

    /// Flags of a grant beside the tag's.
    pub(super) fn grant_flags(&self) -> u8 {
        if self.encrypts() { FLAG_ENCRYPTED } else { 0 }
    }

    /// Who gets announcements of its own, under a tag.
    pub(super) fn witness(&self) -> Option<MacAddr> {
        self.owner().filter(|_| self.guard.is_some())
    }

    /// What a grant under a tag says beside the claim's terms.
    pub(super) fn proof(&self) -> Option<(Proof, Announce)> {
        let card_nonce = U64::new(self.guard.as_ref()?.card_nonce()?);
        let announce = discovery::body(&self.shell.config, &self.facts(), AnnounceReason::Changed);
        Some((Proof { card_nonce }, announce))
    }

    /// A frame as it leaves.
    pub(super) fn seal(&mut self, frame: Frame) -> Frame {
        match &mut self.guard {
            None => frame,
            Some(guard) => guard.seal(self.shell.config.boot, frame),
        }
    }
}
