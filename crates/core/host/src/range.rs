//! Ranges of a card's memory.

/// True when two address ranges share a byte.
pub(crate) const fn overlap(a: u64, a_len: u64, b: u64, b_len: u64) -> bool {
    a < b.saturating_add(b_len) && b < a.saturating_add(a_len)
}
