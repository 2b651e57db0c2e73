//! Runs a board's tasks, one at a time: by a thread of its own, or, when the board is free and the task short, by the
//! thread that brought it, which saves two hand-overs.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use opencl_sys::CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
use rackloom_channel::Peer;
use rackloom_opencl_wire::{EventId, REPLY, Reply, Times, encode_reply, now_ns};

use crate::board::{Operation, Sink, Space};
use crate::code::Code;
use crate::metrics::{BoardMetrics, TenantMetrics};
use crate::scheduler::{Policy, Scheduler, TenantId};

/// A client on a board, as far as the board's executor is concerned.
pub(crate) struct Tenant<S> {
    pub(crate) id: TenantId,
    pub(crate) weight: u32,
    pub(crate) space: S,
    pub(crate) peer: Arc<Peer>,
    /// Operations that have not ended.
    pub(crate) pending: AtomicU32,
    /// Events that failed, the latest ones: what waits for them fails, too.
    failed: Mutex<BTreeSet<EventId>>,
    metrics: TenantMetrics,
}

/// What runs on the board without another tenant's operations in between.
pub(crate) struct Task<S: Space> {
    pub(crate) tenant: Arc<Tenant<S>>,
    pub(crate) entries: Vec<Entry<S>>,
    /// When it was closed, in nanoseconds of our clock.
    pub(crate) since: u64,
}

/// An operation of a task.
pub(crate) struct Entry<S: Space> {
    pub(crate) event: EventId,
    pub(crate) waits: Vec<EventId>,
    /// Or why there is none.
    pub(crate) operation: Result<Operation<S>, Code>,
}

/// A board's tasks and who runs them.
pub(crate) struct Executor<S: Space> {
    state: Mutex<State<S>>,
    work: Condvar,
    pub(crate) metrics: BoardMetrics,
}

struct State<S: Space> {
    scheduler: Scheduler<Task<S>>,
    /// Somebody has the board.
    busy: bool,
    stopping: bool,
}

/// Events that a tenant's failures are remembered for: the library knows of older ones by itself.
const FAILED_MAX: usize = 4096;

/// Longest time, in nanoseconds, that a task may be expected to take for the thread that brought it to run it: while it
/// does, it takes no messages from its client.
const SHORT_NS: u64 = 100_000;

/// Bytes that a board moves in that time at least.
const SHORT_BYTES: u64 = 64 * 1024;

impl<S> Tenant<S> {
    pub(crate) fn new(id: TenantId, space: S, peer: Arc<Peer>, metrics: TenantMetrics) -> Self {
        let (pending, failed) = (AtomicU32::new(0), Mutex::new(BTreeSet::new()));
        Self { id, weight: 1, space, peer, pending, failed, metrics }
    }

    fn remember_failed(&self, event: EventId) {
        let mut failed = lock(&self.failed);
        failed.insert(event);
        if failed.len() > FAILED_MAX {
            failed.pop_first();
        }
    }

    fn any_failed(&self, events: &[EventId]) -> bool {
        !events.is_empty() && {
            let failed = lock(&self.failed);
            events.iter().any(|event| failed.contains(event))
        }
    }
}

impl<S: Space> Task<S> {
    /// Whether it is sure to end soon.
    fn is_short(&self) -> bool {
        let (mut bytes, mut ns) = (0u64, 0u64);
        for operation in self.entries.iter().filter_map(|entry| entry.operation.as_ref().ok()) {
            bytes = bytes.saturating_add(operation.bytes());
            if let Operation::Launch { kernel, .. } = operation {
                ns = ns.saturating_add(S::last_launch_ns(kernel).unwrap_or(u64::MAX));
            }
        }
        bytes <= SHORT_BYTES && ns <= SHORT_NS
    }

    /// Runs it, and tells the client of each operation's end as it comes; how many nanoseconds the board was taken.
    fn run(self, metrics: &BoardMetrics) -> u64 {
        let Self { tenant, entries, since } = self;
        let began = now_ns();
        metrics.operations.inc_by(entries.len() as u64);
        let mut started = Vec::with_capacity(entries.len());
        let mut message = Vec::new();
        for Entry { event, waits, operation } in entries {
            let operation = if tenant.any_failed(&waits) {
                Err(Code(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST))
            } else {
                operation
            };
            let ticket = operation.and_then(|mut operation| {
                let ticket = tenant.space.start(&mut operation)?;
                Ok((ticket, operation))
            });
            match ticket {
                Ok((ticket, operation)) => started.push((event, ticket, operation)),
                Err(code) => tenant.tell(event, Err(code), None, &mut message, metrics),
            }
        }
        tenant.space.flush();
        for (event, ticket, mut operation) in started {
            let ended = tenant.space.finish(ticket, &mut operation);
            let sink = match operation {
                Operation::Write { from, .. } | Operation::WriteRect { from, .. } => {
                    metrics.bytes_in.inc_by(from.len() as u64);
                    None
                }
                Operation::Read { into, .. } | Operation::ReadRect { into, .. } => {
                    metrics.bytes_out.inc_by(into.len() as u64);
                    Some(into)
                }
                _ => None,
            };
            tenant.tell(event, ended, sink, &mut message, metrics);
        }
        let cost = now_ns() - began;
        metrics.task(&tenant.metrics, began.saturating_sub(since), cost);
        cost
    }
}

impl<S> Tenant<S> {
    /// Tells the client of an end.
    fn tell(
        &self,
        event: EventId,
        ended: Result<Times, Code>,
        sink: Option<Sink>,
        message: &mut Vec<u8>,
        metrics: &BoardMetrics,
    ) {
        let (mut status, times) = match ended {
            Ok(times) => (opencl_sys::CL_SUCCESS, Some(times)),
            Err(Code(code)) => (code, None),
        };
        let inline = match sink {
            Some(Sink::Inline(bytes)) => bytes,
            Some(Sink::Bulk(given)) => {
                if given.finish().is_err() {
                    status = opencl_sys::CL_OUT_OF_RESOURCES; // The channel is closed: nobody will read this.
                }
                Box::default()
            }
            None => Box::default(),
        };
        if status < 0 {
            self.remember_failed(event);
            metrics.failures.inc();
        }
        let tail = if status < 0 { &[][..] } else { &inline };
        encode_reply(&Reply::Done { event, status, times }, tail, message);
        // Before the client knows: it may send the next one at once.
        self.pending.fetch_sub(1, Ordering::AcqRel);
        // A client that is gone, or does not read, has its channel closed; its session notices.
        let _ = self.peer.send(REPLY, message);
    }
}

impl<S: Space> Executor<S> {
    pub(crate) fn new(policy: Policy, metrics: BoardMetrics) -> Self {
        let state = State { scheduler: Scheduler::new(policy), busy: false, stopping: false };
        Self { state: Mutex::new(state), work: Condvar::new(), metrics }
    }

    /// Runs a task now, or leaves it to the board's thread.
    pub(crate) fn submit(&self, task: Task<S>) {
        let short = task.is_short();
        let mut state = lock(&self.state);
        state.scheduler.push(task.tenant.id, task.tenant.weight, task);
        self.metrics.depth.set(state.scheduler.len() as i64);
        if short && !state.busy && state.scheduler.len() == 1 {
            state = self.run_next(state);
            if !state.scheduler.is_empty() {
                self.work.notify_one();
            }
        } else if !state.busy {
            self.work.notify_one();
        }
    }

    /// The board's thread.
    pub(crate) fn run(&self) {
        let mut state = lock(&self.state);
        while !state.stopping {
            if state.busy || state.scheduler.is_empty() {
                state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
            } else {
                state = self.run_next(state);
            }
        }
    }

    /// Makes [`Self::run`] return.
    pub(crate) fn stop(&self) {
        lock(&self.state).stopping = true;
        self.work.notify_all();
    }

    fn run_next<'a>(&'a self, mut state: MutexGuard<'a, State<S>>) -> MutexGuard<'a, State<S>> {
        let Some((tenant, task)) = state.scheduler.pop() else { return state };
        state.busy = true;
        self.metrics.depth.set(state.scheduler.len() as i64);
        drop(state);
        let cost = {
            let _ends_all = EndsAll;
            task.run(&self.metrics)
        };
        let mut state = lock(&self.state);
        state.scheduler.pay(tenant, cost);
        state.busy = false;
        state
    }

    /// Forgets the tasks of a tenant that is gone; one that runs goes on to its end.
    pub(crate) fn forget(&self, tenant: TenantId) {
        let mut state = lock(&self.state);
        let tasks = state.scheduler.remove(tenant);
        self.metrics.depth.set(state.scheduler.len() as i64);
        drop(state);
        drop(tasks); // Not under the lock: objects are released with them.
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
