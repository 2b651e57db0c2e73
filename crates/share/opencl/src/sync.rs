//! Locking.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks. A poisoned lock means a panic of ours, which ends the process anyway.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
