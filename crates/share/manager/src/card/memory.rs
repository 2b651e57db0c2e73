//! The allocator of a card's memory: first fit, lowest address first.
//!
//! Pure state. Memory that was allocated once may hold bytes of its owner; the rest is as the card zeroed it.

use std::collections::BTreeMap;

/// Blocks begin and end at multiples of this: a beat of the card's memory.
pub(super) const ALIGN: u64 = 64;

/// The free parts of a range of addresses.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Memory {
    /// Address and length of each free part; no two touch.
    free: BTreeMap<u64, u64>,
    /// Nothing from this address on was ever allocated.
    clean_from: u64,
}

impl Memory {
    /// Memory from `first` up to, but not including, `end`; all zero if `is_clean`.
    pub(super) fn new(first: u64, end: u64, is_clean: bool) -> Self {
        let first = first.next_multiple_of(ALIGN);
        let len = (end / ALIGN * ALIGN).saturating_sub(first);
        let free = if len > 0 { [(first, len)].into() } else { BTreeMap::new() };
        Self { free, clean_from: if is_clean { first } else { u64::MAX } }
    }

    /// Allocates a block of this size, above 0: its address, and whether it is certainly zero.
    pub(super) fn take(&mut self, size: u64) -> Option<(u64, bool)> {
        let size = size.checked_next_multiple_of(ALIGN)?;
        let (&at, &len) = self.free.iter().find(|(_, len)| **len >= size)?;
        self.free.remove(&at);
        if len > size {
            self.free.insert(at + size, len - size);
        }
        let is_clean = at >= self.clean_from;
        self.clean_from = self.clean_from.max(at + size);
        Some((at, is_clean))
    }

    /// Frees a block that [`Self::take`] allocated for this size.
    pub(super) fn give(&mut self, mut at: u64, size: u64) {
        let mut len = size.next_multiple_of(ALIGN);
        let before = self.free.range(..at).next_back().map(|(a, l)| (*a, *l));
        let after = self.free.range(at..).next().map(|(a, l)| (*a, *l));
        assert!(
            before.is_none_or(|(a, l)| a + l <= at) && after.is_none_or(|(a, _)| at + len <= a),
            "a block is freed once"
        );
        if let Some((next, more)) = after.filter(|(next, _)| at + len == *next) {
            self.free.remove(&next);
            len += more;
        }
        if let Some((earlier, more)) = before.filter(|(a, l)| a + l == at) {
            at = earlier;
            len += more;
        }
        self.free.insert(at, len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_was_given_out_is_not_clean_any_more() {
        let mut memory = Memory::new(1 << 20, (1 << 20) + 1000, true);
        assert_eq!(memory.take(100), Some((1 << 20, true)));
        assert_eq!(memory.take(64), Some(((1 << 20) + 128, true)));
        memory.give(1 << 20, 100);
        assert_eq!(memory.take(1), Some((1 << 20, false)));
        assert_eq!(memory.take(900), None, "960 bytes are there in all");
        assert_eq!(memory.take(u64::MAX), None);
        assert_eq!(Memory::new(0, 640, false).take(64), Some((0, false)), "as the last host has left it");
    }

    proptest! {
        #[test]
        fn blocks_never_overlap_and_all_come_back(
            sizes in prop::collection::vec(1..5000u64, 1..60), seed in any::<u64>(),
        ) {
            let (first, end) = (1 << 20, (1 << 20) + 64 * 1024);
            let mut memory = Memory::new(first, end, true);
            let mut rng = rackloom_node::Rng::new(seed);
            let (mut held, mut used): (Vec<(u64, u64)>, u64) = (Vec::new(), first);
            for size in sizes {
                if let Some((at, clean)) = memory.take(size) {
                    prop_assert!(at.is_multiple_of(ALIGN) && at >= first && at + size <= end);
                    prop_assert!(held.iter().all(|(a, l)| at + size <= *a || a + l <= at));
                    prop_assert!(!clean || at >= used);
                    used = used.max(at + size);
                    held.push((at, size));
                }
                if !held.is_empty() && rng.below(2) == 0 {
                    let (at, size) = held.swap_remove(rng.below(held.len() as u64) as usize);
                    memory.give(at, size);
                }
            }
            held.into_iter().for_each(|(at, size)| memory.give(at, size));
            prop_assert_eq!(memory.free, BTreeMap::from([(first, end - first)]));
        }
    }
}
