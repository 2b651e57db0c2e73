//! What a worker has counted, told to the manager's metrics.

use std::sync::{Arc, Mutex, MutexGuard};

use rackloom_opencl_wire::now_ns;

use super::shared_page::{Page, Tally};
use crate::metrics::latencies::Counts;
use crate::metrics::{BoardMetrics, Source, TenantMetrics};
use crate::sync::lock;

/// A worker's account.
#[derive(Debug)]
pub(super) struct Ledger {
    page: Arc<Page>,
    metrics: BoardMetrics,
    tenant: TenantMetrics,
    told: Mutex<Told>,
}

/// What the metrics have been told of.
#[derive(Debug)]
struct Told {
    tally: Tally,
    /// Board time, with that of a task that has not ended.
    busy: u64,
    at: u64,
}

/// Bytes that a board moves in a nanosecond at most. Like the other bounds it keeps nonsense out of the board's sums.
const BYTES_PER_NS: u64 = 1024;

/// Tasks of one worker that wait at the same time at most: what they have waited adds up.
const WAITING_MAX: u64 = 1 << 16;

impl Ledger {
    pub(super) fn new(page: Arc<Page>, metrics: BoardMetrics, tenant: TenantMetrics) -> Self {
        let told = Mutex::new(Told { tally: Tally::default(), busy: 0, at: now_ns() });
        Self { page, metrics, tenant, told }
    }

    fn lock(&self) -> MutexGuard<'_, Told> {
        lock(&self.told)
    }
}

impl Source for Ledger {
    fn catch_up(&self) {
        let mut told = self.lock();
        let Some(tally) = self.page.read() else { return };
        let now = now_ns();
        let passed = now.saturating_sub(told.at);
        let running = if tally.began == 0 { 0 } else { now.saturating_sub(tally.began) };
        // Told too early by the time between two looks at the clock, it is less than what was told for a moment.
        let busy = tally.busy.saturating_add(running).saturating_sub(told.busy).min(passed);
        told.busy += busy;
        told.at = now;
        self.metrics.busy.inc_by(busy as f64 * 1e-9);
        self.tenant.busy.inc_by(busy as f64 * 1e-9);
        let before = &told.tally;
        let more = |new: u64, old: u64| new.saturating_sub(old).min(passed);
        let bytes = |new: u64, old: u64| new.saturating_sub(old).min(passed.saturating_mul(BYTES_PER_NS));
        let metrics = &self.metrics;
        metrics.operations.inc_by(more(tally.operations, before.operations));
        metrics.failures.inc_by(more(tally.failures, before.failures));
        metrics.bytes_in.inc_by(bytes(tally.bytes_in, before.bytes_in));
        metrics.bytes_out.inc_by(bytes(tally.bytes_out, before.bytes_out));
        metrics.builds.inc_by(more(tally.builds, before.builds));
        metrics.cut.inc_by(more(tally.cut, before.cut));
        let histogram = |(new, new_sum): &Counts, (old, old_sum): &Counts| {
            let counts = std::array::from_fn(|bucket| more(new[bucket], old[bucket]));
            (counts, new_sum.saturating_sub(*old_sum).min(passed.saturating_mul(WAITING_MAX)))
        };
        metrics.task.add(&histogram(&tally.tasks, &before.tasks));
        metrics.wait.add(&histogram(&tally.waits, &before.waits));
        let depth = tally.depth.min(WAITING_MAX);
        metrics.depth.inc_by(depth as i64 - before.depth as i64);
        told.tally = Tally { depth, ..tally };
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        self.catch_up();
        self.metrics.depth.dec_by(self.lock().tally.depth as i64);
    }
}
