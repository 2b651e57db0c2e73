//! What faults do to the frames of one direction of a cable.

use rackloom_node::{Frame, Instant, Rng};

use crate::faults::Faults;
use crate::spells::{Span, SpellClock};
use crate::stats::{DropReason, LinkStats};

/// The faults of one direction with their state. Each direction has its own random numbers, so that traffic elsewhere
/// changes nothing here.
#[derive(Debug)]
pub(crate) struct Impair {
    faults: Faults,
    /// Whether a frame that gets through can be changed, copied or delayed.
    mangles: bool,
    rng: Rng,
    /// Gilbert-Elliott: in the bad state.
    bad: bool,
    outages: Option<SpellClock>,
    clogs: Option<SpellClock>,
}

/// A frame that arrives, and when, in nanoseconds.
pub(crate) type Arrival = (u64, Frame);

/// What became of a frame given to a pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It does not arrive.
    Dropped(DropReason),
    /// It arrives whole and alone, at this nanosecond.
    Arrives(u64),
    /// Faults were at it: what arrives was pushed.
    Impaired,
}

impl Impair {
    /// `seed` is this direction's own; `outage_seed` may be shared with the other direction.
    pub(crate) fn new(faults: Faults, now: Instant, seed: u64, outage_seed: u64) -> Self {
        faults.check();
        let mut rng = Rng::new(seed);
        let clog_seed = rng.next_u64();
        let Faults { flip, truncate, pad, duplicate, reorder, .. } = faults;
        Self {
            faults,
            mangles: [flip, truncate, pad, duplicate, reorder].iter().any(|p| *p > 0.0),
            rng,
            bad: false,
            outages: faults.outage.map(|o| SpellClock::new(o.spells, now, outage_seed)),
            clogs: faults.clog.map(|c| SpellClock::new(c, now, clog_seed)),
        }
    }

    /// The clog that holds the instant `at_ns`, when sending would begin.
    pub(crate) fn clog(&mut self, at_ns: u64) -> Option<(u64, u64)> {
        self.clogs.as_mut()?.at(at_ns)
    }

    /// Decides what becomes of a frame that would arrive at `at_ns`. Pushes what arrives if it is impaired.
    pub(crate) fn apply(
        &mut self,
        at_ns: u64,
        frame: &Frame,
        stats: &mut LinkStats,
        arrivals: &mut Vec<Arrival>,
    ) -> Fate {
        if self.outages.as_mut().is_some_and(|o| o.at(at_ns).is_some()) {
            return Fate::Dropped(DropReason::Outage);
        }
        if self.draw(self.faults.loss) | self.burst_loses() {
            return Fate::Dropped(DropReason::Lost);
        }
        if self.draw(self.faults.corrupt) {
            return Fate::Dropped(DropReason::Corrupt);
        }
        if !self.mangles {
            return Fate::Arrives(at_ns);
        }
        // Both copies come from the whole frame: each meets its own damage, or none.
        if self.draw(self.faults.duplicate) {
            let spread = self.faults.delay.map_or(DUPLICATE_SPREAD_NS, |d| nanos(d).max(1));
            let later = at_ns.saturating_add(1 + self.rng.below(spread));
            stats.duplicated += 1;
            let copy = self.damage(frame.clone(), stats);
            arrivals.push((later, copy));
        }
        let mut at_ns = at_ns;
        if self.draw(self.faults.reorder)
            && let Some(delay) = self.faults.delay
        {
            at_ns = at_ns.saturating_add(delay.draw(&mut self.rng));
            stats.delayed += 1;
        }
        let frame = self.damage(frame.clone(), stats);
        arrivals.push((at_ns, frame));
        Fate::Impaired
    }

    fn draw(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.rng.chance(probability)
    }

    /// Steps the Gilbert-Elliott chain by one frame, and says whether it loses this one.
    fn burst_loses(&mut self) -> bool {
        let Some(burst) = self.faults.burst else { return false };
        let turn = if self.bad { burst.leave } else { burst.enter };
        self.bad ^= self.rng.chance(turn);
        self.bad && self.rng.chance(burst.loss)
    }

    fn damage(&mut self, mut frame: Frame, stats: &mut LinkStats) -> Frame {
        if self.draw(self.faults.flip) && !frame.is_empty() {
            frame = self.flip_bits(&frame);
            stats.flipped += 1;
        }
        if self.draw(self.faults.truncate) && frame.len() > 1 {
            frame.truncate(1 + self.rng.below(frame.len() as u64 - 1) as usize);
            stats.truncated += 1;
        }
        if self.draw(self.faults.pad) {
            let mut longer = frame.to_vec();
            longer.extend((0..1 + self.rng.below(PAD_MAX)).map(|_| self.rng.next_u64() as u8));
            frame = longer.into();
            stats.padded += 1;
        }
        frame
    }

    /// Flips one to eight different bits.
    fn flip_bits(&mut self, frame: &Frame) -> Frame {
        let mut bytes = frame.to_vec();
        let bits = bytes.len() as u64 * 8;
        let mut flipped = [u64::MAX; FLIPS_MAX];
        let count = 1 + self.rng.below(FLIPS_MAX as u64) as usize;
        for i in 0..count {
            let bit = self.rng.below(bits);
            // A bit that is drawn twice stays flipped, so that a flipped frame always differs.
            if !flipped[..i].contains(&bit) {
                bytes[(bit / 8) as usize] ^= 1 << (bit % 8);
            }
            flipped[i] = bit;
        }
        bytes.into()
    }
}

fn nanos(span: Span) -> u64 {
    u64::try_from(span.max.as_nanos()).unwrap_or(u64::MAX)
}

/// A duplicate trails by at most this when the faults name no delay: about eight full frames at 10 Gb/s.
const DUPLICATE_SPREAD_NS: u64 = 10_000;

/// Most bytes appended to a padded frame: one beat.
const PAD_MAX: u64 = 64;

/// Most bits flipped in one frame. Three and fewer in a standard frame a real check sequence always shows; it costs the
/// nodes nothing to be tested with those too.
const FLIPS_MAX: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flipped_frame_differs_in_one_to_eight_bits() {
        let mut impair = Impair::new(Faults { flip: 1.0, ..Faults::NONE }, Instant::ZERO, 3, 4);
        let frame = Frame::from(vec![0u8; 4]);
        let mut seen = [false; 9];
        for _ in 0..2_000 {
            let ones: u32 = impair.flip_bits(&frame).iter().map(|b| b.count_ones()).sum();
            seen[ones as usize] = true;
        }
        assert_eq!(seen, [false, true, true, true, true, true, true, true, true]);
    }
}
