//! Counters of messages and bytes, printed at exit with `RACKLOOM_LOG`: they show that no byte is copied twice.
#![allow(unsafe_code)]

use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

/// A count that any thread adds to.
pub struct Count(AtomicU64);

impl Count {
    const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Adds `n`.
    pub fn add(&self, n: usize) {
        self.0.fetch_add(n as u64, Ordering::Relaxed);
    }

    /// Its value.
    pub fn now(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Messages sent to managers.
pub static MESSAGES: Count = Count::new();
/// Operations among them.
pub static OPERATIONS: Count = Count::new();
/// Bytes that went inside messages, both ways.
pub static INLINE_BYTES: Count = Count::new();
/// Bytes that went, or came, as bulk.
pub static BULK_BYTES: Count = Count::new();
/// Bytes of bulk that this library copied between the program's memory and bulk memory.
pub static COPIED_BYTES: Count = Count::new();
/// Nanoseconds of it, where helpers took part.
pub static COPYING_NS: Count = Count::new();
/// Commands that were held back.
pub static HELD: Count = Count::new();
/// Blocking writes that returned before their board had the bytes.
pub static EARLY: Count = Count::new();

/// Prints the counts when the process ends, if logging is on.
pub fn print_at_exit() {
    static ONCE: Once = Once::new();
    extern "C" fn print() {
        eprintln!(
            "rackloom-opencl: {} messages, {} operations ({} held, {} early), {} bytes inline, {} bytes bulk, {} bytes copied ({} ms with helpers)",
            MESSAGES.now(),
            OPERATIONS.now(),
            HELD.now(),
            EARLY.now(),
            INLINE_BYTES.now(),
            BULK_BYTES.now(),
            COPIED_BYTES.now(),
            COPYING_NS.now() / 1_000_000
        );
    }
    if crate::config::logs() {
        // SAFETY: the function only reads counters and writes to standard error.
        ONCE.call_once(|| unsafe { _ = libc::atexit(print) });
    }
}
