//! A Prometheus histogram of latencies whose counts can be passed between processes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use prometheus_client::encoding::{EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::{MetricType, TypedMetric};

/// Number of buckets: from 10 microseconds to 5.2 seconds, each twice the one before, and one for anything longer.
pub(crate) const BUCKETS: usize = 21;

/// Upper bound of the first bucket, in nanoseconds.
const FIRST_NS: u64 = 10_000;

/// A histogram of durations.
#[derive(Debug, Clone, Default)]
pub(crate) struct Latencies(Arc<Cells>);

#[derive(Debug, Default)]
struct Cells {
    counts: [AtomicU64; BUCKETS],
    sum_ns: AtomicU64,
}

/// The counts of each bucket, and the sum in nanoseconds.
pub(crate) type Counts = ([u64; BUCKETS], u64);

impl Latencies {
    /// Counts a duration of `ns` nanoseconds.
    pub(crate) fn observe(&self, ns: u64) {
        let bucket = (0..BUCKETS - 1).find(|bucket| ns <= FIRST_NS << bucket).unwrap_or(BUCKETS - 1);
        self.0.counts[bucket].fetch_add(1, Ordering::Relaxed);
        self.0.sum_ns.fetch_add(ns, Ordering::Relaxed);
    }

    /// Adds counts of another histogram.
    pub(crate) fn add(&self, (counts, sum_ns): &Counts) {
        for (cell, count) in self.0.counts.iter().zip(counts) {
            cell.fetch_add(*count, Ordering::Relaxed);
        }
        self.0.sum_ns.fetch_add(*sum_ns, Ordering::Relaxed);
    }

    /// The counts at present.
    pub(crate) fn counts(&self) -> Counts {
        let counts = std::array::from_fn(|bucket| self.0.counts[bucket].load(Ordering::Relaxed));
        (counts, self.0.sum_ns.load(Ordering::Relaxed))
    }
}

impl TypedMetric for Latencies {
    const TYPE: MetricType = MetricType::Histogram;
}

impl EncodeMetric for Latencies {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), std::fmt::Error> {
        let (counts, sum_ns) = self.counts();
        let bound = |bucket| if bucket < BUCKETS - 1 { (FIRST_NS << bucket) as f64 * 1e-9 } else { f64::INFINITY };
        let buckets: Vec<_> = counts.iter().enumerate().map(|(bucket, count)| (bound(bucket), *count)).collect();
        encoder.encode_histogram::<NoLabelSet>(sum_ns as f64 * 1e-9, counts.iter().sum(), &buckets, None)
    }

    fn metric_type(&self) -> MetricType {
        Self::TYPE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_belong_to_their_buckets_and_counts_add_up() {
        let here = Latencies::default();
        for ns in [0, 10_000, 10_001, 20_000, 5_242_880_000, 5_242_880_001, 1 << 60] {
            here.observe(ns);
        }
        let (counts, sum_ns) = here.counts();
        assert_eq!((counts[0], counts[1], counts[BUCKETS - 2], counts[BUCKETS - 1]), (2, 2, 1, 2));
        assert_eq!(sum_ns, 40_001 + 2 * 5_242_880_000 + 1 + (1 << 60));
        let all = Latencies::default();
        all.add(&here.counts());
        all.observe(15_000);
        assert_eq!(all.counts().0[1], 3);
        assert_eq!(here.counts().0[1], 2);
    }
}
