//! Locks and waits that ignore poisoning.
//!
//! What our locks guard is valid between any two statements, and code of others that may panic is called without a
//! lock held or with nothing half done. So a thread that panics under a lock leaves the data valid, and the other
//! threads go on.
#![forbid(unsafe_code)]

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

/// Locks a mutex.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks for reading.
pub fn read<T: ?Sized>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

/// Locks for writing.
pub fn write<T: ?Sized>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

/// Takes what a mutex guards out of it.
pub fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for a notification. It may return without one, as condition variables may.
pub fn wait<'a, T>(changed: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    changed.wait(guard).unwrap_or_else(PoisonError::into_inner)
}

/// As [`wait`], for at most `time`.
pub fn wait_for<'a, T>(changed: &Condvar, guard: MutexGuard<'a, T>, time: Duration) -> MutexGuard<'a, T> {
    changed.wait_timeout(guard, time).unwrap_or_else(PoisonError::into_inner).0
}

/// As [`wait`], until a deadline; `None` waits without one.
///
/// # Errors
/// The deadline has passed already; the lock is still held.
pub fn wait_until<'a, T>(
    changed: &Condvar,
    guard: MutexGuard<'a, T>,
    deadline: Option<Instant>,
) -> Result<MutexGuard<'a, T>, MutexGuard<'a, T>> {
    let Some(at) = deadline else { return Ok(wait(changed, guard)) };
    let left = at.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(guard) } else { Ok(wait_for(changed, guard, left)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_under_the_lock_leaves_the_data_to_others() {
        let shared = Mutex::new(1);
        let panicked = std::thread::scope(|scope| {
            let holder = scope.spawn(|| {
                let mut held = lock(&shared);
                *held = 2;
                panic!("on purpose");
            });
            holder.join().is_err()
        });
        assert!(panicked && shared.is_poisoned());
        assert_eq!(*lock(&shared), 2);
        let guard = wait_for(&Condvar::new(), lock(&shared), Duration::from_millis(1));
        assert!(wait_until(&Condvar::new(), guard, Some(Instant::now())).is_err());
        assert_eq!(into_inner(shared), 2);
    }
}
