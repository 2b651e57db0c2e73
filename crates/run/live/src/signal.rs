//! A flag that one thread sleeps on and others raise.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::task::Wake;
use std::time::Instant;

use std::sync::Arc;

/// The waker of a thread that waits for an in-process port. A raise is kept until it is taken.
#[derive(Debug, Default)]
pub(crate) struct Signal {
    raised: AtomicBool,
    asleep: Mutex<()>,
    bell: Condvar,
}

impl Signal {
    /// Lowers the flag; true if it was up.
    pub(crate) fn take(&self) -> bool {
        // The plain load keeps the common case (flag down) from taking the cache line away from those who raise.
        self.raised.load(Ordering::Acquire) && self.raised.swap(false, Ordering::AcqRel)
    }

    /// Sleeps until the flag is up or the deadline has come; lowers the flag; true if it was up.
    pub(crate) fn wait(&self, deadline: Option<Instant>) -> bool {
        let mut guard = self.asleep.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if self.take() {
                return true;
            }
            guard = match deadline {
                None => self.bell.wait(guard).unwrap_or_else(PoisonError::into_inner),
                Some(at) => {
                    let left = at.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return false;
                    }
                    self.bell.wait_timeout(guard, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.raised.swap(true, Ordering::AcqRel) {
            // Between the sleeper's look at the flag and its sleep it holds the lock: passing through it loses no wake.
            drop(self.asleep.lock().unwrap_or_else(PoisonError::into_inner));
            self.bell.notify_one();
        }
    }
}
