//! Claims: who owns the card, in which epoch, and for how long.

use rackloom_node::{Duration, Instant};
use rackloom_wire::{self as wire, BEAT, BULK_STANDARD, ErrorCode, Head, LEASE_MS_MAX, MacAddr, Scrub};

use crate::shell::Shell;
use crate::spent::Spent;

/// A claim in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Claim {
    pub(crate) owner: MacAddr,
    pub(crate) epoch: u16,
    pub(crate) nonce: u64,
    pub(crate) lease: Duration,
    pub(crate) expires: Instant,
    /// The lease has run out, and goes on only until the card has read what had come by then.
    is_overtime: bool,
    /// Group id for Go frames, 0: none.
    pub(crate) group: u16,
    /// Most payload bytes of a frame that reach the owner.
    pub(crate) bulk: u16,
}

/// What becomes of a request for the card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Granted, in a new epoch; the present claim, if there is one, is taken over.
    New(Scrub),
    /// Granted already.
    Again,
    /// Its answer comes when memory is zeroed.
    Waits,
    /// Refused: the code, the holder and the detail.
    No(ErrorCode, MacAddr, u64),
}

/// The session block.
#[derive(Debug)]
pub(crate) struct Session {
    claim: Option<Claim>,
    /// The newest epoch granted, or the random number before the first.
    newest: u16,
    /// Marks of claims that have ended.
    spent: Spent<u32, CLAIMS_SPENT>,
    /// The last release that was carried out, whose answer may have been lost: owner, epoch, scrub.
    released: Option<(MacAddr, u16, Scrub)>,
    /// While memory is zeroed, who gets the card then: the newest copy of its claim.
    next: Option<(Head, wire::Claim)>,
    /// While memory is zeroed, who then hears that it was released: the newest copy of its release.
    leaver: Option<Head>,
}

impl Session {
    pub(crate) fn new(shell: &mut Shell) -> Self {
        // Random: frames of the card's last boot that are still under way have another epoch, most likely.
        let newest = shell.rng.below(1 << 16) as u16;
        Self { claim: None, newest, spent: Spent::new(), released: None, next: None, leaver: None }
    }

    pub(crate) const fn claim(&self) -> Option<&Claim> {
        self.claim.as_ref()
    }

    /// Whether a frame's source and epoch are the present claim's.
    pub(crate) fn holds(&self, head: &Head) -> bool {
        self.claim.is_some_and(|c| c.owner == head.src && c.epoch == head.epoch)
    }

    /// A release was carried out.
    pub(crate) const fn released(&mut self, head: &Head, scrub: Scrub) {
        self.released = Some((head.src, head.epoch, scrub));
    }

    /// Whether this very release was carried out.
    pub(crate) fn was_released(&self, head: &Head, scrub: Scrub) -> bool {
        self.released == Some((head.src, head.epoch, scrub))
    }

    /// Who asks for the card gets it when memory is zeroed. With another nonce than before it has started again, and
    /// the older one can no longer claim the card.
    pub(crate) fn wait(&mut self, asked: &Head, body: &wire::Claim) {
        let next = self.next.replace((*asked, *body));
        if let Some((head, former)) = next.filter(|(_, former)| former.nonce != body.nonce) {
            self.spent.insert(mark(head.src, former.nonce.get()));
        }
    }

    /// Who gives the card back is answered when memory is zeroed.
    pub(crate) const fn leave(&mut self, asked: &Head) {
        self.leaver = Some(*asked);
    }

    /// Whether this very release waits for its answer.
    pub(crate) fn leaves(&self, asked: &Head) -> bool {
        self.leaver.is_some_and(|l| (l.src, l.epoch) == (asked.src, asked.epoch))
    }

    /// Memory is zeroed: who waits to be told that the card was released.
    pub(crate) const fn take_leaver(&mut self) -> Option<Head> {
        self.leaver.take()
    }

    /// Memory is zeroed, or need not be: who waits for the card.
    pub(crate) const fn take_next(&mut self) -> Option<(Head, wire::Claim)> {
        self.next.take()
    }

    /// Whether anybody waits for memory to be zeroed.
    pub(crate) const fn is_awaited(&self) -> bool {
        self.next.is_some() || self.leaver.is_some()
    }

    pub(crate) fn is_owner(&self, mac: MacAddr) -> bool {
        self.claim.is_some_and(|c| c.owner == mac)
    }

    /// The owner has been heard.
    pub(crate) fn renew(&mut self, now: Instant) {
        if let Some(claim) = &mut self.claim {
            claim.expires = now + claim.lease;
            claim.is_overtime = false;
        }
    }

    /// Whether the lease has run out. A card that is called later than that by [`LATE`] had no processor: what its
    /// owner sent in time may lie unread, behind the frame or the timeout of this call. So the lease goes on for
    /// [`OVERTIME`], once.
    pub(crate) fn is_over(&mut self, now: Instant) -> bool {
        let Some(claim) = self.claim.as_mut().filter(|c| c.expires <= now) else { return false };
        if claim.is_overtime || now - claim.expires <= LATE {
            return true;
        }
        claim.is_overtime = true;
        claim.expires = now + OVERTIME;
        false
    }

    /// What becomes of this request. The expired claim of another has been ended before.
    pub(crate) fn judge(&self, now: Instant, asked: &Head, body: &wire::Claim) -> Verdict {
        let bound = if body.lease_ms.get() < LEASE_MS_MIN { LEASE_MS_MIN } else { LEASE_MS_MAX };
        if !(LEASE_MS_MIN..=LEASE_MS_MAX).contains(&body.lease_ms.get()) {
            return Verdict::No(ErrorCode::BadRequest, MacAddr::ZERO, bound.into());
        }
        let Some(scrub) = Scrub::from_wire(body.scrub) else {
            return Verdict::No(ErrorCode::BadRequest, MacAddr::ZERO, u64::from(u8::from(Scrub::Zero)));
        };
        match (self.claim, &self.next) {
            (Some(c), _) if c.owner != asked.src => {
                let left = c.expires.saturating_since(now).as_nanos().div_ceil(1_000_000);
                Verdict::No(ErrorCode::Claimed, c.owner, u64::try_from(left).unwrap_or(u64::MAX))
            }
            (_, Some((head, next))) if head.src != asked.src => {
                Verdict::No(ErrorCode::Claimed, head.src, next.lease_ms.get().into())
            }
            (Some(c), _) if c.nonce == body.nonce.get() => Verdict::Again,
            (_, Some((_, next))) if next.nonce == body.nonce => Verdict::Waits,
            // A late copy of a claim that has ended would rob its host of the next one, or take the card for nobody.
            _ if self.spent.contains(mark(asked.src, body.nonce.get())) => {
                Verdict::No(ErrorCode::StaleEpoch, MacAddr::ZERO, 0)
            }
            _ => Verdict::New(scrub),
        }
    }

    /// Grants the card. The former claim has been ended. `most`: most payload bytes of a frame that the card sends.
    pub(crate) fn grant(&mut self, now: Instant, asked: &Head, body: &wire::Claim, most: u16) -> Claim {
        assert!(self.claim.is_none());
        let lease = Duration::from_millis(body.lease_ms.get().into());
        self.newest = self.epoch_after(asked.epoch);
        let claim = Claim {
            owner: asked.src,
            epoch: self.newest,
            nonce: body.nonce.get(),
            lease,
            expires: now + lease,
            is_overtime: false,
            group: body.group.get(),
            bulk: most.min(if body.beats == 0 { BULK_STANDARD } else { u16::from(body.beats) * BEAT }),
        };
        self.claim = Some(claim);
        claim
    }

    /// Ends the claim, whose nonce can no longer claim the card.
    pub(crate) fn end(&mut self) -> Option<Claim> {
        let claim = self.claim.take()?;
        self.spent.insert(mark(claim.owner, claim.nonce));
        Some(claim)
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.claim.map(|c| c.expires)
    }

    pub(crate) fn check_invariants(&self) {
        if let Some(c) = self.claim {
            assert_ne!(c.epoch, 0);
            assert_eq!(c.epoch, self.newest);
            assert!(!c.owner.is_multicast());
        }
    }

    /// The next epoch, which is none that the host remembers: after a restart of the card, `theirs` may lie just ahead.
    fn epoch_after(&self, theirs: u16) -> u16 {
        let next = self.newest.wrapping_add(1);
        let next = if theirs != 0 && theirs.wrapping_sub(next) < EPOCH_NEAR { theirs.wrapping_add(1) } else { next };
        next.max(1)
    }
}

/// What is remembered of a claim that has ended, as gateware does it, whose processor has little memory. Another claim
/// has the same mark once in 2^32 times: it is then refused as a late copy, and its host asks with another nonce.
const fn mark(owner: MacAddr, nonce: u64) -> u32 {
    let [_, _, a, b, c, d] = owner.0;
    nonce as u32 ^ u32::from_be_bytes([a, b, c, d])
}

/// Claims that have ended, whose late copies get nobody the card any more.
const CLAIMS_SPENT: usize = 32;
/// Shortest lease: a few times the silence of a busy host.
const LEASE_MS_MIN: u32 = 100;
/// A card that is called later than this after the end of a lease had no processor: a free one serves a timer within a
/// fraction of a millisecond.
const LATE: Duration = Duration::from_millis(1);
/// Time in which such a card reads what has come: tens of thousands of frames, and a tenth of the shortest lease.
const OVERTIME: Duration = Duration::from_millis(10);
/// Epochs that a host may have held since a card it knows was restarted.
const EPOCH_NEAR: u16 = 256;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, Pace};

    #[test]
    fn epochs_skip_zero_and_what_the_host_remembers() {
        let config = Config::new(MacAddr([2, 0, 0, 0, 0, 1]), Pace::Virtual);
        let mut session = Session::new(&mut Shell::new(config));
        for (newest, theirs, next) in [
            (7, 0, 8),
            (7, 7, 8),
            (7, 8, 9),
            (7, 100, 101),
            (7, 1000, 8),
            (0xffff, 0, 1),
            (0xfffe, 0xffff, 1),
            (0xffff, 0, 1),
            (0xfffe, 3, 4),
        ] {
            session.newest = newest;
            assert_eq!(session.epoch_after(theirs), next, "after {newest}, theirs {theirs}");
        }
    }
}
