//! Sources of metrics that are brought up to date when the metrics are read.

use std::sync::atomic::AtomicU64;

use prometheus_client::metrics::counter::Counter;

/// A counter of seconds.
pub(crate) type Seconds = Counter<f64, AtomicU64>;

/// A source of metrics that counts on its own.
pub(crate) trait Source: Send + Sync {
    /// Brings the metrics up to date.
    fn catch_up(&self);
}
