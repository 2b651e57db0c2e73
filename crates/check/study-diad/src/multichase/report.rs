//! What `diad-multichase` found.

use std::fmt;

use rackloom_node::Duration;
use rackloom_report::{Chart, Claim, Legend, Series, StudyReport, Style, Table, claims_table, wrap};
use schemars::JsonSchema;
use serde::Serialize;

use super::Options;
use crate::paper;

/// The schema of [`Report`] as JSON.
pub const SCHEMA: &str = "rackloom.study.diad-multichase/1";

/// What the study found.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// `rackloom.study.diad-multichase/1`
    schema: &'static str,
    /// What was measured.
    options: Options,
    /// By place and number of threads.
    pub points: Vec<Point>,
    /// The claims, each with its bound and whether it holds.
    claims: Vec<Claim>,
}

/// Whose memory the pointers are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// The host's own.
    Local,
    /// A remote card's.
    Card,
    /// A remote host's.
    Host,
}

impl Place {
    pub(super) const ALL: [Self; 3] = [Self::Local, Self::Card, Self::Host];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Local => "local memory",
            Self::Card => "remote card",
            Self::Host => "remote host",
        }
    }

    /// What the paper states of one thread, microseconds.
    const fn stated_us(self) -> Option<f64> {
        match self {
            Self::Local => None,
            Self::Card => Some(paper::CHASE_CARD_US),
            Self::Host => Some(paper::CHASE_HOST_US),
        }
    }
}

/// One measurement.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Point {
    /// Whose memory.
    pub place: Place,
    /// Threads.
    pub threads: usize,
    /// Microseconds from a read to its answer, in the mean.
    pub step_us: f64,
    /// Reads a second of all threads, millions.
    pub mreads: f64,
}

impl Point {
    pub(super) fn new(place: Place, threads: usize, steps: usize, took: Duration) -> Self {
        let step_us = took.as_secs_f64() * 1e6 / steps as f64;
        Self { place, threads, step_us, mreads: threads as f64 / step_us }
    }
}

impl Report {
    pub(super) fn new(options: &Options, points: Vec<Point>) -> Self {
        let one = |place| points.iter().find(|p| p.place == place && p.threads == 1).map(|p| p.step_us);
        let mut claims = Vec::new();
        claims.extend(one(Place::Card).map(|us| Claim::at_most("card_us", us, paper::CHASE_CARD_US)));
        claims.extend(one(Place::Host).map(|us| Claim::at_most("host_us", us, paper::CHASE_HOST_US)));
        if let (Some(card), Some(host)) = (one(Place::Card), one(Place::Host)) {
            claims.push(Claim::at_least("host_over_card", host / card, 1.0));
        }
        Self { schema: SCHEMA, options: options.clone(), points, claims }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let o = &self.options;
        let head = format!(
            "DiAD figure 6: a host chases pointers through {} lines, a read of 8 bytes at a time for each thread, {} steps; \
             virtual time. Endpoints and card are the ones that run live.",
            o.lines, o.steps
        );
        writeln!(f, "{}", wrap(&head, ""))?;
        let mut table = Table::new(&["MEMORY", ">THREADS", ">STEP us", ">Mreads/s", ">DIAD STATES us", ">OURS/THEIRS"]);
        for p in &self.points {
            let stated = p.place.stated_us().filter(|_| p.threads == 1);
            table.row([
                p.place.name().to_owned(),
                p.threads.to_string(),
                format!("{:.3}", p.step_us),
                format!("{:.3}", p.mreads),
                stated.map_or_else(String::new, |us| format!("{us:.1}")),
                stated.map_or_else(String::new, |us| format!("{:.2}", p.step_us / us)),
            ]);
        }
        writeln!(f, "{table}")?;
        let l = &o.latencies;
        let note = format!(
            "Constants: PCIe {} ns a hop (twice for a card, four times for a host), fabric {} ns a pass, switch {} ns, DDR {} \
             ns on the card and {} ns on a host. Local memory is that constant. A fabric's latency is concluded from the \
             paper's figure 4; what the paper has beyond ours is its interconnect between PCIe, bridge and memory.",
            l.pcie_ns, l.fabric_ns, l.switch_ns, l.card_memory_ns, l.host_memory_ns
        );
        writeln!(f, "{}", wrap(&note, ""))?;
        write!(f, "{}", claims_table(&self.claims))
    }
}

impl StudyReport for Report {
    fn json(&self) -> serde_json::Value {
        rackloom_report::json(self)
    }

    fn svg(&self) -> String {
        let mut series = Vec::new();
        for (at, place) in Place::ALL.into_iter().enumerate() {
            let points = self.points.iter().filter(|p| p.place == place).map(|p| (p.threads as f64, p.step_us));
            series.push(Series { name: place.name().into(), points: points.collect(), style: Style::Ours(at) });
        }
        let stated = Place::ALL.iter().filter_map(|p| Some((1.0, p.stated_us()?)));
        series.push(Series { name: "DiAD, as stated".into(), points: stated.collect(), style: Style::Points });
        Chart {
            title: "A step along a chain of pointers (DiAD, figure 6)",
            x: "threads",
            y: "microseconds",
            log: true,
            legend: Legend::UpperRight,
            series,
        }
        .svg()
    }

    fn claims(&self) -> &[Claim] {
        &self.claims
    }
}
