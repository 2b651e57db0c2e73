//! Missing-range reports.

use alloc::vec::Vec;

use zerocopy::byteorder::network_endian::{U16, U32, U64};
use zerocopy::{FromBytes, IntoBytes};

use crate::{ChunkRange, MISSING_RANGES, Missing};

/// The payload of one report: `missing` chunks lacking in all, these ranges `(first, chunks)`, `more` frames to follow.
///
/// # Panics
/// If there are more than [`MISSING_RANGES`] ranges.
pub fn missing_report(missing: u32, ranges: &[(u32, u32)], more: u16) -> Vec<u8> {
    assert!(ranges.len() <= MISSING_RANGES as usize);
    let count = u16::try_from(ranges.len()).expect("at most 182");
    let head =
        Missing { missing: U32::new(missing), ranges: U16::new(count), more: U16::new(more), reserved: U64::ZERO };
    let mut out = Vec::with_capacity(16 + 8 * ranges.len());
    out.extend_from_slice(head.as_bytes());
    for (first, chunks) in ranges {
        out.extend_from_slice(ChunkRange { first: U32::new(*first), chunks: U32::new(*chunks) }.as_bytes());
    }
    out
}

/// Takes a report apart: its head and its ranges `(first, chunks)`; `None` if it is malformed: too short, too many
/// ranges, or a range that is empty or passes 2^32.
pub fn parse_missing(payload: &[u8]) -> Option<(&Missing, impl Iterator<Item = (u32, u32)>)> {
    let (head, rest) = Missing::ref_from_prefix(payload).ok()?;
    if u32::from(head.ranges.get()) > MISSING_RANGES {
        return None;
    }
    let ranges = rest.get(..size_of::<ChunkRange>() * usize::from(head.ranges.get()))?;
    let ranges = <[ChunkRange]>::ref_from_bytes(ranges).ok()?;
    let sound = |r: &ChunkRange| r.chunks.get() > 0 && r.first.get().checked_add(r.chunks.get()).is_some();
    ranges.iter().all(sound).then(|| (head, ranges.iter().map(|r| (r.first.get(), r.chunks.get()))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes_and_refuses_nonsense() {
        let ranges = [(0, 3), (7, 1), (u32::MAX - 1, 1)];
        let bytes = missing_report(5, &ranges, 2);
        let (head, got) = parse_missing(&bytes).unwrap();
        assert_eq!((head.missing.get(), head.more.get()), (5, 2));
        assert!(got.eq(ranges));
        assert!(parse_missing(&bytes[..39]).is_none());
        assert!(parse_missing(&missing_report(1, &[(4, 0)], 0)).is_none());
        assert!(parse_missing(&missing_report(1, &[(u32::MAX, 1)], 0)).is_none());
    }
}
