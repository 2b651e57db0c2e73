//! Locking.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex. A poisoned one means that this library panicked, which ends the process anyway.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
