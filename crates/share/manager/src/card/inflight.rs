//! Operations that were sent to a card and may not have ended.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock};

use crate::sync::lock;
use bytes::Bytes;
use rackloom::{Error, LaunchReport, Pending};
use rackloom_opencl_wire::now_ns;

/// An operation under way or over, of which more than one may want to know the end.
#[derive(Debug)]
pub(super) struct Flight<T> {
    pending: Mutex<Option<Pending<T>>>,
    landed: OnceLock<Landed<T>>,
}

/// How it ended.
#[derive(Debug)]
pub(super) struct Landed<T> {
    pub(super) result: Result<T, Error>,
    /// When it was known, in nanoseconds of our clock.
    pub(super) at: u64,
}

impl<T> Flight<T> {
    fn new(pending: Pending<T>) -> Self {
        Self { pending: Mutex::new(Some(pending)), landed: OnceLock::new() }
    }

    /// Waits for its end.
    pub(super) fn wait(&self) -> &Landed<T> {
        self.landed.get_or_init(|| {
            let pending = lock(&self.pending).take();
            let result = pending.expect("it is waited for once").wait();
            Landed { result, at: now_ns() }
        })
    }
}

/// Those operations of a card that its host does not order by itself: a host lets a launch wait for earlier writes and
/// a write for earlier reads of the same bytes, but nothing for a launch, and a launch not for reads.
#[derive(Debug, Default)]
pub(super) struct Flights {
    pub(super) reads: Hangar<Bytes>,
    pub(super) launches: Hangar<LaunchReport>,
    /// The launch that was sent last may take long.
    pub(super) has_long: AtomicBool,
}

/// Operations of one kind.
#[derive(Debug)]
pub(super) struct Hangar<T>(Mutex<Vec<Arc<Flight<T>>>>);

impl<T> Default for Hangar<T> {
    fn default() -> Self {
        Self(Mutex::new(Vec::new()))
    }
}

impl<T> Hangar<T> {
    pub(super) fn begin(&self, pending: Pending<T>) -> Arc<Flight<T>> {
        let flight = Arc::new(Flight::new(pending));
        self.lock().push(Arc::clone(&flight));
        flight
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.lock().len()
    }

    /// Forgets one that was waited for.
    pub(super) fn end(&self, flight: &Arc<Flight<T>>) {
        let mut all = self.lock();
        if let Some(at) = all.iter().position(|f| Arc::ptr_eq(f, flight)) {
            all.remove(at);
        }
    }

    /// Waits for the end of all.
    pub(super) fn settle(&self) {
        let all = std::mem::take(&mut *self.lock());
        all.iter().for_each(|flight| _ = flight.wait());
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Flight<T>>>> {
        lock(&self.0)
    }
}
