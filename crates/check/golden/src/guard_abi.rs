//! The functions of a card's guard as C sees them: the rules are those of [`abi`](crate::abi).
#![allow(unsafe_code)]
#![allow(clippy::missing_safety_doc)] // It is the same for all, there.

use rackloom_auth::KEY_BYTES;

use crate::abi::answer;
use crate::buffers::{bytes, give, put, slot, take_back, value};
use crate::judge::Card;

pub use crate::guard::{Claim, Guard, Guarded};

/// Creates the guard of a card with this key and boot number, which this host has a key for; [`rl_golden_guard_free`]
/// takes it back.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_guard_new(
    key: *const [u8; KEY_BYTES],
    host: u16,
    boot: u32,
    to: *mut *mut Guard,
) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for the key and the pointer.
        unsafe { give(Guard::new(value(key)?, host, boot), to)? };
        Ok(0)
    })
}

/// Frees a guard; a null pointer is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_guard_free(guard: *mut Guard) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches that it is one, and gives it up.
        unsafe { take_back(guard) };
        Ok(0)
    })
}

/// A claim of the card with this address is granted, and the one before has ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_guard_begin(guard: *mut Guard, card: u64, claim: *const Claim) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for the guard and the struct.
        unsafe { slot(guard)?.begin(card, value(claim)?)? };
        Ok(0)
    })
}

/// The claim has ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_guard_end(guard: *mut Guard) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for the guard.
        unsafe { slot(guard)?.end() };
        Ok(0)
    })
}

/// What becomes of these bytes on this card, their check sequence being right.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_guard_judge(
    guard: *mut Guard,
    card: *const Card,
    data: *const u8,
    len: usize,
    to: *mut Guarded,
) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for the guard, the structs and the buffer.
        unsafe { *slot(to)? = slot(guard)?.judge(value(card)?, bytes(data, len)?)? };
        Ok(0)
    })
}

/// A frame of the card's as it leaves.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_guard_seal(
    guard: *mut Guard,
    data: *const u8,
    len: usize,
    out: *mut u8,
    room: usize,
) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for the guard and both buffers.
        unsafe { put(&slot(guard)?.seal(bytes(data, len)?), out, room) }
    })
}
