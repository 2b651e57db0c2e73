//! Metrics of a manager, in Prometheus's format.
//!
//! `rackloom_board_busy_seconds_total` is BlastFunction's time utilisation when its increase is divided by the time
//! that passed: "the time spent by the device computing OpenCL calls in a given amount of time" (section III-C). A
//! running task is counted up to now at each scrape, so a window contains what was done in it.

pub(crate) mod exporter;
pub(crate) mod latencies;
pub(crate) mod meter;
mod source;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};
use rackloom_sync::lock;

use self::latencies::Latencies;
use self::meter::Meter;
pub(crate) use self::source::{Seconds, Source};

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

/// The metrics of a manager.
pub struct Metrics {
    registry: Mutex<Registry>,
    sources: Arc<Mutex<Vec<Weak<dyn Source>>>>,
    busy: Family<OfBoard, Seconds>,
    tenant_busy: Family<OfTenant, Seconds>,
    held: Family<OfBoard, Seconds>,
    depth: Family<OfBoard, Gauge>,
    tenants: Family<OfBoard, Gauge>,
    registered: Family<OfBoard, Gauge>,
    task: Family<OfBoard, Latencies>,
    wait: Family<OfBoard, Latencies>,
    cut: Family<OfBoard, Counter>,
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

/// The metrics of one board.
#[derive(Debug, Clone)]
pub(crate) struct BoardMetrics {
    board: String,
    pub(crate) meter: Arc<Meter>,
    /// The meter's counter.
    pub(crate) busy: Seconds,
    sources: Arc<Mutex<Vec<Weak<dyn Source>>>>,
    tenant_busy: Family<OfTenant, Seconds>,
    /// Number of tenants of each name.
    names: Arc<Mutex<BTreeMap<String, u32>>>,
    pub(crate) held: Seconds,
    pub(crate) depth: Gauge,
    tenants: Gauge,
    pub(crate) registered: Gauge,
    pub(crate) task: Latencies,
    pub(crate) wait: Latencies,
    pub(crate) cut: Counter,
    pub(crate) operations: Counter,
    pub(crate) failures: Counter,
    pub(crate) bytes_in: Counter,
    pub(crate) bytes_out: Counter,
    pub(crate) builds: Counter,
}

/// The board time of the tenants of one name. The label goes with the last of these, so labels do not pile up.
#[derive(Debug)]
pub(crate) struct TenantMetrics {
    pub(crate) busy: Seconds,
    tenants: Gauge,
    label: OfTenant,
    names: Arc<Mutex<BTreeMap<String, u32>>>,
    family: Family<OfTenant, Seconds>,
}

/// The number and the durations of a board's reconfigurations.
#[derive(Debug, Clone)]
pub(crate) struct Reconfigurations {
    count: Counter,
    time: Histogram,
}

impl Reconfigurations {
    /// Counts one that took this long.
    pub(crate) fn count(&self, took: Duration) {
        self.count.inc();
        self.time.observe(took.as_secs_f64());
    }
}

/// Buckets from a millisecond (a small image into memory) to 16 seconds (a bitstream through a slow port), each twice
/// the one before.
fn configurations() -> Histogram {
    Histogram::new(exponential_buckets(1e-3, 2.0, 15))
}

impl Default for Metrics {
    fn default() -> Self {
        let metrics = Self {
            registry: Mutex::new(Registry::with_prefix("rackloom")),
            sources: Arc::default(),
            busy: Family::default(),
            tenant_busy: Family::default(),
            held: Family::default(),
            depth: Family::default(),
            tenants: Family::default(),
            registered: Family::default(),
            task: Family::default(),
            wait: Family::default(),
            cut: Family::default(),
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
            "Time that a connected tenant's tasks had the board; of all tenants of its name",
            seconds(),
            metrics.tenant_busy.clone(),
        );
        let held = "Time that the board was kept free, with tasks waiting, for a tenant whose turn it was";
        registry.register_with_unit("board_held", held, seconds(), metrics.held.clone());
        registry.register("board_queue_depth", "Tasks that wait for the board", metrics.depth.clone());
        registry.register("tenants", "Clients that have the board open", metrics.tenants.clone());
        let registered = "Bytes of clients' arenas that the board's runtime has pinned";
        registry.register("board_registered_bytes", registered, metrics.registered.clone());
        registry.register_with_unit("task", "Time that each task had the board", seconds(), metrics.task.clone());
        registry.register_with_unit("task_wait", "Time that each task waited", seconds(), metrics.wait.clone());
        registry.register("tasks_cut", "Tasks that were cut after their time", metrics.cut.clone());
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
        let busy = self.busy.get_or_create_owned(&label);
        let meter = Arc::new(Meter::new(busy.clone()));
        let metrics = BoardMetrics {
            board: name.to_owned(),
            meter,
            busy,
            sources: Arc::clone(&self.sources),
            names: Arc::default(),
            tenant_busy: self.tenant_busy.clone(),
            held: self.held.get_or_create_owned(&label),
            depth: self.depth.get_or_create_owned(&label),
            tenants: self.tenants.get_or_create_owned(&label),
            registered: self.registered.get_or_create_owned(&label),
            task: self.task.get_or_create_owned(&label),
            wait: self.wait.get_or_create_owned(&label),
            cut: self.cut.get_or_create_owned(&label),
            operations: self.operations.get_or_create_owned(&label),
            failures: self.failures.get_or_create_owned(&label),
            bytes_in: bytes(Direction::In),
            bytes_out: bytes(Direction::Out),
            builds: self.builds.get_or_create_owned(&label),
        };
        metrics.watch(&(Arc::clone(&metrics.meter) as Arc<dyn Source>));
        metrics
    }

    /// The reconfigurations of a board of this name.
    pub(crate) fn reconfigurations(&self, name: &str) -> Reconfigurations {
        let label = OfBoard { board: name.to_owned() };
        Reconfigurations {
            count: self.reconfigurations.get_or_create_owned(&label),
            time: self.reconfiguration.get_or_create_owned(&label),
        }
    }

    /// All metrics, as text in the OpenMetrics format.
    #[must_use]
    pub fn text(&self) -> String {
        let sources: Vec<_> = lock(&self.sources).iter().filter_map(Weak::upgrade).collect();
        sources.iter().for_each(|source| source.catch_up());
        drop(sources); // Outside the lock: this may drop the last reference to a source.
        let mut text = String::new();
        encode(&mut text, &lock(&self.registry)).expect("a string takes any text");
        text
    }
}

impl BoardMetrics {
    /// The same, but with a depth of its own, not exported.
    pub(crate) fn with_own_depth(&self) -> Self {
        Self { depth: Gauge::default(), ..self.clone() }
    }

    /// Adds a source, to be brought up to date at each scrape for as long as it lives.
    pub(crate) fn watch(&self, source: &Arc<dyn Source>) {
        let mut sources = lock(&self.sources);
        sources.retain(|source| source.strong_count() > 0);
        sources.push(Arc::downgrade(source));
    }

    /// The metrics of a tenant that opens the board.
    pub(crate) fn tenant(&self, name: String) -> TenantMetrics {
        let label = OfTenant { board: self.board.clone(), tenant: name };
        self.tenants.inc();
        let mut names = lock(&self.names);
        *names.entry(label.tenant.clone()).or_default() += 1;
        let busy = self.tenant_busy.get_or_create_owned(&label);
        let (names, family) = (Arc::clone(&self.names), self.tenant_busy.clone());
        TenantMetrics { busy, tenants: self.tenants.clone(), label, names, family }
    }

    /// Counts a task, or a part of one, that has ended. The meter counts its board time.
    pub(crate) fn task(&self, waited_ns: u64, ran_ns: u64) {
        self.task.observe(ran_ns);
        self.wait.observe(waited_ns);
    }
}

impl Drop for TenantMetrics {
    fn drop(&mut self) {
        let mut names = lock(&self.names);
        let left = names.get_mut(&self.label.tenant).expect("counted when it came");
        *left -= 1;
        if *left == 0 {
            names.remove(&self.label.tenant);
            self.family.remove(&self.label); // The next tenant of this name waits for the lock.
        }
        self.tenants.dec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_counted_is_told() {
        let metrics = Metrics::default();
        let board = metrics.board("one \"quoted\"");
        let tenant = board.tenant("program-7".to_owned());
        board.meter.begin(&tenant.busy, 1_000_000_000);
        board.meter.end(2_500_000_000);
        board.task(2_000, 1_500_000_000);
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

    #[test]
    fn tenants_of_one_name_are_counted_together_until_the_last_has_gone() {
        let metrics = Metrics::default();
        let board = metrics.board("b");
        let (one, two) = (board.tenant("lab".to_owned()), board.tenant("lab".to_owned()));
        for tenant in [&one, &two] {
            board.meter.begin(&tenant.busy, 0);
            board.meter.end(1_000_000_000);
        }
        let line = r#"rackloom_tenant_busy_seconds_total{board="b",tenant="lab"} 2.0"#;
        assert!(metrics.text().contains(line), "{}", metrics.text());
        drop(one);
        assert!(metrics.text().contains(line) && metrics.text().contains(r#"rackloom_tenants{board="b"} 1"#));
        drop(two);
        assert!(!metrics.text().contains("lab"));
    }
}
