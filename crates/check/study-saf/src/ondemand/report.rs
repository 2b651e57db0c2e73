//! What `saf-ondemand` found.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use super::Options;
use super::energy::{self, Energies, Finding, busy_kj};
use super::measure::Run;
use crate::paper::{Row3, TABLE_3};
use rackloom_report::{Chart, Claim, Legend, Series, StudyReport, Style, Table, claims_table, wrap};

/// The schema of [`Report`] as JSON.
pub const SCHEMA: &str = "rackloom.study.saf-ondemand/2";

/// What the study found.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// `rackloom.study.saf-ondemand/2`
    schema: &'static str,
    /// What was measured.
    options: Options,
    /// One for each percentage.
    pub rows: Vec<Row>,
    /// Where the paper's table is inconsistent.
    pub findings: Vec<Finding>,
    /// The claims, each with its bound and whether it holds.
    claims: Vec<Claim>,
}

/// Cards added when so much was done. Times are of virtual time; all results were right.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Row {
    /// Percent of the tiles done.
    pub percent: u32,
    /// Hours from the job's start to its last result.
    pub hours: f64,
    /// Hours from the job's start to the new cards' plugging in.
    pub plugged_h: Option<f64>,
    /// Seconds from plugging in until all new cards compute: discovery, claim, load.
    pub joining_s: Option<f64>,
    /// Tiles that the new cards computed.
    pub tiles_added: usize,
    /// Hours on a cluster that starts again on all cards.
    pub restart_h: f64,
    /// Hours on a cluster that stays with the cards it has.
    pub stay_h: f64,
    /// Percent of time saved against the better of the two.
    pub time_percent: f64,
    /// Percent of time saved against the paper's own ideal cluster, which takes no time to load.
    pub time_percent_ideal: f64,
    /// Energy of the run.
    pub energy: Energies,
    /// Energy of the better cluster, kilojoules.
    pub cluster_kj: f64,
    /// Percent of energy saved, counted as the paper does.
    pub energy_percent: f64,
    /// What the paper states of this percentage.
    pub paper_time_percent: Option<f64>,
    /// The same of energy.
    pub paper_energy_percent: Option<f64>,
}

impl Report {
    pub(super) fn new(options: &Options, runs: Vec<Run>) -> Self {
        let hours = |percent| {
            let run: Option<&Run> = runs.iter().find(|r| r.percent == percent);
            run.expect("checked by the caller").took.as_secs_f64() / 3600.0
        };
        let (all, stay) = (hours(0), hours(100));
        let rows: Vec<Row> = runs.iter().map(|run| row(options, run, all, stay)).collect();
        let findings = energy::findings();
        let claims = claims(options, &rows);
        Self { schema: SCHEMA, options: options.clone(), rows, findings, claims }
    }
}

fn row(options: &Options, run: &Run, all_h: f64, stay_h: f64) -> Row {
    let took_s = run.took.as_secs_f64();
    let hours = took_s / 3600.0;
    // At 100 % no card is added: those that were to be waited to the end.
    let plugged_s = run.plugged.map_or(took_s, |p| p.as_secs_f64());
    let restart_h = plugged_s / 3600.0 + all_h;
    let cluster_h = restart_h.min(stay_h);
    let total = options.cards + options.added;
    let again = busy_kj(options.cards, plugged_s) + busy_kj(total, all_h * 3600.0);
    let cluster_kj = if restart_h < stay_h { again } else { busy_kj(options.cards, stay_h * 3600.0) };
    let energy = energy::energies(options.cards, options.added, took_s, plugged_s);
    let share = f64::from(run.percent) / 100.0;
    let speedup = total as f64 / options.cards as f64;
    let ideal_cluster_h = options.hours * (share + 1.0 / speedup).min(1.0);
    let stated = stated(options, run.percent);
    Row {
        percent: run.percent,
        hours,
        plugged_h: run.plugged.map(|p| p.as_secs_f64() / 3600.0),
        joining_s: run.joining.map(|j| j.as_secs_f64()),
        tiles_added: run.tiles_added,
        restart_h,
        stay_h,
        time_percent: 100.0 * (1.0 - hours / cluster_h),
        time_percent_ideal: 100.0 * (1.0 - hours / ideal_cluster_h),
        cluster_kj,
        energy_percent: 100.0 * (1.0 - energy.as_the_paper_kj / cluster_kj),
        energy,
        paper_time_percent: stated.map(|s| s.time_percent),
        paper_energy_percent: stated.map(|s| s.energy_percent),
    }
}

/// The paper's row, if it has one: it adds four cards to four.
fn stated(options: &Options, percent: u32) -> Option<&'static Row3> {
    (options.cards == options.added).then(|| TABLE_3.iter().find(|r| r.percent == percent)).flatten()
}

fn claims(options: &Options, rows: &[Row]) -> Vec<Claim> {
    let (mut shortfall, mut longer) = (f64::MIN, f64::MIN);
    for row in rows {
        if let Some(stated) = stated(options, row.percent) {
            shortfall = shortfall.max(stated.time_percent - row.time_percent_ideal);
            longer = longer.max(row.hours / (stated.saf_h * options.hours / 10.0));
        }
    }
    if shortfall == f64::MIN {
        return Vec::new();
    }
    vec![
        Claim::at_most("time_reduction_points_short_of_the_paper", shortfall, 1.0),
        Claim::at_most("time_over_the_papers", longer, 1.01),
    ]
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let o = &self.options;
        let head = format!(
            "SAF table III: a job of {} h on {} cards ({} tiles, every result checked); {} cards are plugged in while it runs.",
            o.hours, o.cards, o.tiles, o.added
        );
        writeln!(f, "{}", wrap(&head, ""))?;
        let header =
            ["DONE %", ">RESTART h", ">STAY h", ">RACK h", ">SAVES %", ">IDEAL %", ">PAPER %", ">JOIN s", ">TILES"];
        let mut table = Table::new(&header);
        let dash = || "-".to_owned();
        for r in &self.rows {
            table.row(vec![
                r.percent.to_string(),
                format!("{:.4}", r.restart_h),
                format!("{:.4}", r.stay_h),
                format!("{:.4}", r.hours),
                percent(r.time_percent),
                percent(r.time_percent_ideal),
                r.paper_time_percent.map_or_else(dash, |p| format!("{p:.2}")),
                r.joining_s.map_or_else(dash, |s| format!("{s:.3}")),
                r.tiles_added.to_string(),
            ]);
        }
        writeln!(f, "{table}")?;
        let note = "RESTART and STAY are the clusters' choices, RACK is measured. SAVES is against the better choice, IDEAL \
                    against the paper's, which loads in no time. JOIN is from plugging in until all new cards compute, \
                    TILES what they computed.";
        writeln!(f, "{}", wrap(note, ""))?;
        writeln!(f, "Energy (kJ) after the paper's 22 + 46 mW a card and 10 mW of waiting")?;
        let header = ["DONE %", ">CLUSTER", ">RACK", ">SAVES %", ">PAPER %", ">EACH WAITS", ">OFF TILL PLUGGED"];
        let mut table = Table::new(&header);
        for r in &self.rows {
            table.row(vec![
                r.percent.to_string(),
                format!("{:.3}", r.cluster_kj),
                format!("{:.3}", r.energy.as_the_paper_kj),
                percent(r.energy_percent),
                r.paper_energy_percent.map_or_else(dash, |p| format!("{p:.2}")),
                format!("{:.3}", r.energy.each_waiting_kj),
                format!("{:.3}", r.energy.off_until_plugged_kj),
            ]);
        }
        writeln!(f, "{table}")?;
        writeln!(f, "Where the paper is inconsistent:")?;
        for finding in &self.findings {
            write!(f, "{}", wrap(&format!("- {}: {}.", finding.place, finding.what), "  "))?;
        }
        write!(f, "\n{}", claims_table(&self.claims))
    }
}

/// Two decimals, without the sign that a hair below zero would leave.
fn percent(value: f64) -> String {
    format!("{:.2}", (value * 100.0).round() / 100.0 + 0.0)
}

impl StudyReport for Report {
    fn json(&self) -> serde_json::Value {
        rackloom_report::json(self)
    }

    fn svg(&self) -> String {
        let line = |name: &str, style, pick: fn(&Row) -> f64| Series {
            name: name.into(),
            points: self.rows.iter().map(|r| (f64::from(r.percent), pick(r))).collect(),
            style,
        };
        let scale = self.options.hours / 10.0;
        let stated = TABLE_3.iter().map(|r| (f64::from(r.percent), r.saf_h * scale)).collect();
        let series = vec![
            line("rack, cards added while it runs", Style::Ours(0), |r| r.hours),
            line("cluster, starts again on all cards", Style::Ours(1), |r| r.restart_h),
            line("cluster, stays with its cards", Style::Ours(2), |r| r.stay_h),
            Series { name: "SAF (paper)".into(), points: stated, style: Style::Points },
        ];
        Chart {
            title: "Cards added to a running job (SAF, table III)",
            x: "job done when cards are added (%)",
            y: "time of the job (h)",
            log: false,
            legend: Legend::UpperLeft,
            series,
        }
        .svg()
    }

    fn claims(&self) -> &[Claim] {
        &self.claims
    }
}
