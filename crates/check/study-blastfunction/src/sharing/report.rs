//! What the bench found: the paper's tables, claims, JSON, charts.

use std::fmt;

use rackloom_report::{Chart, Claim, Legend, Series, Style, Table, claims_table};
use schemars::JsonSchema;
use serde::Serialize;

use super::Options;
use super::greedy::{LightRow, TASK_MS};
use super::load::Latency;
use super::paper::{Figures, NODES, Placement, UseCase, demand, device_ms, rates};
use super::scenario::{FunctionRow, Scenario};
use super::stage::{Boards, Configuration};

/// The schema of [`Report`] as JSON.
pub const SCHEMA: &str = "rackloom.study.blastfunction-sharing/1";

/// Board time of a request.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Service {
    /// What is computed.
    pub use_case: UseCase,
    /// On which node.
    pub node: &'static str,
    /// How long it takes the board, milliseconds.
    pub ms: f64,
}

/// What the bench found.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// `rackloom.study.blastfunction-sharing/1`
    schema: &'static str,
    /// Whether this is an optimised build.
    pub release: bool,
    /// Whether this was only a check that everything works.
    pub quick: bool,
    /// The order of tasks on the boards of the tables: `fair` or `fifo`.
    pub policy: &'static str,
    /// Seconds of load in each configuration.
    pub seconds: u32,
    /// What requests take of the paced boards.
    pub service: Vec<Service>,
    /// All configurations.
    pub configurations: Vec<Configuration>,
    /// A light tenant alone and beside a greedy one.
    pub light: Vec<LightRow>,
    /// The claims, each with its bound and whether it holds.
    claims: Vec<Claim>,
}

impl Report {
    pub(super) fn new(options: &Options, configurations: Vec<Configuration>, light: Vec<LightRow>) -> Self {
        use rackloom_manager::scheduler::Policy;
        let service = |use_case| {
            (0..NODES.len()).map(move |node| Service { use_case, node: NODES[node], ms: device_ms(use_case, node) })
        };
        let mut this = Self {
            schema: SCHEMA,
            release: !cfg!(debug_assertions),
            quick: options.quick,
            policy: match options.policy {
                Policy::Fair => "fair",
                Policy::Fifo => "fifo",
            },
            seconds: options.seconds,
            service: UseCase::ALL.into_iter().flat_map(service).collect(),
            configurations,
            light,
            claims: Vec::new(),
        };
        // The figures of such a check say nothing.
        this.claims = if this.quick { Vec::new() } else { this.judge() };
        this
    }

    /// The claims that were checked.
    #[must_use]
    pub fn claims(&self) -> &[Claim] {
        &self.claims
    }

    /// The configurations of these boards.
    pub fn on(&self, boards: Boards) -> impl Iterator<Item = &Configuration> {
        self.configurations.iter().filter(move |configuration| configuration.boards == boards)
    }

    /// Whether there was no real runtime to measure.
    #[must_use]
    pub fn is_without_runtime(&self) -> bool {
        self.on(Boards::Processor).next().is_none()
    }

    fn judge(&self) -> Vec<Claim> {
        let least = |of: &mut dyn Iterator<Item = f64>| of.fold(f64::INFINITY, f64::min);
        let ratios = |scenario: &Scenario| scenario.functions.iter().map(|row| row.ratio).collect::<Vec<_>>();
        let paced = || self.on(Boards::Paced);
        let mut claims = vec![
            Claim::at_least(
                "sharing, boards with capacity: processed / target",
                least(&mut paced().flat_map(|c| {
                    let rows = c.shared.functions.iter().zip(c.placement.places());
                    rows.filter(|(_, place)| !c.is_over(*place)).map(|(row, _)| row.ratio)
                })),
                0.99,
            ),
            Claim::at_least("native: processed / target", least(&mut paced().flat_map(|c| ratios(&c.native))), 0.99),
            Claim::at_least(
                "processed / the paper's, sums and functions",
                least(&mut paced().flat_map(|c| [&c.shared, &c.native]).flat_map(beside_the_paper)),
                1.0,
            ),
            Claim::at_least(
                "boards asked for more than they have: time used",
                least(&mut paced().flat_map(|c| {
                    let over = (0..NODES.len()).filter(|node| c.is_over(*node));
                    over.map(|node| used(&c.shared, NODES[node]) / 100.0)
                })),
                0.9,
            ),
        ];
        if let [alone, fair, _] = &self.light[..] {
            let bound = 2.0 * alone.latency.p99_ms + TASK_MS;
            claims.push(Claim::at_most(
                "light tenant, fair: p99 / (2 x alone + one task)",
                fair.latency.p99_ms / bound,
                1.0,
            ));
        }
        if !self.is_without_runtime() {
            claims.push(Claim::at_least(
                "sharing, on the processor: processed / target",
                least(&mut self.on(Boards::Processor).flat_map(|c| ratios(&c.shared))),
                0.99,
            ));
        }
        claims
    }

    /// Charts, with names for their files: what is processed of what is asked, by use case, and the light tenant's
    /// latencies.
    #[must_use]
    pub fn svgs(&self) -> Vec<(&'static str, String)> {
        let mut all: Vec<_> = UseCase::ALL.into_iter().map(|of| (of.program(), self.throughput(of))).collect();
        all.push(("light", self.curves()));
        all
    }

    fn throughput(&self, of: UseCase) -> String {
        let as_there = |c: &&Configuration| c.use_case == of && c.placement == Placement::Paper;
        let rows: Vec<_> = self.on(Boards::Paced).filter(as_there).collect();
        let line = |name: &str, style, figures: fn(&Configuration) -> Option<Figures>| Series {
            name: name.to_owned(),
            points: rows.iter().filter_map(|c| figures(c)).map(|f| (f.target, f.processed)).collect(),
            style,
        };
        let most = rows.iter().map(|c| c.shared.sum.target).fold(0.0, f64::max);
        let chart = Chart {
            title: &format!("{}: requests processed", of.program()),
            x: "requests a second asked for",
            y: "requests a second processed",
            log: false,
            legend: Legend::UpperLeft,
            series: vec![
                Series { name: "all".into(), points: vec![(0.0, 0.0), (most, most)], style: Style::Ideal },
                line("five functions share", Style::Ours(0), |c| Some(c.shared.sum)),
                line("three have a board each", Style::Ours(1), |c| Some(c.native.sum)),
                line("the paper: five share", Style::Theirs(0), |c| c.shared.paper),
                line("the paper: a board each", Style::Theirs(1), |c| c.native.paper),
            ],
        };
        chart.svg()
    }

    fn curves(&self) -> String {
        let curve = |(number, row): (usize, &LightRow)| {
            let last = row.curve_ms.len().saturating_sub(1).max(1) as f64;
            let part = |(i, ms): (usize, &f64)| (i as f64 / last * 100.0, *ms);
            let style = if row.case == "fifo" { Style::Theirs(0) } else { Style::Ours(number) };
            Series { name: row.case.to_owned(), points: row.curve_ms.iter().enumerate().map(part).collect(), style }
        };
        let chart = Chart {
            title: "A light tenant beside a greedy one",
            x: "percent of requests",
            y: "took no longer than, milliseconds",
            log: false,
            legend: Legend::UpperLeft,
            series: self.light.iter().enumerate().map(curve).collect(),
        };
        chart.svg()
    }

    /// Table I, as far as it was measured.
    fn rates(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Table I: requests a second of each function; natively there are the first three\n")?;
        let mut table = Table::new(&["", ">1ST", ">2ND", ">3RD", ">4TH", ">5TH"]);
        for c in self.on(Boards::Paced).filter(|c| c.placement == Placement::Paper) {
            let mut cells = vec![format!("{} {}", c.use_case.program(), load_name(c))];
            cells.extend(rates(c.use_case, c.load).map(|rate| rate.to_string()));
            table.row(cells);
        }
        writeln!(f, "{table}")
    }

    fn table(&self, f: &mut fmt::Formatter<'_>, title: &str, rows: &[&Configuration]) -> fmt::Result {
        if rows.is_empty() {
            return Ok(());
        }
        writeln!(f, "{title}\n")?;
        let mut table = Table::new(&["", ">UTIL", ">MEAN", ">P99", ">DONE", ">TARGET", ">RATIO", ">PAPER"]);
        let mut saturated = false;
        for c in rows {
            for (scenario, what) in [(&c.shared, "shared"), (&c.native, "native")] {
                let mut name = format!("{} {what}", load_name(c));
                if c.boards == Boards::Processor {
                    name = format!("{} {name}", c.use_case.program());
                }
                table.row(cells(name, &scenario.sum, None, scenario.paper, false));
                let is_told_apart = c.use_case == UseCase::Sobel && c.boards == Boards::Paced;
                for (row, place) in scenario.functions.iter().zip(c.placement.places()).filter(|_| is_told_apart) {
                    let over = what == "shared" && c.is_over(place);
                    saturated |= over;
                    let name = format!("  {} on {}", row.name, row.node);
                    table.row(cells(name, &row.figures, Some(row.latency.p99_ms), row.paper, over));
                }
            }
        }
        writeln!(f, "{table}")?;
        if saturated {
            writeln!(f, "* on a board that is asked for more than all of its time\n")?;
        }
        if rows.iter().any(|c| c.placement == Placement::UnderLoad) {
            writeln!(f, "high+: functions placed one after another, while those before are under load\n")?;
        }
        Ok(())
    }
}

impl Configuration {
    /// Whether the functions on a node ask for more than all of its board's time.
    fn is_over(&self, node: usize) -> bool {
        demand(self.use_case, self.load, self.placement, node) >= 1.0
    }
}

/// Processed, by what the paper has, for the sum and each function that it tells.
fn beside_the_paper(scenario: &Scenario) -> Vec<f64> {
    let by = |ours: &Figures, theirs: Option<Figures>| theirs.map(|theirs| ours.processed / theirs.processed);
    let rows = scenario.functions.iter().filter_map(|row| by(&row.figures, row.paper));
    rows.chain(by(&scenario.sum, scenario.paper)).collect()
}

/// Percent of a node's time that its functions used.
fn used(scenario: &Scenario, node: &str) -> f64 {
    let here = scenario.functions.iter().filter(|row: &&FunctionRow| row.node == node);
    here.map(|row| row.figures.utilisation).sum()
}

/// As in `low`; `high+` where functions were placed under load.
fn load_name(c: &Configuration) -> String {
    let name = format!("{:?}", c.load).to_lowercase();
    match c.placement {
        Placement::UnderLoad => name + "+",
        Placement::Paper => name,
    }
}

fn cells(name: String, figures: &Figures, p99: Option<f64>, paper: Option<Figures>, over: bool) -> Vec<String> {
    vec![
        name,
        format!("{:.1}%", figures.utilisation),
        format!("{:.2}", figures.latency_ms),
        p99.map_or_else(String::new, |p99| format!("{p99:.2}")),
        format!("{:.2}", figures.processed),
        format!("{:.0}", figures.target),
        format!("{:.3}{}", figures.processed / figures.target, if over { "*" } else { "" }),
        paper.map_or_else(String::new, |paper| format!("{:.2}", paper.processed)),
    ]
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "Latencies (mean, p99) in milliseconds, done and target in requests a second;\nPAPER: what was done there\n"
        )?;
        self.rates(f)?;
        for (number, of) in ["II", "III", "IV"].into_iter().zip(UseCase::ALL) {
            let rows: Vec<_> = self.on(Boards::Paced).filter(|c| c.use_case == of).collect();
            self.table(f, &format!("Table {number}: {} on boards of the paper's pace", of.program()), &rows)?;
        }
        let rows: Vec<_> = self.on(Boards::Processor).collect();
        self.table(f, "On this machine's processor", &rows)?;
        writeln!(f, "A light tenant (tasks of 2 ms) beside a greedy one (ten of {TASK_MS} ms under way)\n")?;
        let mut table = Table::new(&["", ">ANSWERED", ">ASKED", ">MEAN", ">P50", ">P99", ">MAX"]);
        for row in &self.light {
            let Latency { mean_ms, p50_ms, p99_ms, max_ms } = row.latency;
            let times = [mean_ms, p50_ms, p99_ms, max_ms].map(|ms| format!("{ms:.2}"));
            let mut cells = vec![row.case.to_owned(), row.answered.to_string(), row.asked.to_string()];
            cells.extend(times);
            table.row(cells);
        }
        write!(f, "{table}")?;
        if !self.claims.is_empty() {
            write!(f, "\n{}", claims_table(&self.claims))?;
        }
        Ok(())
    }
}
