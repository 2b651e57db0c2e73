//! Copies that go past the caches: for bytes that a device fetches next, or that are too many to stay there anyway.
#![allow(unsafe_code)]

/// How bytes are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Store {
    /// Through the caches.
    Cached,
    /// Past them (non-temporal stores), so that a line is not read before it is overwritten.
    Streaming,
}

/// Copies `len` bytes.
///
/// # Safety
/// `from` is good for reading so many bytes, `to` for writing, and they do not overlap.
pub unsafe fn copy(from: *const u8, to: *mut u8, len: usize, store: Store) {
    match store {
        // SAFETY: as the caller says.
        Store::Cached => unsafe { std::ptr::copy_nonoverlapping(from, to, len) },
        // SAFETY: as above.
        Store::Streaming => unsafe { stream(from, to, len) },
    }
}

/// Bytes of a cache's line: a line that is written whole is not read before.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// # Safety
/// As for [`copy`].
#[cfg(target_arch = "x86_64")]
unsafe fn stream(mut from: *const u8, mut to: *mut u8, mut len: usize) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};

    let head = to.align_offset(LINE).min(len);
    // SAFETY: the head, the lines and the rest are the range, in this order; lines are aligned as the stores ask.
    unsafe {
        std::ptr::copy_nonoverlapping(from, to, head);
        (from, to, len) = (from.add(head), to.add(head), len - head);
        while len >= LINE {
            let (source, target) = (from.cast::<__m128i>(), to.cast::<__m128i>());
            // Word by word: a loop over them is not unrolled in every build, and takes five times as long.
            let (a, b) = (_mm_loadu_si128(source), _mm_loadu_si128(source.add(1)));
            let (c, d) = (_mm_loadu_si128(source.add(2)), _mm_loadu_si128(source.add(3)));
            _mm_stream_si128(target, a);
            _mm_stream_si128(target.add(1), b);
            _mm_stream_si128(target.add(2), c);
            _mm_stream_si128(target.add(3), d);
            (from, to, len) = (from.add(LINE), to.add(LINE), len - LINE);
        }
        std::ptr::copy_nonoverlapping(from, to, len);
        // Whoever learns that the bytes are there must find them.
        _mm_sfence();
    }
}

/// # Safety
/// As for [`copy`].
#[cfg(not(target_arch = "x86_64"))]
unsafe fn stream(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: as the caller says.
    unsafe { std::ptr::copy_nonoverlapping(from, to, len) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_any_length_arrive_at_any_place_and_no_others() {
        let from: Vec<u8> = (0..1000_u32).map(|i| (i * 7 % 251) as u8).collect();
        for store in [Store::Cached, Store::Streaming] {
            for (start, end) in [(0, 0), (0, 1), (3, 66), (64, 128), (1, 999), (17, 600), (63, 64)] {
                for shift in [0, 1, 31, 63] {
                    let mut to = vec![0xEE; 1200];
                    // SAFETY: within both, which are apart.
                    unsafe { copy(from[start..].as_ptr(), to[shift..].as_mut_ptr(), end - start, store) };
                    assert_eq!(to[shift..shift + end - start], from[start..end], "{store:?} {start} {end} {shift}");
                    assert!(to[..shift].iter().chain(&to[shift + end - start..]).all(|byte| *byte == 0xEE));
                }
            }
        }
    }
}
