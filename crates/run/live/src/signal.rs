//! A flag that one thread sleeps on and others raise.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::task::Wake;
use std::time::Instant;

use rackloom_sync::{lock, wait_until};

/// The waker of a thread that waits for an in-process port. A raise is kept until it is taken.
#[derive(Debug, Default)]
pub(crate) struct Signal {
    raised: AtomicBool,
    /// Whether somebody sleeps.
    asleep: Mutex<bool>,
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
        let mut guard = lock(&self.asleep);
        loop {
            if self.take() {
                return true;
            }
            *guard = true;
            let woken = wait_until(&self.bell, guard, deadline);
            let is_late = woken.is_err();
            guard = woken.unwrap_or_else(|guard| guard);
            *guard = false;
            if is_late {
                return false;
            }
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
            if *lock(&self.asleep) {
                self.bell.notify_one();
            }
        }
    }
}
