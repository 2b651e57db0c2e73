//! What a manager counts, as Prometheus reads it.
//!
//! `rackloom_board_busy_seconds_total` is BlastFunction's time utilisation when its increase is divided by the time
//! that passed: "the time spent by the device computing OpenCL calls in a given amount of time" (section III-C).

use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

type Seconds = Counter<f64, AtomicU64>;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfBoard {
    board: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfTenant {
    board: String,
    tenant: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfTransfer {
    board: String,
    direction: Direction,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EncodeLabelValue)]
enum Direction {
    In,
    Out,
}

/// All that a manager counts.
pub struct Metrics {
    registry: Mutex<Registry>,
    busy: Family<OfBoard, Seconds>,
    tenant_busy: Family<OfTenant, Seconds>,
    depth: Family<OfBoard, Gauge>,
    tenants: Family<OfBoard, Gauge>,
    task: Family<OfBoard, Histogram>,
    wait: Family<OfBoard, Histogram>,
    operations: Family<OfBoard, Counter>,
    failures: Family<OfBoard, Counter>,
    bytes: Family<OfTransfer, Counter>,
    builds: Family<OfBoard, Counter>,
    reconfigurations: Family<OfBoard, Counter>,
    reconfiguration: Family<OfBoard, Histogram>,
}

impl std::fmt::Debug for Metrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

/// What is counted of one board.
#[derive(Debug, Clone)]
pub(crate) struct BoardMetrics {
    board: String,
    busy: Seconds,
    tenant_busy: Family<OfTenant, Seconds>,
    pub(crate) depth: Gauge,
    tenants: Gauge,
    task: Histogram,
    wait: Histogram,
    pub(crate) operations: Counter,
    pub(crate) failures: Counter,
    pub(crate) bytes_in: Counter,
    pub(crate) bytes_out: Counter,
    pub(crate) builds: Counter,
}

/// The board time of one tenant. It is counted until this is dropped, with all else that the tenant had; so labels do
/// not pile up.
#[derive(Debug)]
pub(crate) struct TenantMetrics {
    busy: Seconds,
    tenants: Gauge,
    label: OfTenant,
    family: Family<OfTenant, Seconds>,
}

/// How often a board was configured anew, and how long that took.
#[derive(Debug, Clone)]
pub(crate) struct Reconfigurations {
    count: Counter,
    time: Histogram,
}

impl Reconfigurations {
    /// One took so long.
    pub(crate) fn count(&self, took: Duration) {
        self.count.inc();
        self.time.observe(took.as_secs_f64());
    }
}

/// From 10 microseconds to 2.6 seconds, each four times the one before.
fn latencies() -> Histogram {
    Histogram::new(exponential_buckets(10e-6, 4.0, 10))
}

/// From a millisecond to 16 seconds, each twice the one before: from a small image into memory to a bitstream through a
/// slow port.
fn configurations() -> Histogram {
    Histogram::new(exponential_buckets(1e-3, 2.0, 15))
}

impl Default for Metrics {
    fn default() -> Self {
        let metrics = Self {
            registry: Mutex::new(Registry::with_prefix("rackloom")),
            busy: Family::default(),
            tenant_busy: Family::default(),
            depth: Family::default(),
            tenants: Family::default(),
            task: Family::new_with_constructor(latencies),
            wait: Family::new_with_constructor(latencies),
            operations: Family::default(),
            failures: Family::default(),
            bytes: Family::default(),
            builds: Family::default(),
            reconfigurations: Family::default(),
            reconfiguration: Family::new_with_constructor(configurations),
        };
        let mut registry = lock(&metrics.registry);
        let seconds = || Unit::Seconds;
        registry.register_with_unit("board_busy", "Time that tasks had the board", seconds(), metrics.busy.clone());
        registry.register_with_unit(
            "tenant_busy",
            "Time that a connected tenant's tasks had the board",
            seconds(),
            metrics.tenant_busy.clone(),
        );
        registry.register("board_queue_depth", "Tasks that wait for the board", metrics.depth.clone());
        registry.register("tenants", "Clients that have the board open", metrics.tenants.clone());
        registry.register_with_unit("task", "Time that each task had the board", seconds(), metrics.task.clone());
        registry.register_with_unit("task_wait", "Time that each task waited", seconds(), metrics.wait.clone());
        registry.register("operations", "Operations that ended", metrics.operations.clone());
        registry.register("failures", "Operations that ended with an error", metrics.failures.clone());
        registry.register("transfer_bytes", "Bytes to the board (In) and from it (Out)", metrics.bytes.clone());
        registry.register("builds", "Programs built for the board", metrics.builds.clone());
        registry.register(
            "board_reconfigurations",
            "Times that the board was configured with another image",
            metrics.reconfigurations.clone(),
        );
        registry.register_with_unit(
            "board_reconfiguration",
            "Time that each took, with the board blocked",
            seconds(),
            metrics.reconfiguration.clone(),
        );
        drop(registry);
        metrics
    }
}

impl Metrics {
    /// The metrics of a board of this name.
    pub(crate) fn board(&self, name: &str) -> BoardMetrics {
        let label = OfBoard { board: name.to_owned() };
        let bytes = |direction| self.bytes.get_or_create_owned(&OfTransfer { board: name.to_owned(), direction });
        BoardMetrics {
            board: name.to_owned(),
            busy: self.busy.get_or_create_owned(&label),
            tenant_busy: self.tenant_busy.clone(),
            depth: self.depth.get_or_create_owned(&label),
            tenants: self.tenants.get_or_create_owned(&label),
            task: self.task.get_or_create_owned(&label),
            wait: self.wait.get_or_create_owned(&label),
            operations: self.operations.get_or_create_owned(&label),
            failures: self.failures.get_or_create_owned(&label),
            bytes_in: bytes(Direction::In),
            bytes_out: bytes(Direction::Out),
            builds: self.builds.get_or_create_owned(&label),
        }
    }

    /// The reconfigurations of a board of this name.
    pub(crate) fn reconfigurations(&self, name: &str) -> Reconfigurations {
        let label = OfBoard { board: name.to_owned() };
        Reconfigurations {
            count: self.reconfigurations.get_or_create_owned(&label),
            time: self.reconfiguration.get_or_create_owned(&label),
        }
    }

    /// All, as text in the OpenMetrics format.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        encode(&mut text, &lock(&self.registry)).expect("a string takes any text");
        text
    }
}

impl BoardMetrics {
    /// For a tenant that opens the board.
    pub(crate) fn tenant(&self, name: String) -> TenantMetrics {
        let label = OfTenant { board: self.board.clone(), tenant: name };
        self.tenants.inc();
        let busy = self.tenant_busy.get_or_create_owned(&label);
        TenantMetrics { busy, tenants: self.tenants.clone(), label, family: self.tenant_busy.clone() }
    }

    /// A task has ended.
    pub(crate) fn task(&self, tenant: &TenantMetrics, waited_ns: u64, ran_ns: u64) {
        let (waited, ran) = (waited_ns as f64 * 1e-9, ran_ns as f64 * 1e-9);
        self.busy.inc_by(ran);
        tenant.busy.inc_by(ran);
        self.task.observe(ran);
        self.wait.observe(waited);
    }
}

impl Drop for TenantMetrics {
    fn drop(&mut self) {
        self.family.remove(&self.label);
        self.tenants.dec();
    }
}

fn lock(registry: &Mutex<Registry>) -> std::sync::MutexGuard<'_, Registry> {
    registry.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_counted_is_told() {
        let metrics = Metrics::default();
        let board = metrics.board("one \"quoted\"");
        let tenant = board.tenant("program-7".to_owned());
        board.task(&tenant, 2_000, 1_500_000_000);
        board.bytes_in.inc_by(12);
        let text = metrics.text();
        for line in [
            r#"rackloom_board_busy_seconds_total{board="one \"quoted\""} 1.5"#,
            r#"rackloom_tenant_busy_seconds_total{board="one \"quoted\"",tenant="program-7"} 1.5"#,
            r#"rackloom_task_wait_seconds_bucket{le="0.00001",board="one \"quoted\""} 1"#,
            r#"rackloom_task_seconds_sum{board="one \"quoted\""} 1.5"#,
            r#"rackloom_tenants{board="one \"quoted\""} 1"#,
            r#"rackloom_transfer_bytes_total{board="one \"quoted\"",direction="In"} 12"#,
        ] {
            assert!(text.contains(line), "{line} in\n{text}");
        }
        drop(tenant);
        assert!(!metrics.text().contains("program-7"));
        assert!(metrics.text().contains(r#"rackloom_tenants{board="one \"quoted\""} 0"#));
    }
}
