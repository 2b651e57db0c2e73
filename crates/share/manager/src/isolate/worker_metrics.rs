//! Transfer of a worker's counters into the manager's metrics.
//!
//! A kernel may have taken the worker over, and let it say anything. So what it says is believed within what the
//! manager knows itself: a worker used the board at most while it held it, and at least while it kept others waiting.

use std::sync::{Arc, Mutex};

use rackloom_opencl_wire::now_ns;
use rackloom_sync::lock;

use super::lease::{LeaseHolder, Turns};
use super::shared_page::WorkerCounters;
use crate::metrics::latencies::Counts;
use crate::metrics::{BoardMetrics, Source, TenantMetrics};

/// A worker as a source of metrics.
#[derive(Debug)]
pub(super) struct WorkerMetrics {
    holder: Arc<LeaseHolder>,
    metrics: BoardMetrics,
    tenant: TenantMetrics,
    reported: Mutex<Reported>,
}

/// What the metrics contain already.
#[derive(Debug)]
struct Reported {
    counters: WorkerCounters,
    /// Board time, including that of a running task, in nanoseconds.
    busy: u64,
    /// Of that, the time of tasks that have ended.
    tasks_ns: u64,
    turns: Turns,
    at: u64,
}

/// Most bytes that a board moves in a nanosecond. Like the other bounds it keeps a hostile worker's counters out of
/// the board's sums.
const BYTES_PER_NS: u64 = 1024;

/// Most tasks of one worker that wait at the same time: their waiting times add up.
const WAITING_MAX: u64 = 1 << 16;

impl WorkerMetrics {
    pub(super) fn new(holder: Arc<LeaseHolder>, metrics: BoardMetrics, tenant: TenantMetrics) -> Self {
        let (at, turns) = (now_ns(), Turns::default());
        let reported = Reported { counters: WorkerCounters::default(), busy: 0, tasks_ns: 0, turns, at };
        let reported = Mutex::new(reported);
        Self { holder, metrics, tenant, reported }
    }
}

impl Source for WorkerMetrics {
    fn catch_up(&self) {
        let mut reported = lock(&self.reported);
        // One that keeps changing them has the same as before.
        let counters = self.holder.page.read().unwrap_or(reported.counters);
        let now = now_ns();
        let passed = now.saturating_sub(reported.at);
        let turns = self.holder.turns(now);
        let held = turns.held.saturating_sub(reported.turns.held);
        let kept = turns.kept.saturating_sub(reported.turns.kept);
        let running = if counters.began == 0 { 0 } else { now.saturating_sub(counters.began) };
        // The worker reads its clock twice: for a moment the sum may be less than what was reported before.
        let busy = counters.busy.saturating_add(running).saturating_sub(reported.busy).max(kept).min(held);
        reported.busy += busy;
        (reported.at, reported.turns) = (now, turns);
        self.metrics.busy.inc_by(busy as f64 * 1e-9);
        self.tenant.busy.inc_by(busy as f64 * 1e-9);
        let before = &reported.counters;
        let more = |new: u64, old: u64| new.saturating_sub(old).min(passed);
        let bytes = |new: u64, old: u64| new.saturating_sub(old).min(passed.saturating_mul(BYTES_PER_NS));
        let metrics = &self.metrics;
        metrics.operations.inc_by(more(counters.operations, before.operations));
        metrics.failures.inc_by(more(counters.failures, before.failures));
        metrics.bytes_in.inc_by(bytes(counters.bytes_in, before.bytes_in));
        metrics.bytes_out.inc_by(bytes(counters.bytes_out, before.bytes_out));
        metrics.builds.inc_by(more(counters.builds, before.builds));
        metrics.cut.inc_by(more(counters.cut, before.cut));
        let histogram = |(new, new_sum): &Counts, (old, old_sum): &Counts| {
            let counts = std::array::from_fn(|bucket| more(new[bucket], old[bucket]));
            (counts, new_sum.saturating_sub(*old_sum).min(passed.saturating_mul(WAITING_MAX)))
        };
        let tasks_ns = counters.tasks.1.saturating_sub(reported.tasks_ns).min(reported.busy - reported.tasks_ns);
        metrics.task.add(&(histogram(&counters.tasks, &before.tasks).0, tasks_ns));
        metrics.wait.add(&histogram(&counters.waits, &before.waits));
        let depth = counters.depth.min(WAITING_MAX);
        metrics.depth.inc_by(depth as i64 - before.depth as i64);
        reported.tasks_ns += tasks_ns;
        reported.counters = WorkerCounters { depth, ..counters };
    }
}

impl Drop for WorkerMetrics {
    fn drop(&mut self) {
        self.catch_up();
        self.metrics.depth.dec_by(lock(&self.reported).counters.depth as i64);
    }
}
