//! An operation in progress.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Weak};
use std::task::{Context, Poll, Waker};

use rackloom_live::Driver;
use rackloom_node::Node;
use rackloom_sync::{lock, wait};

use crate::Error;

/// The future outcome of an operation. Wait for it on a thread, or await it in a future; it needs no runtime.
///
/// Dropping it does not cancel the operation.
#[must_use = "the operation's error is reported only here"]
pub struct Pending<T> {
    cell: Arc<Cell<T>>,
    helper: Option<Weak<dyn Helper>>,
}

/// What an operation's end comes from, where whoever waits for it can have it come sooner.
pub(crate) trait Helper: Send + Sync {
    /// Works until `is_over`; or, if others do, calls `sleep`, which waits for that.
    fn wait(&self, is_over: &mut dyn FnMut() -> bool, sleep: &mut dyn FnMut());
    /// Somebody waits who cannot work.
    fn attend(&self);
}

impl<N> Helper for Driver<N>
where
    N: Node + Send + 'static,
    N::Event: 'static,
{
    fn wait(&self, is_over: &mut dyn FnMut() -> bool, sleep: &mut dyn FnMut()) {
        self.wait(None, is_over, |_| sleep());
    }

    fn attend(&self) {
        self.attend();
    }
}

struct Cell<T> {
    state: Mutex<State<T>>,
    bell: Condvar,
}

struct State<T> {
    result: Option<Result<T, Error>>,
    waker: Option<Waker>,
    /// Threads that sleep at the bell.
    sleepers: u32,
}

impl<T> Pending<T> {
    /// An operation's outcome, and the handle that completes it.
    pub(crate) fn new() -> (Completer<T>, Self) {
        let cell = Arc::new(Cell {
            state: Mutex::new(State { result: None, waker: None, sleepers: 0 }),
            bell: Condvar::new(),
        });
        (Completer { cell: Some(Arc::clone(&cell)) }, Self { cell, helper: None })
    }

    /// An operation that has failed before it began.
    pub(crate) fn failed(why: Error) -> Self {
        let (done, pending) = Self::new();
        done.complete(Err(why));
        pending
    }

    /// The same as [`new`](Self::new), with someone who can help it along.
    pub(crate) fn helped_by<H: Helper + 'static>(mut self, helper: &Arc<H>) -> Self {
        let helper: Weak<H> = Arc::downgrade(helper);
        self.helper = Some(helper);
        self
    }

    /// Blocks until the operation has ended.
    ///
    /// # Errors
    /// Why the operation failed.
    pub fn wait(self) -> Result<T, Error> {
        if let Some(helper) = self.helper.as_ref().and_then(Weak::upgrade) {
            helper.wait(&mut || self.is_over(), &mut || drop(self.cell.sleep()));
        }
        let mut state = self.cell.sleep();
        state.result.take().expect("it slept until there was one")
    }

    /// Whether it has ended: `wait` would not block.
    pub fn is_over(&self) -> bool {
        lock(&self.cell.state).result.is_some()
    }
}

impl<T> Future for Pending<T> {
    type Output = Result<T, Error>;

    /// Must not be polled again once it was ready: it never becomes ready a second time.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = lock(&self.cell.state);
        if let Some(result) = state.result.take() {
            return Poll::Ready(result);
        }
        state.waker = Some(context.waker().clone());
        drop(state);
        if let Some(helper) = self.helper.as_ref().and_then(Weak::upgrade) {
            helper.attend();
        }
        Poll::Pending
    }
}

impl<T> Cell<T> {
    /// Sleeps until there is a result.
    fn sleep(&self) -> MutexGuard<'_, State<T>> {
        let mut state = lock(&self.state);
        while state.result.is_none() {
            state.sleepers += 1;
            state = wait(&self.bell, state);
            state.sleepers -= 1;
        }
        state
    }
}

impl<T> fmt::Debug for Pending<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").field("is_over", &self.is_over()).finish()
    }
}

/// Completes a [`Pending`]. Dropped unused, it completes it with [`Error::Stopped`], so that nobody waits for ever.
pub(crate) struct Completer<T> {
    cell: Option<Arc<Cell<T>>>,
}

impl<T> Completer<T> {
    pub(crate) fn complete(mut self, result: Result<T, Error>) {
        self.end(result);
    }

    fn end(&mut self, result: Result<T, Error>) {
        let Some(cell) = self.cell.take() else { return };
        let mut state = lock(&cell.state);
        state.result = Some(result);
        let waker = state.waker.take();
        // Each call of the system costs as much as the rest.
        if state.sleepers > 0 {
            cell.bell.notify_all();
        }
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T> Drop for Completer<T> {
    fn drop(&mut self) {
        self.end(Err(Error::Stopped));
    }
}

impl<T> fmt::Debug for Completer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Completer")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_waiter_on_another_thread_gets_the_result() {
        let (completer, pending) = Pending::new();
        let waiter = std::thread::spawn(move || pending.wait());
        std::thread::sleep(Duration::from_millis(10));
        completer.complete(Ok(7));
        assert!(matches!(waiter.join().unwrap(), Ok(7)));
    }

    #[test]
    fn dropping_the_completer_ends_the_operation() {
        let (completer, pending) = Pending::<u8>::new();
        assert!(!pending.is_over());
        drop(completer);
        assert!(pending.is_over());
        assert!(matches!(pending.wait(), Err(Error::Stopped)));
    }

    #[test]
    fn a_future_is_woken_once_and_then_ready() {
        #[derive(Default)]
        struct Count(AtomicUsize);
        impl Wake for Count {
            fn wake(self: Arc<Self>) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
        let count = Arc::new(Count::default());
        let waker = Waker::from(Arc::clone(&count));
        let mut context = Context::from_waker(&waker);
        let (completer, mut pending) = Pending::new();
        assert!(Pin::new(&mut pending).poll(&mut context).is_pending());
        completer.complete(Ok("done"));
        assert_eq!(count.0.load(Ordering::Relaxed), 1);
        assert!(matches!(Pin::new(&mut pending).poll(&mut context), Poll::Ready(Ok("done"))));
    }
}
