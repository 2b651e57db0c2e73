//! Batches of writes in one frame of the bridge.

use alloc::vec::Vec;

use zerocopy::byteorder::network_endian::{U16, U64};
use zerocopy::{FromBytes, IntoBytes};

use crate::bridge::BatchRecord;

/// Adds a write of these bytes to a batch's payload.
///
/// # Panics
/// If there are no bytes, or more than 65,535.
pub fn put_record(payload: &mut Vec<u8>, addr: u64, bytes: &[u8]) {
    let length = u16::try_from(bytes.len()).ok().filter(|length| *length > 0).expect("1 to 65,535 bytes");
    let head = BatchRecord { addr: U64::new(addr), length: U16::new(length), reserved: [0; 6] };
    payload.extend_from_slice(head.as_bytes());
    payload.extend_from_slice(bytes);
    payload.resize(payload.len().next_multiple_of(8), 0);
}

/// The writes of a batch's payload, as addresses and bytes; `None` if it is malformed: no writes, a write without
/// bytes, one that passes 2^64 or the payload's end, or bytes behind the last.
pub fn parse_batch(payload: &[u8]) -> Option<impl Iterator<Item = (u64, &[u8])>> {
    let mut rest = payload;
    while !rest.is_empty() {
        let (addr, bytes, behind) = split(rest)?;
        addr.checked_add(bytes.len() as u64 - 1)?;
        rest = behind;
    }
    let mut rest = payload;
    let writes = core::iter::from_fn(move || {
        let (addr, bytes, behind) = split(rest)?;
        rest = behind;
        Some((addr, bytes))
    });
    (!payload.is_empty()).then_some(writes)
}

/// The first write, and what follows it; `None` if there is no whole one.
fn split(payload: &[u8]) -> Option<(u64, &[u8], &[u8])> {
    let (head, behind) = BatchRecord::ref_from_prefix(payload).ok()?;
    let length = usize::from(head.length.get());
    let (padded, behind) = behind.split_at_checked(length.next_multiple_of(8))?;
    (length > 0).then(|| (head.addr.get(), &padded[..length], behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes_and_refuses_nonsense() {
        let mut payload = Vec::new();
        let writes: [(u64, &[u8]); 3] = [(8, &[1, 2, 3]), (0, &[9; 16]), (u64::MAX, &[7])];
        for (addr, bytes) in writes {
            put_record(&mut payload, addr, bytes);
        }
        assert_eq!(payload.len(), 24 + 32 + 24);
        assert!(parse_batch(&payload).unwrap().eq(writes));
        for end in (0..payload.len()).filter(|end| ![24, 56].contains(end)) {
            assert!(parse_batch(&payload[..end]).is_none(), "{end}");
        }
        let with = |at: usize, value: u8| {
            let mut payload = payload.clone();
            payload[at] = value;
            parse_batch(&payload).map(Iterator::count)
        };
        assert_eq!(with(9, 0), None, "a write without bytes");
        assert_eq!(with(33, 17), None, "the next record is not where it says");
        assert_eq!(with(65, 2), None, "a write beyond the last address");
        assert_eq!(with(15, 1), Some(3), "reserved bytes and padding are not looked at");
        assert!(parse_batch(&[0; 16]).is_none());
    }
}
