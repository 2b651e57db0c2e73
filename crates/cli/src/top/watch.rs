//! Queries managers, and computes rates from two queries.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, Instant};

use ureq::Agent;

use super::counters::{Board, Reading};
use super::exposition;
use super::report::{BoardRow, ManagerRow, TenantRow, TopReport};

/// Where a manager serves its metrics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    shown: String,
    url: String,
}

impl Address {
    /// The default address: OpenTelemetry's port for the metrics of one process.
    pub(crate) const DEFAULT: &'static str = "127.0.0.1:9464";
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl FromStr for Address {
    type Err = String;

    /// `ADDRESS:PORT`, or `http://ADDRESS:PORT/PATH`.
    fn from_str(text: &str) -> Result<Self, String> {
        let shown = text.strip_prefix("http://").unwrap_or(text).trim_end_matches('/');
        if shown.contains("://") {
            return Err(format!("invalid address `{text}`: managers serve metrics by plain HTTP"));
        }
        let (host, path) = shown.split_once('/').unwrap_or((shown, "metrics"));
        let port = host.rsplit_once(':').filter(|(name, _)| !name.is_empty()).map(|(_, port)| port.parse::<u16>());
        if !matches!(port, Some(Ok(1..))) {
            return Err(format!("invalid address `{text}`: expected ADDRESS:PORT, such as {}", Self::DEFAULT));
        }
        Ok(Self { shown: host.to_owned(), url: format!("http://{host}/{path}") })
    }
}

/// The managers to watch.
#[derive(Debug)]
pub(crate) struct Watch {
    agent: Agent,
    interval: Duration,
    managers: Vec<Manager>,
}

#[derive(Debug)]
struct Manager {
    address: Address,
    /// The last query's time and result, unless it failed.
    before: Option<(Instant, Reading)>,
    /// The boards in the last result.
    boards: Vec<String>,
}

/// Longest wait for a manager.
const PATIENCE: Duration = Duration::from_secs(2);
/// Longest answer of a manager, bytes: about ten thousand series.
const ANSWER_MAX: u64 = 4 << 20;

impl Watch {
    /// Prepares to query these managers. The caller keeps to the interval; a manager that takes longer is lost.
    pub(crate) fn new(addresses: Vec<Address>, interval: Duration) -> Self {
        let agent = Agent::config_builder()
            .timeout_global(Some(interval.clamp(Duration::from_millis(200), PATIENCE)))
            .proxy(None)
            .max_redirects(0)
            .build()
            .new_agent();
        let managers = addresses.into_iter().map(|address| Manager { address, before: None, boards: Vec::new() });
        Self { agent, interval, managers: managers.collect() }
    }

    /// Queries all managers at the same time.
    pub(crate) fn look(&mut self) -> TopReport {
        let agent = &self.agent;
        let rows = std::thread::scope(|scope| {
            let looks: Vec<_> = self
                .managers
                .iter_mut()
                .map(|manager| {
                    scope.spawn(move || {
                        let read = read(agent, &manager.address.url);
                        manager.row(Instant::now(), read)
                    })
                })
                .collect();
            looks.into_iter().map(|look| look.join().expect("a query does not panic")).collect()
        });
        TopReport { schema: "rackloom.top/1", interval: self.interval.as_secs_f64(), managers: rows }
    }
}

fn read(agent: &Agent, url: &str) -> Result<Reading, String> {
    let mut response = agent.get(url).call().map_err(|why| why.to_string())?;
    let text = response.body_mut().with_config().limit(ANSWER_MAX).read_to_string().map_err(|why| why.to_string())?;
    let reading = Reading::new(&exposition::parse(&text).map_err(|why| why.to_string())?);
    if reading.boards.is_empty() { Err("no metrics of boards in the answer".to_owned()) } else { Ok(reading) }
}

impl Manager {
    /// The row after a query.
    fn row(&mut self, now: Instant, read: Result<Reading, String>) -> ManagerRow {
        let address = self.address.to_string();
        let reading = match read {
            Ok(reading) => reading,
            Err(why) => {
                self.before = None;
                let lost = |name: &String| BoardRow { board: name.clone(), ..BoardRow::default() };
                let boards = self.boards.iter().map(lost).collect();
                return ManagerRow { address, state: "lost", error: Some(why), boards, tenants: Vec::new() };
            }
        };
        let before = self.before.take().filter(|(_, before)| reading.continues(before));
        let before = before.map(|(then, before)| ((now - then).as_secs_f64(), before));
        let boards = reading.boards.iter().map(|(name, board)| {
            let old = before.as_ref().and_then(|(passed, before)| Some((*passed, before.boards.get(name)?)));
            board_row(name, board, old)
        });
        let tenants = reading.tenants.iter().map(|((board, tenant), busy)| {
            // A new tenant began with nothing; so did one that took over a name.
            let share = before.as_ref().map(|(passed, before)| {
                let old = before.tenants.get(&(board.clone(), tenant.clone())).filter(|old| *old <= busy);
                (busy - old.unwrap_or(&0.0)) / passed
            });
            TenantRow { tenant: tenant.clone(), board: board.clone(), share }
        });
        let (boards, mut tenants): (Vec<_>, Vec<_>) = (boards.collect(), tenants.collect());
        tenants.sort_by(|a, b| b.share.unwrap_or(0.0).total_cmp(&a.share.unwrap_or(0.0)));
        self.boards = reading.boards.keys().cloned().collect();
        self.before = Some((now, reading));
        ManagerRow { address, state: "up", error: None, boards, tenants }
    }
}

/// A board's row, from its counters now and some seconds before.
fn board_row(name: &str, now: &Board, before: Option<(f64, &Board)>) -> BoardRow {
    let rate = |of: fn(&Board) -> f64| before.map(|(passed, before)| (of(now) - of(before)) / passed);
    let wait = before.map(|(_, before)| now.wait.since(&before.wait));
    let quantile = |q| wait.as_ref().and_then(|wait| wait.quantile(q));
    BoardRow {
        board: name.to_owned(),
        // The manager's clock and ours are read at slightly different times.
        utilisation: rate(|board| board.busy).map(|busy| busy.clamp(0.0, 1.0)),
        queue_depth: Some(now.depth as u64),
        tenants: Some(now.tenants as u64),
        tasks_per_second: rate(|board| board.tasks),
        wait_p50: quantile(0.5),
        wait_p99: quantile(0.99),
        bytes_in_per_second: rate(|board| board.bytes_in),
        bytes_out_per_second: rate(|board| board.bytes_out),
        failures: Some(now.failures as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_a_port_and_plain_http() {
        let url = |text: &str| text.parse::<Address>().map(|address| address.url);
        assert_eq!(url("10.0.0.7:9464").as_deref(), Ok("http://10.0.0.7:9464/metrics"));
        assert_eq!(url("http://[::1]:80/").as_deref(), Ok("http://[::1]:80/metrics"));
        assert_eq!(url("http://host:80/other/path").as_deref(), Ok("http://host:80/other/path"));
        for bad in ["", "host", "host:", ":80", "host:0", "host:99999", "https://host:80", "unix:/run/x"] {
            assert!(url(bad).is_err(), "{bad}");
        }
        assert!(Address::DEFAULT.parse::<Address>().is_ok());
    }

    fn reading(busy: f64, tasks: f64, tenants: &[(&str, f64)]) -> Reading {
        let of = |(name, busy): &(&str, f64)| (("b".to_owned(), (*name).to_owned()), *busy);
        Reading {
            boards: [("b".to_owned(), Board { busy, tasks, ..Board::default() })].into(),
            tenants: tenants.iter().map(of).collect(),
        }
    }

    #[test]
    fn rates_cover_the_interval_and_a_lost_manager_comes_back() {
        let address: Address = Address::DEFAULT.parse().unwrap();
        let mut manager = Manager { address, before: None, boards: Vec::new() };
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let first = manager.row(at(0), Ok(reading(100.0, 7.0, &[("a", 60.0), ("b", 40.0)])));
        assert_eq!((first.state, first.boards[0].utilisation, first.boards[0].queue_depth), ("up", None, Some(0)));
        assert_eq!(first.tenants[0].share, None);
        let second = manager.row(at(2), Ok(reading(101.0, 27.0, &[("a", 60.25), ("b", 40.5), ("c", 0.25)])));
        assert_eq!((second.boards[0].utilisation, second.boards[0].tasks_per_second), (Some(0.5), Some(10.0)));
        let shares: Vec<_> = second.tenants.iter().map(|row| (&*row.tenant, row.share.unwrap())).collect();
        assert_eq!(shares, [("b", 0.25), ("a", 0.125), ("c", 0.125)]);
        let lost = manager.row(at(4), Err("gone".to_owned()));
        assert_eq!((lost.state, lost.error.as_deref()), ("lost", Some("gone")));
        assert_eq!(lost.boards, [BoardRow { board: "b".to_owned(), ..BoardRow::default() }]);
        let back = manager.row(at(6), Ok(reading(1.0, 1.0, &[])));
        assert_eq!((back.state, back.boards[0].utilisation), ("up", None), "no rate spans the time when it was lost");
        let restarted = manager.row(at(8), Ok(reading(0.5, 1.0, &[])));
        assert_eq!(restarted.boards[0].utilisation, None, "its counters went back");
        let on = manager.row(at(10), Ok(reading(1.5, 1.0, &[])));
        assert_eq!(on.boards[0].utilisation, Some(0.5));
    }
}
