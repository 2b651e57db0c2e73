//! Bytes of an image that lies in chunks.

use bytes::Bytes;

/// Appends the bytes of `range` to `out`; all its chunks must be there.
pub(crate) fn gather(slots: &[Bytes], chunk: usize, range: core::ops::Range<usize>, out: &mut Vec<u8>) {
    let mut at = range.start;
    while at < range.end {
        let slot = &slots[at / chunk];
        let from = at % chunk;
        let to = slot.len().min(from + range.end - at);
        assert!(from < to, "chunk {} is not there", at / chunk);
        out.extend_from_slice(&slot[from..to]);
        at += to - from;
    }
}
