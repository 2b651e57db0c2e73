//! How copies are made, found out by trying: how many helpers, and whether past the caches.
//!
//! The first pieces that a program transfers are the trial: each way copies some of them, and the fastest one is kept.
//! So a trial costs no time of its own, and measures what matters: this program's memory on this machine.

use std::fmt;
use std::time::Duration;

use super::streaming::Store;

/// A way to copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Way {
    pub helpers: usize,
    pub store: Store,
}

/// The ways of one kind of copies, and how fast they were.
#[derive(Debug)]
pub struct Tuning {
    /// With the least time of each, in picoseconds a byte, and how often it was tried. More helpers come later.
    ways: Vec<(Way, u64, u32)>,
    /// What was found.
    best: Option<Way>,
}

/// How often each way is tried: the first time it meets pages that were never touched, and helpers that sleep.
const TRIES: u32 = 5;

/// Each further helper takes a processor from others; it must save this part of the time.
const WORTHWHILE: f64 = 0.9;

impl Tuning {
    /// `helpers`, in ascending order, with each of `stores`.
    pub fn new(helpers: &[usize], stores: &[Store]) -> Self {
        let ways = helpers.iter().flat_map(|&helpers| stores.iter().map(move |&store| Way { helpers, store }));
        let ways: Vec<_> = ways.map(|way| (way, u64::MAX, 0)).collect();
        let best = if let [(only, ..)] = ways[..] { Some(only) } else { None };
        Self { ways, best }
    }

    /// The way for the next copy.
    pub fn next(&self) -> Way {
        let least_tried = || self.ways.iter().min_by_key(|(.., tries)| *tries).map(|(way, ..)| *way);
        self.best.or_else(least_tried).unwrap_or(Way { helpers: 0, store: Store::Cached })
    }

    /// Whether the trial is over.
    pub const fn is_over(&self) -> bool {
        self.best.is_some()
    }

    /// A copy of `len` bytes took `time`.
    pub fn took(&mut self, way: Way, len: usize, time: Duration) {
        let Some((_, least, tries)) = self.ways.iter_mut().find(|(one, ..)| *one == way) else { return };
        let ps = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).saturating_mul(1000) / (len as u64).max(1);
        (*least, *tries) = ((*least).min(ps), *tries + 1);
        if self.best.is_none() && self.ways.iter().all(|(.., tries)| *tries >= TRIES) {
            self.best = self.choose();
        }
    }

    /// The fastest, but for those that need more helpers to be only a little faster.
    fn choose(&self) -> Option<Way> {
        let mut ways = self.ways.iter();
        let (mut best, mut least, _) = ways.next().copied()?;
        for &(way, ps, _) in ways {
            let enough = if way.helpers > best.helpers { (least as f64 * WORTHWHILE) as u64 } else { least };
            if ps < enough {
                (best, least) = (way, ps);
            }
        }
        Some(best)
    }
}

impl fmt::Display for Tuning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Way { helpers, store } = self.next();
        write!(f, "{helpers} helpers, {store:?} (GB/s:")?;
        for (Way { helpers, store }, ps, _) in self.ways.iter().filter(|(_, ps, _)| *ps < u64::MAX) {
            write!(f, " {helpers} {store:?} {:.1}", 1000.0 / *ps as f64)?;
        }
        write!(f, ")")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [Store; 2] = [Store::Cached, Store::Streaming];

    /// Tries all ways, which take so many nanoseconds a KiB; what is chosen.
    fn chosen(helpers: &[usize], time: impl Fn(Way) -> u64) -> Way {
        let mut tuning = Tuning::new(helpers, &BOTH);
        while !tuning.is_over() {
            let way = tuning.next();
            tuning.took(way, 1024, Duration::from_nanos(time(way)));
        }
        tuning.next()
    }

    #[test]
    fn the_fastest_way_is_kept() {
        let streams = |way: Way| way.store == Store::Streaming;
        let time = |way: Way| 100 / (way.helpers as u64 + 1) + if streams(way) { 0 } else { 10 };
        assert_eq!(chosen(&[0, 1, 3], time), Way { helpers: 3, store: Store::Streaming });
        let time = |way: Way| 100 + if streams(way) { 10 } else { 0 };
        assert_eq!(chosen(&[0, 1, 3], time), Way { helpers: 0, store: Store::Cached });
        // What hardly helps is left to others.
        let time = |way: Way| 100 - 3 * way.helpers as u64;
        assert_eq!(chosen(&[0, 1, 3], time).helpers, 0);
    }

    #[test]
    fn one_slow_try_decides_nothing() {
        let mut tuning = Tuning::new(&[0, 1], &[Store::Cached]);
        let (alone, helped) = (tuning.ways[0].0, tuning.ways[1].0);
        for _ in 0..TRIES {
            tuning.took(alone, 1024, Duration::from_nanos(100));
        }
        for time in [9000, 50, 800, 800, 800] {
            assert!(!tuning.is_over() && tuning.next() == helped);
            tuning.took(helped, 1024, Duration::from_nanos(time));
        }
        assert_eq!(tuning.next(), helped);
    }

    #[test]
    fn a_single_way_needs_no_trial() {
        let tuning = Tuning::new(&[2], &[Store::Streaming]);
        assert!(tuning.is_over());
        assert_eq!(tuning.next(), Way { helpers: 2, store: Store::Streaming });
    }
}
