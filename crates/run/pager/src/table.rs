//! What is known of each page.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A page that was written to since it was written back.
#[derive(Debug)]
struct Page {
    /// As the source has it.
    was: Vec<u8>,
    /// Whether it may have been written to since the last look; a page that has not is protected.
    is_open: bool,
}

/// Pages by their offsets. Those that are not here are absent, poisoned, or as the source has them.
#[derive(Debug, Default)]
pub(crate) struct Table {
    changed: BTreeMap<usize, Page>,
    /// Those with contents. Only these may be looked at: with any other, whoever serves faults waits for itself.
    present: BTreeSet<usize>,
    /// Raised when pages are dropped: what was fetched before is older than that.
    pub(crate) generation: u64,
}

/// A page as it was at a look.
#[derive(Debug)]
pub(crate) struct Look {
    pub(crate) offset: usize,
    pub(crate) was: Vec<u8>,
    pub(crate) is: Vec<u8>,
}

impl Table {
    /// The page has contents from now on.
    pub(crate) fn give(&mut self, offset: usize) {
        self.present.insert(offset);
    }

    /// The pages of a range have none any longer.
    pub(crate) fn forget(&mut self, range: &Range<usize>) {
        let mut behind = self.present.split_off(&range.start);
        self.present.append(&mut behind.split_off(&range.end));
    }

    /// Whether the page has contents.
    pub(crate) fn is_present(&self, offset: usize) -> bool {
        self.present.contains(&offset)
    }

    /// The page may be written to from now on; `was` gives its contents before, and is asked only if they are not
    /// known.
    pub(crate) fn open(&mut self, offset: usize, was: impl FnOnce() -> Vec<u8>) {
        let page = self.changed.entry(offset).or_insert_with(|| Page { was: was(), is_open: true });
        page.is_open = true;
    }

    /// Pages that may have changed.
    pub(crate) fn opened(&self) -> Vec<usize> {
        self.changed.iter().filter(|(_, page)| page.is_open).map(|(&offset, _)| offset).collect()
    }

    /// A page was protected; `is` are its contents.
    pub(crate) fn look(&mut self, offset: usize, is: Vec<u8>) -> Look {
        let page = self.changed.get_mut(&offset).expect("only pages that may have changed are looked at");
        page.is_open = false;
        Look { offset, was: page.was.clone(), is }
    }

    /// What was seen at a look has been written back, or has not.
    pub(crate) fn settle(&mut self, look: Look, is_written: bool) {
        let Some(page) = self.changed.get_mut(&look.offset) else { return };
        match (is_written, page.is_open) {
            (true, false) => _ = self.changed.remove(&look.offset),
            // It has been written to meanwhile.
            (true, true) => page.was = look.is,
            // It is looked at again, though it is protected.
            (false, _) => page.is_open = true,
        }
    }

    /// The ranges between pages that hold changes, up to `end`.
    pub(crate) fn unchanged(&self, page: usize, end: usize) -> Vec<Range<usize>> {
        let mut ranges = Vec::new();
        let mut from = 0;
        for &offset in self.changed.keys().chain([&end]) {
            if from < offset {
                ranges.push(from..offset);
            }
            from = offset + page;
        }
        ranges
    }
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init)] // Lists of one range are what is meant.
mod tests {
    use super::*;

    #[test]
    fn a_page_is_settled_when_what_it_holds_is_written_and_not_before() {
        let mut table = Table::default();
        table.open(4096, || vec![1]);
        table.open(4096, || unreachable!("its contents are known"));
        assert_eq!(table.opened(), [4096]);
        let look = table.look(4096, vec![2]);
        assert!(table.opened().is_empty());
        table.settle(look, false);
        assert_eq!(table.opened(), [4096], "what was not written is looked at again");
        let look = table.look(4096, vec![3]);
        assert_eq!(look.was, [1]);
        // Written to while it is being written back.
        table.open(4096, || unreachable!());
        table.settle(look, true);
        let look = table.look(4096, vec![4]);
        assert_eq!(look.was, [3]);
        table.settle(look, true);
        assert_eq!(table.unchanged(4096, 8192), [0..8192]);
    }

    #[test]
    fn pages_that_were_given_are_present_until_they_are_forgotten() {
        let mut table = Table::default();
        (0..5).for_each(|page| table.give(page * 10));
        table.forget(&(10..30));
        assert_eq!(
            [0, 10, 20, 30, 40, 50].map(|offset| table.is_present(offset)),
            [true, false, false, true, true, false]
        );
        table.forget(&(0..50));
        assert!(!table.is_present(0) && !table.is_present(40));
    }

    #[test]
    fn pages_with_changes_are_left_out_of_what_may_be_dropped() {
        let mut table = Table::default();
        assert_eq!(table.unchanged(10, 50), [0..50]);
        table.open(0, Vec::new);
        table.open(20, Vec::new);
        table.open(30, Vec::new);
        assert_eq!(table.unchanged(10, 50), [10..20, 40..50]);
        table.open(40, Vec::new);
        assert_eq!(table.unchanged(10, 50), [10..20]);
    }
}
