//! A manager's counters of its boards and tenants, and the changes between two readings.

use std::collections::BTreeMap;

use super::exposition::Sample;

/// A manager's counters at one time.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Reading {
    /// The boards, by name.
    pub(super) boards: BTreeMap<String, Board>,
    /// Seconds of board time, by board and tenant.
    pub(super) tenants: BTreeMap<(String, String), f64>,
}

/// Counters of a board.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Board {
    pub(super) busy: f64,
    pub(super) depth: f64,
    pub(super) tenants: f64,
    pub(super) tasks: f64,
    pub(super) wait: Histogram,
    pub(super) bytes_in: f64,
    pub(super) bytes_out: f64,
    pub(super) failures: f64,
}

/// Counts of values up to each bound, in rising order; the last bound is infinite.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Histogram(Vec<(f64, f64)>);

impl Reading {
    /// Sorts samples by board and tenant; ignores those that are not a manager's.
    pub(super) fn new(samples: &[Sample]) -> Self {
        let mut this = Self::default();
        for Sample { name, labels, value } in samples {
            let (Some(name), Some(board)) = (name.strip_prefix("rackloom_"), labels.get("board")) else { continue };
            let label = |name: &str| labels.get(name).map_or("", String::as_str);
            if name == "tenant_busy_seconds_total" {
                this.tenants.insert((board.clone(), label("tenant").to_owned()), *value);
                continue;
            }
            let counters = this.boards.entry(board.clone()).or_default();
            let counter = match (name, label("direction")) {
                ("board_busy_seconds_total", _) => &mut counters.busy,
                ("board_queue_depth", _) => &mut counters.depth,
                ("tenants", _) => &mut counters.tenants,
                ("task_seconds_count", _) => &mut counters.tasks,
                ("transfer_bytes_total", "In") => &mut counters.bytes_in,
                ("transfer_bytes_total", "Out") => &mut counters.bytes_out,
                ("failures_total", _) => &mut counters.failures,
                ("task_wait_seconds_bucket", _) => {
                    if let Ok(bound) = label("le").parse() {
                        counters.wait.0.push((bound, *value));
                    }
                    continue;
                }
                _ => continue,
            };
            *counter += value;
        }
        this.boards.values_mut().for_each(|board| board.wait.0.sort_by(|a, b| a.0.total_cmp(&b.0)));
        this
    }

    /// Whether it continues an earlier reading: a counter that went back belongs to a restarted manager.
    pub(super) fn continues(&self, before: &Self) -> bool {
        before
            .boards
            .iter()
            .all(|(name, old)| self.boards.get(name).is_some_and(|new| new.busy >= old.busy && new.tasks >= old.tasks))
    }
}

impl Histogram {
    /// The values added since an earlier reading.
    pub(super) fn since(&self, before: &Self) -> Self {
        let old = |at: usize| before.0.get(at).map_or(0.0, |bucket| bucket.1);
        Self(self.0.iter().enumerate().map(|(at, (bound, count))| (*bound, count - old(at))).collect())
    }

    /// The quantile `q`, 0 to 1, as Prometheus estimates it: values are spread evenly within a bucket, and beyond the
    /// highest finite bound it is that bound. `None` if there are no values.
    pub(super) fn quantile(&self, q: f64) -> Option<f64> {
        let total = self.0.last().filter(|(_, total)| *total > 0.0)?.1;
        let at = self.0.iter().position(|(_, count)| *count >= q * total)?;
        let (low, below) = if at == 0 { (0.0, 0.0) } else { self.0[at - 1] };
        let (high, count) = self.0[at];
        if high.is_infinite() {
            return Some(low);
        }
        let part = if count > below { (q * total - below) / (count - below) } else { 1.0 };
        Some(low + (high - low) * part)
    }
}

#[cfg(test)]
mod tests {
    use super::super::exposition::parse;
    use super::*;

    #[test]
    fn samples_are_sorted_by_board_and_tenant() {
        let text = "\
rackloom_board_busy_seconds_total{board=\"b\"} 1.5
rackloom_tenant_busy_seconds_total{board=\"b\",tenant=\"t\"} 1
rackloom_transfer_bytes_total{board=\"b\",direction=\"In\"} 7
rackloom_transfer_bytes_total{board=\"b\",direction=\"Out\"} 8
rackloom_task_wait_seconds_bucket{board=\"b\",le=\"+Inf\"} 9
rackloom_task_wait_seconds_bucket{board=\"b\",le=\"0.5\"} 4
process_cpu_seconds_total 3
other{board=\"c\"} 3";
        let reading = Reading::new(&parse(text).unwrap());
        let board = &reading.boards["b"];
        assert_eq!((board.busy, board.bytes_in, board.bytes_out), (1.5, 7.0, 8.0));
        assert_eq!(board.wait.0, [(0.5, 4.0), (f64::INFINITY, 9.0)]);
        assert_eq!(reading.tenants[&("b".to_owned(), "t".to_owned())], 1.0);
        assert_eq!(reading.boards.len(), 1);
    }

    #[test]
    fn quantiles_are_those_of_prometheus() {
        let histogram = Histogram(vec![(1.0, 10.0), (2.0, 30.0), (4.0, 30.0), (f64::INFINITY, 40.0)]);
        assert_eq!(histogram.quantile(0.125), Some(0.5));
        assert_eq!(histogram.quantile(0.5), Some(1.5));
        assert_eq!(histogram.quantile(0.75), Some(2.0));
        assert_eq!(histogram.quantile(0.99), Some(4.0), "the highest finite bound");
        let later = Histogram(vec![(1.0, 10.0), (2.0, 32.0), (4.0, 32.0), (f64::INFINITY, 42.0)]);
        assert_eq!(later.since(&histogram).quantile(0.5), Some(1.5));
        assert_eq!(histogram.since(&histogram).quantile(0.5), None);
        assert_eq!(Histogram::default().quantile(0.5), None);
    }

    #[test]
    fn a_restarted_manager_is_recognised() {
        let reading = |busy| Reading {
            boards: BTreeMap::from([("b".to_owned(), Board { busy, ..Board::default() })]),
            ..Reading::default()
        };
        assert!(reading(2.0).continues(&reading(1.0)) && !reading(1.0).continues(&reading(2.0)));
        assert!(!Reading::default().continues(&reading(1.0)), "the board is gone");
    }
}
