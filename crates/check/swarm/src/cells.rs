//! How often each launch was executed: a cell of card memory for each, which its kernel adds 1 to.

use std::collections::BTreeMap;

/// Address of a cell.
pub(crate) const fn address(cell: u64) -> u64 {
    (2 << 20) + cell * 8
}

/// What a cell may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Count {
    /// The launch completed: exactly 1.
    Once,
    /// It failed, or its outcome is not known yet: 0 or 1.
    AtMostOnce,
    /// It was refused, or the memory was zeroed since: 0.
    Never,
}

/// The cells of a card.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    cells: BTreeMap<u64, Count>,
    next: u64,
}

impl Cells {
    /// A cell for a new launch.
    pub(crate) fn begin(&mut self) -> u64 {
        let cell = self.next;
        self.next += 1;
        self.cells.insert(cell, Count::AtMostOnce);
        cell
    }

    pub(crate) fn set(&mut self, cell: u64, count: Count) {
        self.cells.insert(cell, count);
    }

    /// The memory was zeroed. A launch under way may count before or after that.
    pub(crate) fn wipe(&mut self) {
        for count in self.cells.values_mut().filter(|c| **c == Count::Once) {
            *count = Count::Never;
        }
    }

    /// The memory may have been zeroed.
    pub(crate) fn may_wipe(&mut self) {
        for count in self.cells.values_mut().filter(|c| **c == Count::Once) {
            *count = Count::AtMostOnce;
        }
    }

    pub(crate) fn len(&self) -> u64 {
        self.next
    }

    /// Checks all cells against the card's memory from the first cell on; `zeroed`: it may have been zeroed since.
    pub(crate) fn check(&self, memory: &[u8], zeroed: bool) -> Result<(), String> {
        for (cell, count) in &self.cells {
            let at = *cell as usize * 8;
            let value = u64::from_le_bytes(memory[at..at + 8].try_into().expect("eight bytes"));
            let right = match count {
                Count::Once => value == 1 || (zeroed && value == 0),
                Count::AtMostOnce => value <= 1,
                Count::Never => value == 0,
            };
            if !right {
                return Err(format!("the launch of cell {cell} ran {value} times; {count:?} is allowed"));
            }
        }
        Ok(())
    }
}
