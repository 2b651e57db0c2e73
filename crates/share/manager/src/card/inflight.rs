//! Operations in flight: sent to a card, and perhaps not ended.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock};

use bytes::Bytes;
use rackloom::{Error, LaunchReport, Pending};
use rackloom_opencl_wire::now_ns;
use rackloom_sync::lock;

/// An operation in flight or ended, whose end several callers may wait for.
#[derive(Debug)]
pub(super) struct InFlight<T> {
    pending: Mutex<Option<Pending<T>>>,
    completed: OnceLock<Completed<T>>,
}

/// How it ended.
#[derive(Debug)]
pub(super) struct Completed<T> {
    pub(super) result: Result<T, Error>,
    /// When the end was noticed, in nanoseconds of our clock.
    pub(super) at: u64,
}

impl<T> InFlight<T> {
    fn new(pending: Pending<T>) -> Self {
        Self { pending: Mutex::new(Some(pending)), completed: OnceLock::new() }
    }

    /// Waits for its end.
    pub(super) fn wait(&self) -> &Completed<T> {
        self.completed.get_or_init(|| {
            let pending = lock(&self.pending).take();
            let result = pending.expect("only the first caller waits").wait();
            Completed { result, at: now_ns() }
        })
    }
}

/// The operations of a card that its host does not order: a host delays a launch until earlier writes have ended and a
/// write until earlier reads of the same bytes have, but delays nothing for a launch, and no launch for reads.
#[derive(Debug, Default)]
pub(super) struct InFlightOperations {
    pub(super) reads: InFlightSet<Bytes>,
    pub(super) launches: InFlightSet<LaunchReport>,
    /// Whether the launch sent last may take long.
    pub(super) has_long: AtomicBool,
}

/// Operations of one kind.
#[derive(Debug)]
pub(super) struct InFlightSet<T>(Mutex<Vec<Arc<InFlight<T>>>>);

impl<T> Default for InFlightSet<T> {
    fn default() -> Self {
        Self(Mutex::new(Vec::new()))
    }
}

impl<T> InFlightSet<T> {
    pub(super) fn begin(&self, pending: Pending<T>) -> Arc<InFlight<T>> {
        let operation = Arc::new(InFlight::new(pending));
        lock(&self.0).push(Arc::clone(&operation));
        operation
    }

    /// Number of operations.
    pub(super) fn len(&self) -> usize {
        lock(&self.0).len()
    }

    /// Removes an operation that was waited for.
    pub(super) fn end(&self, operation: &Arc<InFlight<T>>) {
        let mut all = lock(&self.0);
        if let Some(at) = all.iter().position(|f| Arc::ptr_eq(f, operation)) {
            all.remove(at);
        }
    }

    /// Waits until all have ended.
    pub(super) fn settle(&self) {
        let all = std::mem::take(&mut *lock(&self.0));
        all.iter().for_each(|operation| _ = operation.wait());
    }
}
