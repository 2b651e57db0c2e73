//! Memory of the caller's: the only unsafe code of this library.
#![allow(unsafe_code)]

use crate::Fault;

/// The bytes at `data`; none if `len` is 0.
///
/// # Safety
/// `data` is null, or points to `len` bytes that nobody changes while the result is in use.
pub(crate) unsafe fn bytes<'a>(data: *const u8, len: usize) -> Result<&'a [u8], Fault> {
    // SAFETY: bytes have no alignment, and the caller vouches for the rest.
    unsafe { array(data, len) }
}

/// The items at `data`; none if `len` is 0.
///
/// # Safety
/// `data` is null, or points to `len` items that nobody changes while the result is in use.
pub(crate) unsafe fn array<'a, T>(data: *const T, len: usize) -> Result<&'a [T], Fault> {
    if len == 0 {
        return Ok(&[]);
    }
    let fits = len.checked_mul(size_of::<T>()).is_some_and(|size| isize::try_from(size).is_ok());
    if data.is_null() || !data.is_aligned() || !fits {
        return Err(Fault::Argument);
    }
    // SAFETY: it is neither null nor misaligned nor too long, and the caller vouches that the items are there.
    Ok(unsafe { std::slice::from_raw_parts(data, len) })
}

/// The value at `at`.
///
/// # Safety
/// `at` is null, or points to a value that nobody changes while the result is in use.
pub(crate) unsafe fn value<'a, T>(at: *const T) -> Result<&'a T, Fault> {
    // SAFETY: the caller vouches for the one item.
    let items = unsafe { array(at, 1)? };
    Ok(&items[0])
}

/// The value at `at`, to be changed.
///
/// # Safety
/// `at` is null, or points to a value that nobody else uses while the result is in use.
pub(crate) unsafe fn slot<'a, T>(at: *mut T) -> Result<&'a mut T, Fault> {
    if !at.is_aligned() {
        return Err(Fault::Argument);
    }
    // SAFETY: it is aligned, null is checked, and the caller vouches for the rest.
    unsafe { at.as_mut() }.ok_or(Fault::Argument)
}

/// Hands `value` over to the caller, in memory of its own, by way of the pointer at `to`.
///
/// # Safety
/// `to` is null, or points to a pointer that nobody else uses.
pub(crate) unsafe fn give<T>(value: T, to: *mut *mut T) -> Result<(), Fault> {
    // SAFETY: the caller vouches for the pointer.
    let place = unsafe { slot(to)? };
    *place = Box::into_raw(Box::new(value));
    Ok(())
}

/// Takes back what [`give`] has handed over, and drops it.
///
/// # Safety
/// `value` is null, or came from [`give`] and was not taken back yet; nobody uses it.
pub(crate) unsafe fn take_back<T>(value: *mut T) {
    if !value.is_null() {
        // SAFETY: the caller vouches that it came from a box, and is given up.
        drop(unsafe { Box::from_raw(value) });
    }
}

/// Copies `result` to the `room` bytes at `out` if it fits, and gives its length in any case: with too little room the
/// caller asks again.
///
/// # Safety
/// `out` is null, or points to `room` bytes that nobody else uses.
pub(crate) unsafe fn put(result: &[u8], out: *mut u8, room: usize) -> Result<usize, Fault> {
    if result.len() <= room {
        if out.is_null() {
            return Err(Fault::Argument);
        }
        // SAFETY: there is room for it, and `result` is ours, so the two do not overlap.
        unsafe { std::ptr::copy_nonoverlapping(result.as_ptr(), out, result.len()) };
    }
    Ok(result.len())
}
