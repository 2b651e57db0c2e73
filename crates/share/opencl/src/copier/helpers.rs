//! Threads that help a thread of the program to copy.
//!
//! A copy is cut into blocks, which whoever is there takes one after the other. So the caller waits for no helper that
//! has yet to wake up, or has no processor: it copies what nobody else has begun.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use rackloom_sync::{lock, wait};

use super::streaming::{Store, copy};
use crate::callback::spawn;

/// Bytes of a block: large beside the cost of taking one, small beside a copy that is worth helping with.
pub const BLOCK: usize = 64 << 10;

/// How long a helper that has nothing to do looks before it sleeps: longer than from one piece of a transfer to the
/// next.
const LOOKS: Duration = Duration::from_micros(150);

/// Threads, started when they are first wanted.
#[derive(Default)]
pub struct Helpers {
    state: Mutex<State>,
    more: Condvar,
    /// Copies begun so far, to be read without the lock.
    begun: AtomicU64,
    /// One copy at a time has helpers.
    busy: Mutex<()>,
}

#[derive(Default)]
struct State {
    copy: Option<Arc<Copy>>,
    /// Helpers that the present copy may still have.
    wanted: usize,
    threads: usize,
    sleeping: usize,
}

/// A copy under way.
struct Copy {
    from: *const u8,
    to: *mut u8,
    len: usize,
    store: Store,
    /// The next block that nobody has begun.
    next: AtomicUsize,
    /// Blocks that are done.
    done: AtomicUsize,
}

// SAFETY: blocks are disjoint, each is copied by one thread, and who began the copy waits until all are done.
unsafe impl Send for Copy {}
// SAFETY: as above.
unsafe impl Sync for Copy {}

impl Copy {
    const fn blocks(&self) -> usize {
        self.len.div_ceil(BLOCK)
    }

    /// Copies blocks until all are begun.
    fn help(&self) {
        loop {
            let block = self.next.fetch_add(1, Ordering::Relaxed);
            if block >= self.blocks() {
                return;
            }
            let at = block * BLOCK;
            // SAFETY: within the copy's ranges, which are good until it has ended.
            unsafe { copy(self.from.add(at), self.to.add(at), BLOCK.min(self.len - at), self.store) };
            self.done.fetch_add(1, Ordering::Release);
        }
    }
}

impl Helpers {
    /// Copies `len` bytes, with so many helpers at most. While they help another thread, the caller copies alone.
    ///
    /// # Safety
    /// As for [`copy`].
    pub unsafe fn copy(&'static self, from: *const u8, to: *mut u8, len: usize, store: Store, helpers: usize) {
        let _busy = match self.busy.try_lock() {
            Ok(busy) if helpers > 0 && len > BLOCK => busy,
            // SAFETY: as the caller says.
            _ => return unsafe { copy(from, to, len, store) },
        };
        let all = Arc::new(Copy { from, to, len, store, next: AtomicUsize::new(0), done: AtomicUsize::new(0) });
        self.begin(&all, helpers.min(all.blocks() - 1));
        all.help();
        let mut looks = 0_u32;
        while all.done.load(Ordering::Acquire) < all.blocks() {
            looks += 1;
            if looks.is_multiple_of(64) {
                // A helper that has lost its processor in the middle of a block needs one.
                std::thread::yield_now();
            }
            std::hint::spin_loop();
        }
    }

    fn begin(&'static self, copy: &Arc<Copy>, helpers: usize) {
        let mut state = lock(&self.state);
        while state.threads < helpers {
            if !spawn("rackloom-copy", || self.run()) {
                break; // The others do it.
            }
            state.threads += 1;
        }
        (state.copy, state.wanted) = (Some(Arc::clone(copy)), helpers);
        self.begun.fetch_add(1, Ordering::Release);
        let wakes = state.sleeping > 0;
        drop(state);
        if wakes {
            self.more.notify_all();
        }
    }

    /// A helper's life.
    fn run(&self) {
        let mut seen = 0;
        loop {
            let since = Instant::now();
            while self.begun.load(Ordering::Acquire) == seen && since.elapsed() < LOOKS {
                (0..32).for_each(|_| std::hint::spin_loop());
            }
            let mut state = lock(&self.state);
            while self.begun.load(Ordering::Acquire) == seen {
                state.sleeping += 1;
                state = wait(&self.more, state);
                state.sleeping -= 1;
            }
            seen = self.begun.load(Ordering::Acquire);
            if state.wanted == 0 {
                continue;
            }
            state.wanted -= 1;
            let copy = state.copy.clone();
            drop(state);
            copy.iter().for_each(|copy| copy.help());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_copied_once_with_any_number_of_helpers_and_callers() {
        static HELPERS: std::sync::LazyLock<Helpers> = std::sync::LazyLock::new(Helpers::default);
        std::thread::scope(|scope| {
            for caller in 0..3_usize {
                scope.spawn(move || {
                    for round in 0..60 {
                        let len = (caller * 131_071 + round * 40_009) % (BLOCK * 9);
                        let from: Vec<u8> = (0..len).map(|i| (i * 31 + round + caller) as u8).collect();
                        let mut to = vec![0; len];
                        let store = if round % 2 == 0 { Store::Cached } else { Store::Streaming };
                        // SAFETY: both live here, apart.
                        unsafe { HELPERS.copy(from.as_ptr(), to.as_mut_ptr(), len, store, round % 4) };
                        assert!(from == to, "caller {caller}, round {round}");
                    }
                });
            }
        });
        assert!(lock(&HELPERS.state).threads <= 3);
    }
}
