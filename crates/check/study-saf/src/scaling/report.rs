//! What `saf-scaling` found.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use super::measure::Phases;
use super::{Job, Options};
use rackloom_report::{Chart, Claim, Legend, Series, StudyReport, Style, Table, claims_table, wrap};

/// The schema of [`Report`] as JSON.
pub const SCHEMA: &str = "rackloom.study.saf-scaling/2";

/// What the study found.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// `rackloom.study.saf-scaling/2`
    schema: &'static str,
    /// What was measured.
    options: Options,
    /// Strong scaling, then weak, by number of cards.
    pub points: Vec<Point>,
    /// The claims, each with its bound and whether it holds.
    claims: Vec<Claim>,
}

/// How the problem grows with the cards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// It does not.
    Strong,
    /// The memory of each card stays full.
    Weak,
}

/// One rack.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Point {
    /// How the problem grows.
    pub kind: Kind,
    /// Cards.
    pub cards: usize,
    /// Order of the matrices.
    pub order: usize,
    /// Where the time went.
    pub phases: Phases,
    /// Elements a second in the compute phase, over those of one card.
    pub speedup: f64,
    /// The same over the number of cards.
    pub efficiency: f64,
    /// Seconds from the claims to the last result.
    pub total_s: f64,
    /// Elements a second from end to end, over those of one card.
    pub total_speedup: f64,
    /// Seconds that the host's link takes for operands and results, one way after the other, as the phases are.
    pub link_s: f64,
    /// Seconds that it would take with both ways busy at once: the least for any schedule.
    pub link_least_s: f64,
}

impl Report {
    pub(super) fn new(options: &Options, mut runs: Vec<(Job, Phases)>) -> Self {
        runs.sort_by_key(|(job, _)| (job.kind, job.cards));
        let points: Vec<Point> = runs
            .iter()
            .map(|(job, phases)| {
                let one = |(j, _): &&(Job, Phases)| j.kind == job.kind && j.cards == 1;
                let (first, of_one) = runs.iter().find(one).expect("checked by the caller");
                point(job, phases, first, of_one)
            })
            .collect();
        let claims = claims(&points);
        Self { schema: SCHEMA, options: options.clone(), points, claims }
    }
}

fn point(job: &Job, phases: &Phases, first: &Job, of_one: &Phases) -> Point {
    let elements = |order: usize| (order as f64).powi(2);
    let more = elements(job.order) / elements(first.order);
    let total = |p: &Phases| p.load_s + p.write_s + p.launch_s + p.compute_s + p.read_s;
    let speedup = more * of_one.compute_s / phases.compute_s;
    let wire = |bytes: u64| bytes as f64 * 8.0 / LINK_RATE;
    let (write, read) = (wire(phases.write_wire_bytes), wire(phases.read_wire_bytes));
    Point {
        kind: job.kind,
        cards: job.cards,
        order: job.order,
        phases: *phases,
        speedup,
        efficiency: speedup / job.cards as f64,
        total_s: total(phases),
        total_speedup: more * total(of_one) / total(phases),
        link_s: write + read,
        link_least_s: write.max(read),
    }
}

fn claims(points: &[Point]) -> Vec<Claim> {
    let at = |kind| points.iter().find(|p| p.kind == kind && p.cards == 20);
    let claim = |name, kind| at(kind).map(|p| Claim::at_least(name, p.efficiency, 0.95));
    let strong = claim("efficiency_20_cards_strong", Kind::Strong);
    let weak = claim("efficiency_20_cards_weak", Kind::Weak);
    strong.into_iter().chain(weak).collect()
}

impl Kind {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Strong => "strong",
            Self::Weak => "weak",
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let o = &self.options;
        let head = format!(
            "SAF figure 7: PTRANS, C = B + A^T on float32. Cards of {:.1} GiB, 10 Gb/s links, {} frames; every element of \
             every result was compared.",
            o.memory as f64 / f64::from(1 << 30),
            if o.jumbo { "jumbo" } else { "standard" },
        );
        writeln!(f, "{}", wrap(&head, ""))?;
        writeln!(f, "Compute phase: Go to last completion, operands in card memory")?;
        let header =
            ["SCALING", ">CARDS", ">ORDER", ">ROUNDS", ">COMPUTE ms", ">KERNEL ms", ">SPEED-UP", ">EFFICIENCY"];
        let mut table = Table::new(&header);
        for p in &self.points {
            table.row(vec![
                p.kind.name().into(),
                p.cards.to_string(),
                p.order.to_string(),
                p.phases.rounds.to_string(),
                format!("{:.3}", p.phases.compute_s * 1e3),
                format!("{:.3}", p.phases.kernel_s * 1e3),
                format!("{:.3}", p.speedup),
                format!("{:.4}", p.efficiency),
            ]);
        }
        writeln!(f, "{table}")?;
        writeln!(f, "End to end (s), phase after phase, all data over the host's one link")?;
        let header =
            ["SCALING", ">CARDS", ">LOAD", ">WRITE", ">LAUNCH", ">COMPUTE", ">READ", ">TOTAL", ">LINK", ">SPEED-UP"];
        let mut table = Table::new(&header);
        for p in &self.points {
            let h = &p.phases;
            let mut cells = vec![p.kind.name().to_owned(), p.cards.to_string()];
            let times = [h.load_s, h.write_s, h.launch_s, h.compute_s, h.read_s, p.total_s, p.link_s];
            cells.extend(times.map(|s| format!("{s:.3}")));
            cells.push(format!("{:.2}", p.total_speedup));
            table.row(cells);
        }
        writeln!(f, "{table}")?;
        let note = "LINK is what the frames of operands and results take on the host's link, one way after the other. Eight \
                    bytes go in and four come out for each element, whatever the number of cards: from end to end the link \
                    is the limit, and cards help only with what is not LINK.";
        writeln!(f, "{}", wrap(note, ""))?;
        write!(f, "{}", claims_table(&self.claims))
    }
}

impl StudyReport for Report {
    fn json(&self) -> serde_json::Value {
        rackloom_report::json(self)
    }

    fn svg(&self) -> String {
        let line = |name: &str, kind: Kind, style, pick: fn(&Point) -> f64| Series {
            name: name.into(),
            points: self.points.iter().filter(|p| p.kind == kind).map(|p| (p.cards as f64, pick(p))).collect(),
            style,
        };
        let most = self.options.cards.iter().max().map_or(1.0, |c| *c as f64);
        let series = vec![
            Series { name: "ideal".into(), points: vec![(1.0, 1.0), (most, most)], style: Style::Ideal },
            line("strong, compute phase", Kind::Strong, Style::Ours(0), |p| p.speedup),
            line("weak, compute phase", Kind::Weak, Style::Ours(1), |p| p.speedup),
            line("strong, end to end", Kind::Strong, Style::Ours(2), |p| p.total_speedup),
            line("weak, end to end", Kind::Weak, Style::Ours(3), |p| p.total_speedup),
        ];
        Chart {
            title: "PTRANS on 1 to 20 cards (SAF, figure 7, whose points are not stated)",
            x: "cards",
            y: "speed-up",
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

/// Bits a second of the host's link.
const LINK_RATE: f64 = 10e9;
