//! Locks and condition variables that ignore poisoning.
//!
//! Only a user's handler can panic, and no invariant of ours spans a call of one: a panic leaves valid state under a
//! lock, and the other threads continue.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Locks a mutex, poisoned or not.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for a notification, or until the deadline; spurious wake-ups are possible.
///
/// # Errors
/// The deadline has passed already; the lock is still held.
pub(crate) fn wait_until<'a, T>(
    condvar: &Condvar,
    guard: MutexGuard<'a, T>,
    deadline: Option<Instant>,
) -> Result<MutexGuard<'a, T>, MutexGuard<'a, T>> {
    let Some(at) = deadline else { return Ok(wait(condvar, guard)) };
    let left = at.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(guard);
    }
    Ok(condvar.wait_timeout(guard, left).unwrap_or_else(PoisonError::into_inner).0)
}

/// Waits for a notification; spurious wake-ups are possible.
pub(crate) fn wait<'a, T>(condvar: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    condvar.wait(guard).unwrap_or_else(PoisonError::into_inner)
}
