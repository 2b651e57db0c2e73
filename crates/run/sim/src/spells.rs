//! Spells: stretches of time that come and go at random, such as outages.

use core::fmt;
use core::time::Duration;

use rackloom_node::{Instant, Rng};

/// A range of durations, both ends included; a draw from it is uniform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Shortest.
    pub min: Duration,
    /// Longest, not below `min`.
    pub max: Duration,
}

impl Span {
    /// From `min` to `max`. Panics if `max` is below `min`.
    pub const fn new(min: Duration, max: Duration) -> Self {
        assert!(min.as_nanos() <= max.as_nanos(), "the longest duration is below the shortest");
        Self { min, max }
    }

    /// A duration from the range, in nanoseconds.
    pub(crate) fn draw(self, rng: &mut Rng) -> u64 {
        let (min, max) = (nanos(self.min), nanos(self.max));
        min.saturating_add(rng.below((max - min).saturating_add(1)))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}..{:?}", self.min, self.max)
    }
}

/// Stretches of time with pauses between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spells {
    /// Time from the end of one spell (at first: from when the faults are set) to the beginning of the next.
    pub pause: Span,
    /// Length of a spell.
    pub length: Span,
}

impl fmt::Display for Spells {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} after {}", self.length, self.pause)
    }
}

/// The spells of one place, drawn as time passes.
#[derive(Debug, Clone)]
pub(crate) struct SpellClock {
    spells: Spells,
    rng: Rng,
    from: u64,
    until: u64,
}

impl SpellClock {
    pub(crate) fn new(spells: Spells, start: Instant, seed: u64) -> Self {
        let mut clock = Self { spells, rng: Rng::new(seed), from: 0, until: start.as_nanos() };
        clock.next();
        clock
    }

    fn next(&mut self) {
        // At least a nanosecond each, so that time passes whatever the ranges are.
        self.from = self.until.saturating_add(self.spells.pause.draw(&mut self.rng).max(1));
        self.until = self.from.saturating_add(self.spells.length.draw(&mut self.rng).max(1));
    }

    /// The spell that holds the instant `at_ns`, as `[from, until)`. Spells that are over by the latest
    /// instant asked for are gone.
    pub(crate) fn at(&mut self, at_ns: u64) -> Option<(u64, u64)> {
        while at_ns >= self.until && self.until < u64::MAX {
            self.next();
        }
        (self.from <= at_ns).then_some((self.from, self.until))
    }
}

fn nanos(d: Duration) -> u64 {
    u64::try_from(d.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spells_keep_to_their_ranges() {
        let us = Duration::from_micros;
        let spells = Spells { pause: Span::new(us(10), us(20)), length: Span::new(us(1), us(3)) };
        let mut clock = SpellClock::new(spells, Instant::from_nanos(5_000), 7);
        let mut seen = Vec::new();
        for at in 0..1_000_000 {
            if let Some(spell) = clock.at(at)
                && seen.last() != Some(&spell)
            {
                assert_eq!(spell.0, at, "noticed at its first nanosecond");
                seen.push(spell);
            }
        }
        // 1 ms of 11 to 23 us each.
        assert!((43..=91).contains(&seen.len()), "{}", seen.len());
        assert!((15_000..=25_000).contains(&seen[0].0));
        for pair in seen.windows(2) {
            assert!((1_000..=3_000).contains(&(pair[0].1 - pair[0].0)));
            assert!((10_000..=20_000).contains(&(pair[1].0 - pair[0].1)));
        }
    }
}
