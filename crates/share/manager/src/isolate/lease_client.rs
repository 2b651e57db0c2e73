//! The worker's side of its turns: it asks for the board before a task, unless it still has it.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};

use rackloom_opencl_wire::now_ns;

use super::control::{self, Word};
use super::shared_page::{Hold, Page, Tally};
use crate::metrics::BoardMetrics;

/// The way to the board.
#[derive(Debug)]
pub(crate) struct Gate {
    page: Page,
    control: Arc<OwnedFd>,
    /// One tells at a time.
    telling: Mutex<()>,
}

/// The board, had for a task, and given back if others want it.
#[derive(Debug)]
pub(crate) struct Pass<'a> {
    gate: &'a Gate,
    metrics: &'a BoardMetrics,
}

impl Gate {
    pub(super) fn new(page: Page, control: Arc<OwnedFd>) -> Self {
        Self { page, control, telling: Mutex::default() }
    }

    /// Whether a task would have the board at once.
    pub(crate) fn is_lent(&self) -> bool {
        self.page.is_lent()
    }

    /// Waits for the board.
    pub(crate) fn enter<'a>(&'a self, metrics: &'a BoardMetrics) -> Pass<'a> {
        if !self.page.change(Hold::Lent, Hold::Busy) {
            self.tell(metrics, 0);
            self.say(&Word::Ask);
            self.page.wait();
        }
        self.tell(metrics, now_ns());
        Pass { gate: self, metrics }
    }

    /// Tells what was counted; since when a task runs, or 0.
    pub(super) fn tell(&self, metrics: &BoardMetrics, began: u64) {
        let _one = self.telling.lock().unwrap_or_else(PoisonError::into_inner);
        self.page.publish(&Tally {
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
    fn say(&self, word: &Word) {
        let _ = control::send(&*self.control, word, &[]);
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        let Self { gate, metrics } = self;
        gate.tell(metrics, 0);
        if !gate.page.change(Hold::Busy, Hold::Lent) {
            gate.page.set(Hold::None);
            gate.say(&Word::Leave);
        }
    }
}
