//! The functions of a host behind a card as C sees them: the rules are those of [`abi`](crate::abi).
#![allow(unsafe_code)]
#![allow(clippy::missing_safety_doc)] // It is the same for all, there.

use crate::abi::answer;
use crate::buffers::{bytes, give, put, slot, take_back, value};
use crate::nic::side;

pub use crate::nic::{Nic, NicCounts};

/// Creates the path of a card with this address to a host with that one, which [`rl_golden_nic_free`] takes back.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_nic_new(card: u64, host: u64, to: *mut *mut Nic) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for the pointer.
        unsafe { give(Nic::new(card, host)?, to)? };
        Ok(0)
    })
}

/// Frees a path; a null pointer is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_nic_free(nic: *mut Nic) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches that it is one, and gives it up.
        unsafe { take_back(nic) };
        Ok(0)
    })
}

/// A frame has come in, its check sequence being right: `at` 0 at the wire, 1 from the host. 1 if it was the host's or
/// pretended to be, 0 if it is the card's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_nic_handle(nic: *mut Nic, at: u8, data: *const u8, len: usize) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for the path and the buffer.
        unsafe { Ok(slot(nic)?.handle(side(at)?, bytes(data, len)?).into()) }
    })
}

/// The next frame that leaves at the wire or to the host, where orders come first; no bytes if there is none. One that
/// does not fit in `room` is lost.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_nic_poll(nic: *mut Nic, now_ns: u64, at: u8, out: *mut u8, room: usize) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for the path and the buffer.
        unsafe { put(&slot(nic)?.poll(now_ns, side(at)?).unwrap_or_default(), out, room) }
    })
}

/// What it has counted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_nic_counts(nic: *const Nic, to: *mut NicCounts) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for the path and the struct.
        let (nic, to) = unsafe { (value(nic)?, slot(to)?) };
        *to = nic.counts();
        Ok(0)
    })
}
