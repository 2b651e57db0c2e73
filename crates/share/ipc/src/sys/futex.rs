//! Waiting on a word of shared memory, across processes.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustix::fs::Timespec;
use rustix::thread::futex;

/// Sleeps while `word` is `seen`, at most `timeout`; spurious wake-ups are possible. On a virtual machine a timeout
/// costs a microsecond, for its timer.
pub(crate) fn wait(word: &AtomicU32, seen: u32, timeout: Option<Duration>) {
    let time = timeout.map(|t| Timespec { tv_sec: t.as_secs() as i64, tv_nsec: i64::from(t.subsec_nanos()) });
    // Not private: the other side is another process. Every outcome means the same to the caller: check again.
    let _ = futex::wait(word, futex::Flags::empty(), seen, time.as_ref());
}

/// Changes `word` and wakes all threads that sleep on it.
pub(crate) fn wake_all(word: &AtomicU32) {
    word.fetch_add(1, Ordering::Release);
    let _ = futex::wake(word, futex::Flags::empty(), i32::MAX as u32);
}
