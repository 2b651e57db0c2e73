//! The meter of a board's use: charges board and tenant while a task runs, not only when it has ended.

use std::sync::Mutex;

use rackloom_opencl_wire::now_ns;
use rackloom_sync::lock;

use super::source::{Seconds, Source};

/// Counts the time that tasks hold a board.
#[derive(Debug)]
pub(crate) struct Meter {
    busy: Seconds,
    running: Mutex<Option<Running>>,
}

#[derive(Debug)]
struct Running {
    tenant: Seconds,
    /// End of the time charged so far, in nanoseconds of our clock.
    charged: u64,
}

impl Meter {
    pub(crate) const fn new(busy: Seconds) -> Self {
        Self { busy, running: Mutex::new(None) }
    }

    /// A tenant's task begins.
    pub(crate) fn begin(&self, tenant: &Seconds, now: u64) {
        let before = lock(&self.running).replace(Running { tenant: tenant.clone(), charged: now });
        assert!(before.is_none(), "a board runs one task at a time");
    }

    /// The task ends.
    pub(crate) fn end(&self, now: u64) {
        let running = lock(&self.running).take();
        self.charge(&mut running.expect("a task began"), now);
    }

    fn charge(&self, running: &mut Running, now: u64) {
        let seconds = now.saturating_sub(running.charged) as f64 * 1e-9;
        running.charged = running.charged.max(now);
        self.busy.inc_by(seconds);
        running.tenant.inc_by(seconds);
    }
}

impl Source for Meter {
    /// Charges the running task up to now.
    fn catch_up(&self) {
        if let Some(running) = &mut *lock(&self.running) {
            self.charge(running, now_ns());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_that_runs_is_charged_up_to_now_and_nothing_twice() {
        let (busy, tenant) = (Seconds::default(), Seconds::default());
        let meter = Meter::new(busy.clone());
        meter.catch_up();
        assert_eq!(busy.get(), 0.0);
        let began = now_ns();
        meter.begin(&tenant, began - 5_000_000_000);
        meter.catch_up();
        let so_far = busy.get();
        assert!(so_far >= 5.0 && tenant.get() == so_far, "{so_far}");
        meter.end(began + 60_000_000_000);
        assert!((busy.get() - 65.0).abs() < 1e-6 && (tenant.get() - 65.0).abs() < 1e-6, "{}", busy.get());
        meter.catch_up();
        assert!((busy.get() - 65.0).abs() < 1e-6);
    }
}
