//! A page of memory that the manager shares with a worker: the state of the lease, and the worker's counters.
#![allow(unsafe_code)]

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

use rustix::fs::{MemfdFlags, SealFlags};
use rustix::mm::{MapFlags, ProtFlags};
use rustix::thread::futex;

use crate::metrics::latencies::{BUCKETS, Counts};

/// The state of a worker's lease of the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum LeaseState {
    /// The worker does not hold the board: it has to request it.
    NotHeld = 0,
    /// The worker holds the board and runs no task; the manager may take it back.
    Idle = 1,
    /// The worker holds the board and runs a task.
    Busy = 2,
    /// As `Busy`, and the worker returns the board after this task.
    LastTask = 3,
}

/// What a worker has counted since its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct WorkerCounters {
    /// Start of the running task, in nanoseconds of our clock; 0 if none runs.
    pub(super) began: u64,
    /// Board time of tasks that have ended, in nanoseconds.
    pub(super) busy: u64,
    /// Tasks that wait for the board.
    pub(super) depth: u64,
    pub(super) operations: u64,
    pub(super) failures: u64,
    pub(super) bytes_in: u64,
    pub(super) bytes_out: u64,
    pub(super) builds: u64,
    pub(super) cut: u64,
    /// Histograms of the time that tasks held the board, and of the time that they waited.
    pub(super) tasks: Counts,
    pub(super) waits: Counts,
}

/// The page, mapped here.
#[derive(Debug)]
pub(super) struct SharedPage {
    start: NonNull<AtomicU64>,
    file: OwnedFd,
}

// SAFETY: the map belongs to no thread, and only atomics are in it.
unsafe impl Send for SharedPage {}
// SAFETY: as above.
unsafe impl Sync for SharedPage {}

const BYTES: usize = 4096;

/// Words of the counters: nine numbers, and twice the buckets with a sum.
const WORDS: usize = 9 + 2 * (BUCKETS + 1);

/// First word of the counters: behind the lease's state and the version, in a cache line of its own.
const TALLY: usize = 8;

/// Attempts to read the counters, or to change the state, while the worker changes them.
const LOOKS: u32 = 100;

impl SharedPage {
    /// Makes a page: the board is not held, and nothing is counted.
    pub(super) fn create() -> std::io::Result<Self> {
        let file = rustix::fs::memfd_create("rackloom-worker", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        rustix::fs::ftruncate(&file, BYTES as u64)?;
        rustix::fs::fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        Self::open(file)
    }

    /// Maps a page that was received from the manager.
    pub(super) fn open(file: OwnedFd) -> std::io::Result<Self> {
        // SAFETY: a new map at an address of the kernel's choice touches nothing that exists; the file is sealed at
        // this size by whoever made it, which is the manager.
        let start = unsafe {
            rustix::mm::mmap(null_mut(), BYTES, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, &file, 0)
        }?;
        let start = NonNull::new(start.cast()).ok_or_else(|| std::io::Error::other("a map at address 0"))?;
        Ok(Self { start, file })
    }

    pub(super) fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    fn words(&self) -> &[AtomicU64] {
        // SAFETY: the map is as long and aligned, lives as long as `self`, and is used as atomics by both sides.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), BYTES / 8) }
    }

    fn hold(&self) -> &AtomicU32 {
        // SAFETY: the first half of the first word, which is used as nothing else.
        unsafe { self.start.cast::<AtomicU32>().as_ref() }
    }

    /// Whether the worker holds the board and runs no task.
    pub(super) fn is_idle(&self) -> bool {
        self.hold().load(Ordering::Acquire) == LeaseState::Idle as u32
    }

    /// Whether the worker runs a task, and may go on behind it.
    pub(super) fn is_busy(&self) -> bool {
        self.hold().load(Ordering::Acquire) == LeaseState::Busy as u32
    }

    /// Changes the state if it is `from`; returns whether it was.
    pub(super) fn change(&self, from: LeaseState, to: LeaseState) -> bool {
        self.hold().compare_exchange(from as u32, to as u32, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// For the manager: takes the board back from a worker that rests, or has it return the board after the task that
    /// it runs. Returns the state in which it was: [`LeaseState::Idle`] if the board is back. A worker may begin or end
    /// tasks meanwhile, so this looks again; one that changes its state faster than we can look, as only a hostile one
    /// does, is not told.
    pub(super) fn take_back(&self) -> Option<LeaseState> {
        for _ in 0..LOOKS {
            if self.change(LeaseState::Idle, LeaseState::NotHeld) {
                return Some(LeaseState::Idle);
            }
            if self.change(LeaseState::Busy, LeaseState::LastTask) {
                return Some(LeaseState::Busy);
            }
            let now = self.hold().load(Ordering::Acquire);
            if now != LeaseState::Idle as u32 && now != LeaseState::Busy as u32 {
                return None; // It has been told, or has returned the board.
            }
        }
        None
    }

    /// For the manager: grants the board and wakes the worker.
    pub(super) fn give(&self, hold: LeaseState) {
        self.hold().store(hold as u32, Ordering::Release);
        let _ = futex::wake(self.hold(), futex::Flags::empty(), i32::MAX as u32);
    }

    /// For the worker: sets the state without waking anybody.
    pub(super) fn set(&self, hold: LeaseState) {
        self.hold().store(hold as u32, Ordering::Release);
    }

    /// For the worker: waits until it holds the board.
    pub(super) fn wait(&self) {
        while self.hold().load(Ordering::Acquire) == LeaseState::NotHeld as u32 {
            let _ = futex::wait(self.hold(), futex::Flags::empty(), LeaseState::NotHeld as u32, None);
        }
    }

    /// For the worker: publishes its counters. One thread at a time.
    pub(super) fn publish(&self, counters: &WorkerCounters) {
        self.write(|cells| {
            cells.iter().zip(counters.words()).for_each(|(cell, word)| cell.store(word, Ordering::Relaxed));
        });
    }

    /// For the worker: publishes the start of a task, which changes no other counter. One thread at a time.
    pub(super) fn publish_began(&self, began: u64) {
        self.write(|cells| cells[0].store(began, Ordering::Relaxed));
    }

    fn write(&self, write: impl FnOnce(&[AtomicU64])) {
        let (changes, cells) = self.counters();
        let change = changes.load(Ordering::Relaxed);
        changes.store(change | 1, Ordering::Relaxed);
        fence(Ordering::Release);
        write(cells);
        changes.store((change | 1).wrapping_add(1), Ordering::Release);
    }

    /// The worker's counters; `None` if they keep changing, as only a hostile worker's do.
    pub(super) fn read(&self) -> Option<WorkerCounters> {
        let (changes, cells) = self.counters();
        for _ in 0..LOOKS {
            let before = changes.load(Ordering::Acquire);
            let words = std::array::from_fn(|i| cells[i].load(Ordering::Relaxed));
            fence(Ordering::Acquire);
            if before.is_multiple_of(2) && changes.load(Ordering::Relaxed) == before {
                return Some(WorkerCounters::from_words(&words));
            }
            std::hint::spin_loop();
        }
        None
    }

    fn counters(&self) -> (&AtomicU64, &[AtomicU64]) {
        let words = self.words();
        (&words[1], &words[TALLY..TALLY + WORDS])
    }
}

impl Drop for SharedPage {
    fn drop(&mut self) {
        // SAFETY: our map, and no reference into it is left.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), BYTES) };
    }
}

impl WorkerCounters {
    fn words(&self) -> impl Iterator<Item = u64> {
        let Self { began, busy, depth, operations, failures, bytes_in, bytes_out, builds, cut, tasks, waits } = *self;
        let numbers = [began, busy, depth, operations, failures, bytes_in, bytes_out, builds, cut];
        let histogram = |(counts, sum): Counts| counts.into_iter().chain([sum]);
        numbers.into_iter().chain(histogram(tasks)).chain(histogram(waits))
    }

    fn from_words(words: &[u64; WORDS]) -> Self {
        let [began, busy, depth, operations, failures, bytes_in, bytes_out, builds, cut, ..] = *words;
        let histogram = |at: usize| (std::array::from_fn(|bucket| words[at + bucket]), words[at + BUCKETS]);
        let (tasks, waits) = (histogram(9), histogram(9 + BUCKETS + 1));
        Self { began, busy, depth, operations, failures, bytes_in, bytes_out, builds, cut, tasks, waits }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On an H200 five programs lost each other within a second: one kept the board until its process was ended.
    #[test]
    fn a_worker_that_ends_a_task_or_begins_one_meanwhile_is_told_all_the_same() {
        let page = SharedPage::create().unwrap();
        let other = SharedPage::open(page.file().try_clone_to_owned().unwrap()).unwrap();
        let is_over = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    other.change(LeaseState::Busy, LeaseState::Idle);
                    other.change(LeaseState::Idle, LeaseState::Busy);
                }
            });
            let mut told = 0;
            for _ in 0..200_000 {
                page.set(LeaseState::Busy);
                (0..told % 50).for_each(|_| std::hint::spin_loop());
                page.take_back();
                told += u32::from(!page.is_idle() && !page.is_busy());
            }
            is_over.store(true, Ordering::Relaxed);
            assert_eq!(told, 200_000);
        });
    }

    #[test]
    fn published_counters_are_read_in_another_map() {
        let page = SharedPage::create().unwrap();
        let other = SharedPage::open(page.file().try_clone_to_owned().unwrap()).unwrap();
        assert_eq!(page.read(), Some(WorkerCounters::default()));
        let words: [u64; WORDS] = std::array::from_fn(|i| i as u64 * 3 + 1);
        let counters = WorkerCounters::from_words(&words);
        assert!(counters.words().eq(words));
        other.publish(&counters);
        assert_eq!(page.read(), Some(counters));
        other.publish_began(5);
        assert_eq!(page.read(), Some(WorkerCounters { began: 5, ..counters }));
        other.words()[1].store(7, Ordering::Relaxed);
        assert_eq!(page.read(), None, "it is being changed");
        assert!(
            page.change(LeaseState::NotHeld, LeaseState::Idle)
                && other.is_idle()
                && !other.change(LeaseState::NotHeld, LeaseState::Busy)
        );
    }

    #[test]
    fn counters_are_read_whole_or_not() {
        let page = SharedPage::create().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for i in 1..20_000_u64 {
                    page.publish(&WorkerCounters {
                        busy: i,
                        operations: 2 * i,
                        waits: ([i; BUCKETS], 3 * i),
                        ..WorkerCounters::default()
                    });
                }
            });
            let mut last = 0;
            while last < 19_999 {
                let Some(counters) = page.read() else { continue };
                assert_eq!(
                    (counters.operations, counters.waits),
                    (2 * counters.busy, ([counters.busy; BUCKETS], 3 * counters.busy))
                );
                assert!(counters.busy >= last);
                last = counters.busy;
            }
        });
    }
}
