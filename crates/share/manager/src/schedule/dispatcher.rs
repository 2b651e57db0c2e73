//! A board's dispatcher: what wants the board has it one at a time, in the scheduler's order.
//!
//! A job is run by the board's thread, or, when the board is free and the job short, by the thread that brought it,
//! which saves two hand-overs.

use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use rackloom_opencl_wire::now_ns;

use crate::metrics::BoardMetrics;
use crate::schedule::scheduler::{Next, Policy, Scheduler, Share, TenantId};
use crate::sync::{self, lock};

/// What has the board for a while.
pub(crate) trait Job: Sized {
    /// Whose it is.
    fn tenant(&self) -> (TenantId, Share);

    /// Whether it is sure to end soon.
    fn is_short(&self) -> bool;

    /// Whether its tenant is gone, so that what is left of it is not to run.
    fn is_cancelled(&self) -> bool;

    /// Who can be told, while it has the board, that others wait.
    fn holder(&self) -> Option<Arc<dyn Holder>> {
        None
    }

    /// Has the board; how many nanoseconds to charge its tenant, and what is left if its time was over. The tenant may
    /// be `quick`: back with its next task sooner than another could have the board.
    fn run(self, metrics: &BoardMetrics, is_quick: bool) -> (u64, Option<Self>);
}

/// Who has the board, perhaps for longer than it needs as long as nobody else wants it.
pub(crate) trait Holder: Send + Sync {
    /// Somebody waits: the board is to come back as soon as may be. Called with the dispatcher locked.
    fn wanted(&self);
}

/// What wants a board, and who runs it.
pub(crate) struct Dispatcher<T> {
    state: Mutex<State<T>>,
    work: Condvar,
    pub(crate) metrics: BoardMetrics,
}

struct State<T> {
    scheduler: Scheduler<T>,
    /// Somebody has the board.
    busy: bool,
    /// And can be told that others wait.
    holder: Option<Arc<dyn Holder>>,
    /// The board's thread sleeps only until a time that it knows.
    is_held: bool,
    stopping: bool,
}

impl<T: Job> Dispatcher<T> {
    pub(crate) fn new(policy: Policy, metrics: BoardMetrics) -> Self {
        let scheduler = Scheduler::new(policy);
        let state = State { scheduler, busy: false, holder: None, is_held: false, stopping: false };
        Self { state: Mutex::new(state), work: Condvar::new(), metrics }
    }

    /// Runs a job now, or leaves it to the board's thread.
    pub(crate) fn submit(&self, job: T) {
        let (short, (tenant, share)) = (job.is_short(), job.tenant());
        let mut state = lock(&self.state);
        let now = now_ns();
        state.scheduler.push(now, tenant, share, job);
        self.metrics.depth.set(state.scheduler.len() as i64);
        if state.busy {
            if let Some(holder) = &state.holder {
                holder.wanted();
            }
            return;
        }
        if short && state.scheduler.is_next(tenant, now) {
            if let Next::Run(tenant, job) = state.scheduler.pop(now) {
                state = self.run_job(state, tenant, job);
            }
            if state.scheduler.is_empty() || state.is_held {
                return; // It looks by itself in time: who was expected and came is most likely expected again.
            }
        }
        self.work.notify_one();
    }

    /// The board's thread.
    pub(crate) fn run(&self) {
        let mut state = lock(&self.state);
        while !state.stopping {
            let now = now_ns();
            let next = if state.busy { Next::Nothing } else { state.scheduler.pop(now) };
            state = match next {
                Next::Run(tenant, job) => self.run_job(state, tenant, job),
                Next::Hold(until) => {
                    state.is_held = true;
                    let time = Duration::from_nanos(until.saturating_sub(now));
                    let mut state = sync::wait_for(&self.work, state, time);
                    state.is_held = false;
                    state
                }
                Next::Nothing => sync::wait(&self.work, state),
            };
        }
    }

    /// Makes [`Self::run`] return.
    pub(crate) fn stop(&self) {
        let mut state = lock(&self.state);
        state.stopping = true;
        if let Some(holder) = &state.holder {
            holder.wanted();
        }
        drop(state);
        self.work.notify_all();
    }

    fn run_job<'a>(
        &'a self,
        mut state: MutexGuard<'a, State<T>>,
        tenant: TenantId,
        job: T,
    ) -> MutexGuard<'a, State<T>> {
        state.busy = true;
        state.holder = job.holder();
        self.metrics.depth.set(state.scheduler.len() as i64);
        self.metrics.held.inc_by(state.scheduler.take_held_ns() as f64 * 1e-9);
        if let Some(holder) = state.holder.as_ref().filter(|_| !state.scheduler.is_empty()) {
            holder.wanted();
        }
        let is_quick = state.scheduler.is_quick(tenant);
        drop(state);
        let (cost, mut rest) = {
            let _ends_all = EndsAll;
            job.run(&self.metrics, is_quick)
        };
        let mut state = lock(&self.state);
        if let Some(job) = rest.take_if(|job| !job.is_cancelled()) {
            self.metrics.cut.inc();
            state.scheduler.put_back(tenant, job);
            self.metrics.depth.set(state.scheduler.len() as i64);
        }
        state.scheduler.pay(now_ns(), tenant, cost);
        (state.busy, state.holder) = (false, None);
        if rest.is_some() {
            drop(state); // Not under the lock: objects are released with it.
            drop(rest);
            state = lock(&self.state);
        }
        state
    }

    /// Forgets what a tenant that is gone wants; `is_gone` is called under the lock. What has the board goes on to its
    /// end, or until its time is over.
    pub(crate) fn forget(&self, tenant: TenantId, is_gone: impl FnOnce()) {
        let mut state = lock(&self.state);
        is_gone(); // Like the look at it.
        let jobs = state.scheduler.remove(tenant);
        self.metrics.depth.set(state.scheduler.len() as i64);
        drop(state);
        drop(jobs); // Not under the lock: objects are released with them.
    }
}

/// A panic with the board in hand ends the process: the board would stay busy for ever and its tenants wait, where they
/// are told at once that a manager is gone, and the next one serves them.
struct EndsAll;

impl Drop for EndsAll {
    fn drop(&mut self) {
        if std::thread::panicking() {
            std::process::abort();
        }
    }
}
