//! What comes of it: each operation under way, what its end means to the oracles, and which ends are wrong.

use rackloom_host::{DownReason, Event, OpError, Outcome};
use rackloom_wire::{ErrorCode, Scrub};

use super::Run;
use crate::cells::Count;
use crate::slots::{Since, Tag};
use crate::world::BAD_CARD;

/// An operation under way, and what it means to the oracles.
#[derive(Debug)]
pub(super) enum Doing {
    Claim { card: usize, boot: u32, scrub: Scrub },
    Release { card: usize, scrub: Option<Tag> },
    Load { digest: [u8; 32], all_or_none: bool },
    Write { card: usize, slot: usize, tag: Tag },
    Read { card: usize, boot: u32, slot: usize, since: Since },
    Cells { card: usize },
    Bump { card: usize, boot: u32, cell: u64, slot: Option<(usize, Since)> },
    Bad { code: ErrorCode },
    Ask,
    ClaimBad,
}

impl Run {
    pub(super) fn on_host(&mut self, host: usize, event: Event) -> Result<(), String> {
        if let Event::CardDown { card, reason: DownReason::Silent } = event {
            self.summary.silent += 1;
            return self.world.check_silence(host, card);
        }
        let Event::Completed { op, result } = event else { return Ok(()) };
        let doing =
            self.doing.remove(&(host, op)).ok_or_else(|| format!("{op:?} completed twice, or was never given"))?;
        if result.is_ok() {
            self.summary.done += 1;
        } else {
            self.summary.failed += 1;
        }
        if self.calm
            && let Err(why) = &result
        {
            self.allowed_when_calm(&doing, why)?;
        }
        // The host survives a card that acknowledges what was never sent, but a good one does not.
        if let Err(why @ OpError::OutOfStep { .. }) = &result
            && why.card() != BAD_CARD
        {
            return Err(why.to_string());
        }
        match doing {
            Doing::Claim { card, boot, scrub } => {
                if result.is_ok() && scrub == Scrub::Zero && self.oracles[card].boot == boot {
                    self.oracles[card].claimed_zero();
                }
            }
            Doing::Release { card, scrub } => {
                if let Some(tag) = scrub.filter(|_| result.is_ok()) {
                    self.oracles[card].released_zero(tag);
                }
            }
            Doing::Load { digest, all_or_none } => {
                let Ok(Outcome::Loaded(report)) = result else { return Ok(()) };
                let refused = |r: &Result<(), OpError>| matches!(r, Err(OpError::Load { .. }));
                if all_or_none && report.cards.values().any(refused) && report.cards.values().any(Result::is_ok) {
                    return Err(format!("a load for all or none reached some: {report:?}"));
                }
                for (mac, result) in report.cards.iter().filter(|(mac, _)| **mac != BAD_CARD) {
                    let oracle = self.oracles.iter().find(|o| o.mac == *mac).expect("our card");
                    match result {
                        Ok(()) => oracle.check_loaded(digest)?,
                        Err(OpError::AwaitsRestart { .. }) => oracle.check_written(&digest)?,
                        Err(OpError::Load { code: ErrorCode::ImageSignature, .. }) if !self.images.is_good(&digest) => {
                            self.summary.unsigned += 1;
                        }
                        Err(why @ OpError::Load { code: ErrorCode::ImageSignature, .. }) => {
                            return Err(format!("an image that is signed as asked was refused: {why}"));
                        }
                        Err(_) => {}
                    }
                }
            }
            Doing::Write { card, slot, tag } => match result {
                Ok(_) => self.oracles[card].slots[slot].done(tag),
                Err(OpError::NotClaimed { .. }) => self.oracles[card].slots[slot].never(tag),
                Err(_) => self.oracles[card].slots[slot].failed(tag),
            },
            Doing::Read { card, boot, slot, since } => {
                // What was read before a crash and arrives after it tells nothing any more.
                if let Ok(Outcome::Data(bytes)) = result
                    && self.oracles[card].boot == boot
                {
                    let mac = self.oracles[card].mac;
                    let zeroed = self.oracles[card].may_be_zeroed();
                    self.oracles[card].slots[slot]
                        .check(&bytes, zeroed, since)
                        .map_err(|e| format!("{mac} slot {slot}: {e}"))?;
                }
            }
            Doing::Cells { card } => {
                if let Ok(Outcome::Data(bytes)) = result {
                    let mac = self.oracles[card].mac;
                    let zeroed = self.oracles[card].may_be_zeroed();
                    self.oracles[card].cells.check(&bytes, zeroed).map_err(|e| format!("{mac}: {e}"))?;
                }
            }
            Doing::Bump { card, boot, cell, slot } => self.bumped((card, boot), cell, slot, &result)?,
            Doing::Bad { code } => match result {
                Ok(_) => return Err(format!("a kernel that must end with {} succeeded", code.name())),
                Err(OpError::Kernel { code: got, .. }) if got != code && got != ErrorCode::Cancelled => {
                    return Err(format!("a kernel ended with {} instead of {}", got.name(), code.name()));
                }
                Err(_) => {}
            },
            Doing::Ask | Doing::ClaimBad => {}
        }
        Ok(())
    }

    fn bumped(
        &mut self,
        (card, boot): (usize, u32),
        cell: u64,
        slot: Option<(usize, Since)>,
        result: &Result<Outcome, OpError>,
    ) -> Result<(), String> {
        if let Some((slot, _)) = slot {
            self.oracles[card].slots[slot].locks -= 1;
        }
        let oracle = &mut self.oracles[card];
        match result {
            Ok(Outcome::Launched(report)) => {
                self.summary.kernels += 1;
                if report.value != 1 {
                    return Err(format!("{}: cell {cell} was {} after its launch", oracle.mac, report.value));
                }
                if let Some((slot, since)) = slot.filter(|_| oracle.boot == boot) {
                    let zeroed = oracle.may_be_zeroed();
                    oracle.slots[slot]
                        .check(&report.output, zeroed, since)
                        .map_err(|e| format!("output of slot {slot}: {e}"))?;
                }
                // A crash since then has zeroed it.
                if oracle.boot == boot {
                    oracle.cells.set(cell, Count::Once);
                }
            }
            Ok(other) => return Err(format!("a launch gave {other:?}")),
            Err(OpError::NotClaimed { .. } | OpError::Refused { .. }) => oracle.cells.set(cell, Count::Never),
            Err(_) => {}
        }
        Ok(())
    }

    /// With faults gone and one host at work, only these may still fail.
    fn allowed_when_calm(&self, doing: &Doing, why: &OpError) -> Result<(), String> {
        let fine = match (doing, why) {
            // Another host's lease has to run out first.
            (Doing::Claim { .. }, OpError::Claimed { .. }) => true,
            (Doing::Bad { .. }, OpError::Kernel { .. }) => true,
            // An absurd card is not claimed.
            (Doing::ClaimBad, _) => true,
            _ => false,
        };
        if fine { Ok(()) } else { Err(format!("without faults, {doing:?} failed: {why}")) }
    }
}
