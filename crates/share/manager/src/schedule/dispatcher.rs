//! A board's dispatcher: runs jobs on the board, one at a time, in the scheduler's order.
//!
//! A job is run by the board's thread, or, if the board is free and the job short, by the thread that submits it, which
//! saves two hand-overs.

use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use rackloom_opencl_wire::now_ns;
use rackloom_sync::{lock, wait, wait_for};

use crate::metrics::BoardMetrics;
use crate::schedule::scheduler::{Next, Policy, Scheduler, Share, TenantId};

/// A unit of work that holds the board while it runs.
pub(crate) trait Job: Sized {
    /// Its tenant, and the tenant's share.
    fn tenant(&self) -> (TenantId, Share);

    /// Whether it is sure to end soon.
    fn is_short(&self) -> bool;

    /// Whether its tenant is gone, so that the rest of it must not run.
    fn is_cancelled(&self) -> bool;

    /// The holder to notify, while it runs, that others wait.
    fn holder(&self) -> Option<Arc<dyn Holder>> {
        None
    }

    /// Runs on the board. Returns the nanoseconds to charge its tenant, and the rest of it if its time was over.
    /// `is_quick`: the tenant returns with its next task sooner than the board could pass to another one. `more` gives
    /// its tenant's next job while nobody else waits, to run with this one.
    fn run(self, metrics: &BoardMetrics, is_quick: bool, more: &mut dyn FnMut() -> Option<Self>)
    -> (u64, Option<Self>);
}

/// A holder of the board, which may keep it for longer than it needs while nobody else wants it.
pub(crate) trait Holder: Send + Sync {
    /// Others wait: the holder returns the board as soon as it can. Called with the dispatcher locked.
    fn wanted(&self);
}

/// The jobs of a board, and the state of the board.
pub(crate) struct Dispatcher<T> {
    state: Mutex<State<T>>,
    work: Condvar,
    pub(crate) metrics: BoardMetrics,
}

struct State<T> {
    scheduler: Scheduler<T>,
    /// A job holds the board.
    busy: bool,
    /// Its holder, if that can be notified that others wait.
    holder: Option<Arc<dyn Holder>>,
    /// The board's thread sleeps until a known time only.
    is_held: bool,
    stopping: bool,
}

impl<T: Job> Dispatcher<T> {
    pub(crate) fn new(policy: Policy, metrics: BoardMetrics) -> Self {
        let scheduler = Scheduler::new(policy);
        let state = State { scheduler, busy: false, holder: None, is_held: false, stopping: false };
        Self { state: Mutex::new(state), work: Condvar::new(), metrics }
    }

    /// Runs a job now, or queues it for the board's thread.
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
                return; // The board's thread looks again in time: the tenant is most likely expected again.
            }
        }
        self.work.notify_one();
    }

    /// Whether no job runs or waits.
    pub(crate) fn is_free(&self) -> bool {
        let state = lock(&self.state);
        !state.busy && state.scheduler.is_empty()
    }

    /// The main loop of the board's thread.
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
                    let mut state = wait_for(&self.work, state, time);
                    state.is_held = false;
                    state
                }
                Next::Nothing => wait(&self.work, state),
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
            job.run(&self.metrics, is_quick, &mut || self.more(tenant))
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
            drop(state); // Outside the lock: this releases objects.
            drop(rest);
            state = lock(&self.state);
        }
        state
    }

    /// The next job of a tenant whose job runs, while nobody else waits.
    fn more(&self, tenant: TenantId) -> Option<T> {
        let mut state = lock(&self.state);
        let job = state.scheduler.pop_more(tenant)?;
        self.metrics.depth.set(state.scheduler.len() as i64);
        if job.is_cancelled() {
            drop(state); // Outside the lock: this releases objects.
            return None;
        }
        Some(job)
    }

    /// Drops the jobs of a tenant that is gone; calls `is_gone` under the lock. A job that runs goes on to its end, or
    /// until its time is over.
    pub(crate) fn forget(&self, tenant: TenantId, is_gone: impl FnOnce()) {
        let mut state = lock(&self.state);
        is_gone(); // `is_cancelled` is asked under the lock, too.
        let jobs = state.scheduler.remove(tenant);
        self.metrics.depth.set(state.scheduler.len() as i64);
        drop(state);
        drop(jobs); // Outside the lock: this releases objects.
    }
}

/// Ends the process on a panic while a job runs: otherwise the board would stay busy for ever and its tenants would
/// wait. Clients notice at once that a manager is gone, and the next one serves them.
struct EndsAll;

impl Drop for EndsAll {
    fn drop(&mut self) {
        if std::thread::panicking() {
            std::process::abort();
        }
    }
}
