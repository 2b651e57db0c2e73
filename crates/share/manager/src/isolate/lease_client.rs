//! Leases on the worker's side: it requests the board before a task, unless it still holds it.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};

use rackloom_opencl_wire::now_ns;
use rackloom_sync::lock;

use super::control::{self, FromWorker};
use super::shared_page::{LeaseState, SharedPage, WorkerCounters};
use crate::metrics::BoardMetrics;
use crate::schedule::task::LeasedBoard;

/// A worker's lease of the board.
#[derive(Debug)]
pub(super) struct LeaseClient {
    page: SharedPage,
    control: Arc<OwnedFd>,
    /// One thread publishes at a time.
    publishing: Mutex<()>,
}

impl LeaseClient {
    pub(super) fn new(page: SharedPage, control: Arc<OwnedFd>) -> Self {
        Self { page, control, publishing: Mutex::default() }
    }

    /// Publishes the counters. `began`: start of the running task in nanoseconds, or 0.
    pub(super) fn publish(&self, metrics: &BoardMetrics, began: u64) {
        let _one = lock(&self.publishing);
        self.page.publish(&WorkerCounters {
            began,
            busy: (metrics.busy.get() * 1e9) as u64,
            depth: u64::try_from(metrics.depth.get()).unwrap_or(0),
            operations: metrics.operations.get(),
            failures: metrics.failures.get(),
            bytes_in: metrics.bytes_in.get(),
            bytes_out: metrics.bytes_out.get(),
            builds: metrics.builds.get(),
            cut: metrics.cut.get(),
            tasks: metrics.task.counts(),
            waits: metrics.wait.counts(),
        });
    }

    /// If the manager is gone, the thread that listens to it notices.
    fn send(&self, word: &FromWorker) {
        let _ = control::tell(&*self.control, word);
    }
}

impl LeasedBoard for LeaseClient {
    fn is_idle(&self) -> bool {
        self.page.is_idle()
    }

    fn acquire(&self, metrics: &BoardMetrics) {
        if !self.page.change(LeaseState::Idle, LeaseState::Busy) {
            self.publish(metrics, 0);
            self.send(&FromWorker::RequestBoard);
            self.page.wait();
        }
        let _one = lock(&self.publishing);
        self.page.publish_began(now_ns());
    }

    fn may_go_on(&self) -> bool {
        self.page.is_busy()
    }

    fn release(&self, metrics: &BoardMetrics) {
        self.publish(metrics, 0);
        if !self.page.change(LeaseState::Busy, LeaseState::Idle) {
            self.page.set(LeaseState::NotHeld);
            self.send(&FromWorker::ReturnBoard);
        }
    }
}
