//! Sixty-four-bit counters of everything that happens, drops included.

use rackloom_wire::{Counter, U64};

/// A card's counters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counters([u64; Counter::COUNT]);

impl Counters {
    pub(crate) const fn new() -> Self {
        Self([0; Counter::COUNT])
    }

    /// The value of one.
    pub const fn get(&self, counter: Counter) -> u64 {
        self.0[counter as usize]
    }

    /// Frames received and dropped, for whatever reason.
    pub fn drops(&self) -> u64 {
        DROPS.iter().map(|&c| self.get(c)).sum()
    }

    pub(crate) const fn add(&mut self, counter: Counter, n: u64) {
        // They wrap after 2^64, as registers do.
        self.0[counter as usize] = self.0[counter as usize].wrapping_add(n);
    }

    pub(crate) const fn inc(&mut self, counter: Counter) {
        self.add(counter, 1);
    }

    /// Counts a frame at the given counters: itself, its bytes, and the words it takes on a 64-bit datapath.
    pub(crate) const fn frame(&mut self, [frames, bytes, words]: [Counter; 3], length: usize) {
        self.inc(frames);
        self.add(bytes, length as u64);
        self.add(words, length.div_ceil(8) as u64);
    }

    /// The counters from number `first` on, as the wire has them.
    pub(crate) fn wire(&self, first: u64) -> Vec<U64> {
        let first = usize::try_from(first).unwrap_or(usize::MAX).min(Counter::COUNT);
        self.0[first..].iter().map(|&v| U64::new(v)).collect()
    }
}

/// The counters that count dropped frames.
pub(crate) const DROPS: [Counter; 19] = [
    Counter::DropForeign,
    Counter::DropTruncated,
    Counter::DropVersion,
    Counter::DropKind,
    Counter::DropAuth,
    Counter::DropEpoch,
    Counter::DropMalformed,
    Counter::DropDuplicate,
    Counter::DropWindow,
    Counter::DropQueue,
    Counter::DropCheck,
    Counter::BridgeDropForeign,
    Counter::BridgeDropMalformed,
    Counter::BridgeDropEpoch,
    Counter::BridgeDropDuplicate,
    Counter::AuthUntagged,
    Counter::AuthUnknown,
    Counter::AuthWrong,
    Counter::AuthReplay,
];
