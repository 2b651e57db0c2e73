//! The host and its waiters, as one node.
//!
//! Waiters and jobs live beside the host on its thread: an operation is begun and its waiter registered in one step, so
//! that no completion can come in between, and a job sees each event when it happens.

use std::collections::BTreeMap;
use std::sync::mpsc::{SyncSender, TrySendError};
use std::sync::{Arc, Mutex};

use rackloom_host::{Event, Host, LoadPhase, OpError, OpId, Outcome};
use rackloom_node::{Frame, Instant, Node, Output, Port};
use rackloom_sync::lock;

type Waiter = Box<dyn FnOnce(Result<Outcome, OpError>) + Send>;
type Progress = Box<dyn FnMut(LoadPhase, u32, u32) + Send>;

/// Work on several cards that goes on with each event.
pub(crate) trait Running: Send {
    /// Advances it after an event or a timeout; true when it has ended and its cards are released.
    fn tend(&mut self, now: Instant, host: &mut Host, event: Option<&Event>) -> bool;
    /// Reports the end.
    fn conclude(self: Box<Self>);
    /// Cancels it.
    fn cancel(&mut self);
    /// When it has to be tended at the latest.
    fn deadline(&self) -> Option<Instant>;
}

/// The waiters of operations, loads, events and jobs.
#[derive(Default)]
pub(crate) struct Waiting {
    waiters: BTreeMap<OpId, Waiter>,
    progress: BTreeMap<OpId, Progress>,
    watchers: Vec<SyncSender<Event>>,
    jobs: Vec<Box<dyn Running>>,
}

/// Outlives the runner's thread for as long as anybody could still wait; dropping the last handle ends all waiting.
pub(crate) type SharedWaiting = Arc<Mutex<Waiting>>;

/// Ends all waiting when the runner's thread is gone.
pub(crate) struct LastWord(pub(crate) SharedWaiting);

impl Drop for LastWord {
    fn drop(&mut self) {
        // Waiters complete with an error when dropped. Not under the lock: a completion may run a user's code.
        let left = std::mem::take(&mut *lock(&self.0));
        drop(left);
    }
}

/// A [`Host`] and its waiters.
pub(crate) struct Runner {
    host: Host,
    waiting: SharedWaiting,
}

impl Runner {
    pub(crate) const fn new(host: Host, waiting: SharedWaiting) -> Self {
        Self { host, waiting }
    }

    pub(crate) const fn host(&mut self) -> &mut Host {
        &mut self.host
    }

    /// Calls `waiter` with the operation's result.
    pub(crate) fn when_over(&mut self, op: OpId, waiter: Waiter) {
        self.with(|w| _ = w.waiters.insert(op, waiter));
    }

    /// Calls `progress` as the load proceeds.
    pub(crate) fn on_progress(&mut self, op: OpId, progress: Progress) {
        self.with(|w| _ = w.progress.insert(op, progress));
    }

    pub(crate) fn add_watcher(&mut self, watcher: SyncSender<Event>) {
        self.with(|w| w.watchers.push(watcher));
    }

    /// Cancels all jobs.
    pub(crate) fn cancel_jobs(&mut self, now: Instant) {
        self.with(|w| w.jobs.iter_mut().for_each(|job| job.cancel()));
        self.tend_jobs(now, None);
    }

    pub(crate) fn add_job(&mut self, job: impl Running + 'static) {
        self.with(|w| w.jobs.push(Box::new(job)));
    }

    fn with<R>(&self, f: impl FnOnce(&mut Waiting) -> R) -> R {
        f(&mut lock(&self.waiting))
    }

    /// Advances the jobs, and concludes those that have ended.
    fn tend_jobs(&mut self, now: Instant, event: Option<&Event>) {
        let jobs = self.with(|w| std::mem::take(&mut w.jobs));
        if jobs.is_empty() {
            return;
        }
        let (mut over, mut going) = (Vec::new(), Vec::new());
        for mut job in jobs {
            if job.tend(now, &mut self.host, event) { over.push(job) } else { going.push(job) }
        }
        self.with(|w| w.jobs.append(&mut going));
        over.into_iter().for_each(|job| job.conclude());
    }

    fn dispatch(&mut self, now: Instant, event: Event) {
        self.tend_jobs(now, Some(&event));
        match event {
            Event::Completed { op, result } => {
                let waiter = self.with(|w| {
                    w.progress.remove(&op);
                    w.waiters.remove(&op)
                });
                if let Some(waiter) = waiter {
                    waiter(result);
                }
            }
            Event::LoadProgress { op, phase, done, total } => {
                let progress = self.with(|w| w.progress.remove(&op));
                if let Some(mut progress) = progress {
                    progress(phase, done, total);
                    self.on_progress(op, progress);
                }
            }
            event => self.with(|w| {
                w.watchers.retain(|s| !matches!(s.try_send(event.clone()), Err(TrySendError::Disconnected(_))));
            }),
        }
    }
}

impl Node for Runner {
    /// None: waiters are woken here.
    type Event = ();

    fn handle_frame(&mut self, now: Instant, port: Port, frame: Frame) {
        self.host.handle_frame(now, port, frame);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.host.handle_timeout(now);
        self.tend_jobs(now, None);
    }

    fn handle_starvation(&mut self) {
        self.host.handle_starvation();
    }

    fn poll(&mut self, now: Instant) -> Option<Output<()>> {
        loop {
            match self.host.poll(now)? {
                Output::Transmit(port, frame) => return Some(Output::Transmit(port, frame)),
                Output::Event(event) => self.dispatch(now, event),
            }
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        let jobs = self.with(|w| w.jobs.iter().filter_map(|job| job.deadline()).min());
        [self.host.next_deadline(), jobs].into_iter().flatten().min()
    }
}
