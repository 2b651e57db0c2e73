//! The state of managers, as tables and JSON.

use rackloom_report::Table;
use schemars::JsonSchema;
use serde::Serialize;

use super::brief;

/// Boards and tenants of managers over an interval.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct TopReport {
    /// `rackloom.top/1`
    pub(super) schema: &'static str,
    /// The interval over which rates are averaged, seconds.
    pub(super) interval: f64,
    /// The managers, in the order of the command line.
    pub(super) managers: Vec<ManagerRow>,
}

/// A manager.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct ManagerRow {
    /// Where it serves its metrics.
    pub(super) address: String,
    /// `up` or `lost`.
    pub(super) state: &'static str,
    /// Why it is lost.
    pub(super) error: Option<String>,
    /// Its boards, by name; for a lost manager, the last ones known.
    pub(super) boards: Vec<BoardRow>,
    /// The connected tenants, the largest share first.
    pub(super) tenants: Vec<TenantRow>,
}

/// A board. Figures of the interval are null in the first report and for a lost manager.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub(super) struct BoardRow {
    /// Its name.
    pub(super) board: String,
    /// The fraction of the interval in which it computed, 0 to 1.
    pub(super) utilisation: Option<f64>,
    /// Tasks waiting now.
    pub(super) queue_depth: Option<u64>,
    /// Tenants that have it open now.
    pub(super) tenants: Option<u64>,
    /// Tasks completed per second.
    pub(super) tasks_per_second: Option<f64>,
    /// Median wait of a task, seconds; null if there was no task.
    pub(super) wait_p50: Option<f64>,
    /// 99th percentile of the wait of a task, seconds.
    pub(super) wait_p99: Option<f64>,
    /// Bytes to it per second.
    pub(super) bytes_in_per_second: Option<f64>,
    /// Bytes from it per second.
    pub(super) bytes_out_per_second: Option<f64>,
    /// Failed operations since its manager started.
    pub(super) failures: Option<u64>,
}

/// A tenant on a board.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(super) struct TenantRow {
    /// Its name.
    pub(super) tenant: String,
    /// The board.
    pub(super) board: String,
    /// The fraction of the interval in which it had the board, 0 to 1.
    pub(super) share: Option<f64>,
}

impl TopReport {
    /// Whether none of the managers answers.
    pub(crate) fn is_all_lost(&self) -> bool {
        self.managers.iter().all(|manager| manager.error.is_some())
    }

    /// Whether some manager does not answer.
    pub(crate) fn is_any_lost(&self) -> bool {
        self.managers.iter().any(|manager| manager.error.is_some())
    }

    /// The first lost manager, and why it is lost.
    pub(crate) fn first_loss(&self) -> Option<(&str, &str)> {
        self.managers.iter().find_map(|manager| Some((&*manager.address, manager.error.as_deref()?)))
    }

    /// The tables, in 80 columns.
    pub(crate) fn text(&self) -> String {
        let parts: Vec<_> = self.managers.iter().map(|manager| manager.text(self.managers.len() > 1)).collect();
        parts.join("\n")
    }
}

/// Columns of a board's name, of 80.
const BOARD: usize = 20;
/// Columns of a tenant's name, of 80.
const TENANT: usize = 32;

impl ManagerRow {
    fn text(&self, with_address: bool) -> String {
        let mut text = match &self.error {
            Some(why) => format!("{}: lost, {why}\n", self.address),
            None if with_address => format!("{}\n", self.address),
            None => String::new(),
        };
        if !self.boards.is_empty() {
            let mut boards = Table::new(&BoardRow::HEADINGS);
            self.boards.iter().for_each(|board| boards.row(board.cells(BOARD)));
            text += &boards.to_string();
        }
        if !self.tenants.is_empty() {
            let mut tenants = Table::new(&["TENANT", ">SHARE", "BOARD"]);
            self.tenants.iter().for_each(|tenant| tenants.row(tenant.cells(TENANT)));
            text.push('\n');
            text += &tenants.to_string();
        }
        text
    }
}

impl BoardRow {
    pub(super) const HEADINGS: [&'static str; 10] =
        ["BOARD", ">UTIL", ">QUEUE", ">TEN", ">TASK/s", ">P50", ">P99", ">IN/s", ">OUT/s", ">ERR"];

    /// The cells under the headings; the name takes at most `width` columns.
    pub(super) fn cells(&self, width: usize) -> [String; 10] {
        let count = |n: Option<u64>| n.map_or_else(unknown, |n| brief::number(n as f64));
        let rate = |n: Option<f64>| n.map_or_else(unknown, brief::number);
        let time = |n: Option<f64>| n.map_or_else(unknown, brief::time);
        [
            brief::name(&self.board, width),
            self.utilisation.map_or_else(unknown, brief::percent),
            count(self.queue_depth),
            count(self.tenants),
            rate(self.tasks_per_second),
            time(self.wait_p50),
            time(self.wait_p99),
            rate(self.bytes_in_per_second),
            rate(self.bytes_out_per_second),
            count(self.failures),
        ]
    }
}

impl TenantRow {
    /// The cells; each name takes at most `width` columns.
    pub(super) fn cells(&self, width: usize) -> [String; 3] {
        let share = self.share.map_or_else(unknown, brief::percent);
        [brief::name(&self.tenant, width), share, brief::name(&self.board, width)]
    }
}

fn unknown() -> String {
    "-".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widest_rows_fit_80_columns() {
        let widest = BoardRow {
            board: "pthread-skylake-avx512-AMD EPYC with much to say #12".to_owned(),
            utilisation: Some(1.0),
            queue_depth: Some(99_999),
            tenants: Some(128),
            tasks_per_second: Some(99_949.0),
            wait_p50: Some(0.000_949),
            wait_p99: Some(999.0),
            bytes_in_per_second: Some(94.9e9),
            bytes_out_per_second: Some(999.4e9),
            failures: Some(12_345_678),
        };
        let tenant = TenantRow { tenant: "x".repeat(253), board: widest.board.clone(), share: Some(0.5) };
        let address = "a-manager.example.org:9464".to_owned();
        let manager = ManagerRow { address, state: "up", error: None, boards: vec![widest], tenants: vec![tenant] };
        let report = TopReport { schema: "rackloom.top/1", interval: 1.0, managers: vec![manager.clone(), manager] };
        let text = report.text();
        assert!(text.lines().all(|line| line.chars().count() <= 80 && !line.ends_with('…')), "{text}");
        assert!(text.contains("pthread-s…h to say #12") || text.contains("pthread-s…to say #12"), "{text}");
    }
}
