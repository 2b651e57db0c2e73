//! Waiting on a word of shared memory, across processes.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustix::fs::Timespec;
use rustix::thread::futex;

/// Longest single sleep. A waker adds to the word and then wakes, and a hostile peer that shares the word could take the
/// addition back just before the sleep begins; so nobody sleeps longer than this without looking at its own state.
pub(crate) const SLEEP_MAX: Duration = Duration::from_secs(1);

/// Sleeps while `word` is `seen`, at most `timeout` and at most [`SLEEP_MAX`]. Wakes early without a reason, too.
pub(crate) fn wait(word: &AtomicU32, seen: u32, timeout: Option<Duration>) {
    let timeout = timeout.map_or(SLEEP_MAX, |t| t.min(SLEEP_MAX));
    let time = Timespec { tv_sec: timeout.as_secs() as i64, tv_nsec: i64::from(timeout.subsec_nanos()) };
    // Not private: the other side is another process. Every outcome means the same to the caller: look again.
    let _ = futex::wait(word, futex::Flags::empty(), seen, Some(&time));
}

/// Changes `word` and wakes all who sleep on it.
pub(crate) fn ring(word: &AtomicU32) {
    word.fetch_add(1, Ordering::Release);
    let _ = futex::wake(word, futex::Flags::empty(), i32::MAX as u32);
}
