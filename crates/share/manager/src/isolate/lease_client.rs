//! The worker's side of its lease: it asks for the board before a task, unless it still has it.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};

use rackloom_opencl_wire::now_ns;

use super::control::{self, FromWorker};
use super::shared_page::{LeaseState, SharedPage, WorkerCounters};
use crate::metrics::BoardMetrics;
use crate::schedule::task::LeasedBoard;
use crate::sync::lock;

/// The way to the board.
#[derive(Debug)]
pub(super) struct LeaseClient {
    page: SharedPage,
    control: Arc<OwnedFd>,
    /// One tells at a time.
    telling: Mutex<()>,
}

impl LeaseClient {
    pub(super) fn new(page: SharedPage, control: Arc<OwnedFd>) -> Self {
        Self { page, control, telling: Mutex::default() }
    }

    /// Tells what was counted; since when a task runs, or 0.
    pub(super) fn tell(&self, metrics: &BoardMetrics, began: u64) {
        let _one = lock(&self.telling);
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

    /// A manager that is gone is noticed by who listens to it.
    fn say(&self, word: &FromWorker) {
        let _ = control::send(&*self.control, word, &[]);
    }
}

impl LeasedBoard for LeaseClient {
    fn is_idle(&self) -> bool {
        self.page.is_idle()
    }

    fn acquire(&self, metrics: &BoardMetrics) {
        if !self.page.change(LeaseState::Idle, LeaseState::Busy) {
            self.tell(metrics, 0);
            self.say(&FromWorker::RequestBoard);
            self.page.wait();
        }
        self.tell(metrics, now_ns());
    }

    fn release(&self, metrics: &BoardMetrics) {
        self.tell(metrics, 0);
        if !self.page.change(LeaseState::Busy, LeaseState::Idle) {
            self.page.set(LeaseState::NotHeld);
            self.say(&FromWorker::ReturnBoard);
        }
    }
}
