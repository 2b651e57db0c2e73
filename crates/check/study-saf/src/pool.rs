//! Independent racks on several processors.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::error::Result;
use rackloom_report::Progress;

/// Runs `work` on each item, `threads` at a time, largest first if they are so ordered. Results are in the items'
/// order: nothing depends on which thread did what. The first error in that order is returned.
pub(crate) fn each<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    progress: &mut dyn Progress,
    name: impl Fn(&T) -> String + Sync,
    work: impl Fn(&T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let shared = Mutex::new((0, progress));
    let results: Vec<Mutex<Option<Result<R>>>> = items.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, items.len().max(1)) {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    if i >= items.len() || failed.load(Ordering::Relaxed) {
                        return;
                    }
                    let result = work(&items[i]);
                    failed.fetch_or(result.is_err(), Ordering::Relaxed);
                    *results[i].lock().expect("a worker panicked") = Some(result);
                    let mut shared = shared.lock().expect("a worker panicked");
                    shared.0 += 1;
                    let done = shared.0;
                    shared.1.step(done, items.len(), &name(&items[i]));
                }
            });
        }
    });
    // After a failure some were never begun; they come after it in the order in which they are taken, not of the
    // errors.
    let results: Vec<_> = results.into_iter().filter_map(|r| r.into_inner().expect("a worker panicked")).collect();
    results.into_iter().collect()
}

/// Threads to use: as many as the machine has processors.
pub(crate) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
