//! Sources of metrics: what counts for itself, and is asked when the metrics are read.

use std::sync::atomic::AtomicU64;

use prometheus_client::metrics::counter::Counter;

/// A counter of seconds.
pub(crate) type Seconds = Counter<f64, AtomicU64>;

/// What counts for itself, and tells the metrics when they are read.
pub(crate) trait Source: Send + Sync {
    /// Tells all until now.
    fn catch_up(&self);
}
