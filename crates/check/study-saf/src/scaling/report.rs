//! What `saf-scaling` found.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use super::exchange::{Exchanged, Kernels};
use super::measure::Phases;
use super::{Job, Options};
use rackloom_report::{Chart, Claim, Legend, Series, StudyReport, Style, Table, claims_table, wrap};

/// The schema of [`Report`] as JSON.
pub const SCHEMA: &str = "rackloom.study.saf-scaling/3";

/// What the study found.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// `rackloom.study.saf-scaling/3`
    schema: &'static str,
    /// What was measured.
    options: Options,
    /// Strong scaling, then weak, by number of cards.
    pub points: Vec<Point>,
    /// Blocks from the host and from card to card, by kernel and number of cards.
    pub exchanges: Vec<Exchanged>,
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
    pub(super) fn new(options: &Options, mut runs: Vec<(Job, Phases)>, exchanges: Vec<Exchanged>) -> Self {
        runs.sort_by_key(|(job, _)| (job.kind, job.cards));
        let points: Vec<Point> = runs
            .iter()
            .map(|(job, phases)| {
                let one = |(j, _): &&(Job, Phases)| j.kind == job.kind && j.cards == 1;
                let (first, of_one) = runs.iter().find(one).expect("checked by the caller");
                point(job, phases, first, of_one)
            })
            .collect();
        let claims = claims(&points, &exchanges);
        Self { schema: SCHEMA, options: options.clone(), points, exchanges, claims }
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

fn claims(points: &[Point], exchanges: &[Exchanged]) -> Vec<Claim> {
    let at = |kind| points.iter().find(|p| p.kind == kind && p.cards == 20);
    let claim = |name, kind| at(kind).map(|p| Claim::at_least(name, p.efficiency, 0.95));
    let strong = claim("efficiency_20_cards_strong", Kind::Strong);
    let weak = claim("efficiency_20_cards_weak", Kind::Weak);
    // The most cards at one switch: with more, the cable between two is what is measured.
    let most = |kernel| {
        let few = move |e: &&Exchanged| e.kernel == kernel && e.cards > 1 && e.cards <= AT_A_SWITCH;
        exchanges.iter().filter(few).max_by_key(|e| e.cards)
    };
    let resident = most(Kernels::Ptrans).and_then(|e| {
        e.resident_host_s.map(|s| Claim::at_least("exchange_gain_ptrans_resident", s / e.cards_run_s, 4.0))
    });
    let gemm = most(Kernels::Gemm);
    let gemm = gemm.map(|e| Claim::at_least("exchange_gain_gemm_end_to_end", e.host_s / e.cards_s, 2.0));
    strong.into_iter().chain(weak).chain(resident).chain(gemm).collect()
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
        self.write_exchanges(f)?;
        write!(f, "{}", claims_table(&self.claims))
    }
}

impl Report {
    /// The same work with blocks from the host and from card to card.
    fn write_exchanges(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = "End to end with blocks from the host and from card to card (ms): operands from the host's memory, \
                    results back there, the same bits. RUN is what cards compute and fetch.";
        writeln!(f, "{}", wrap(head, ""))?;
        let header = ["KERNEL", ">CARDS", ">ORDER", ">BY HOST", ">SPEED-UP", ">BY CARDS", ">RUN", ">SPEED-UP", ">GAIN"];
        let mut table = Table::new(&header);
        let ms = |s: f64| format!("{:.3}", s * 1e3);
        for e in &self.exchanges {
            let one = self.exchanges.iter().find(|x| x.kernel == e.kernel && x.cards == 1).unwrap_or(e);
            let mut cells = vec![e.kernel.name().to_owned(), e.cards.to_string(), e.order.to_string()];
            let ratio = |r: f64| format!("{r:.2}");
            cells.extend([ms(e.host_s), ratio(one.host_s / e.host_s), ms(e.cards_s), ms(e.cards_run_s)]);
            cells.extend([one.cards_s / e.cards_s, e.host_s / e.cards_s].map(ratio));
            table.row(cells);
        }
        writeln!(f, "{table}")?;
        writeln!(f, "PTRANS from operands on the cards to the result there (ms)")?;
        let mut table = Table::new(&[">CARDS", ">ORDER", ">BY HOST", ">BY CARDS", ">GAIN", ">FETCHED MB"]);
        for e in &self.exchanges {
            if let Some(host) = e.resident_host_s {
                let mut cells = vec![e.cards.to_string(), e.order.to_string(), ms(host), ms(e.cards_run_s)];
                cells.extend([format!("{:.2}", host / e.cards_run_s), format!("{:.1}", e.exchanged as f64 / 1e6)]);
                table.row(cells);
            }
        }
        writeln!(f, "{table}")?;
        let note = "For PTRANS the host can send each element straight to the card that needs it: from end to end its \
                    link is the limit in either way. The matrix product sends each tile's operands again; cards that \
                    fetch them from each other take each element from the host once. With more than ten cards much of \
                    what is fetched passes the one cable between the switches.";
        writeln!(f, "{}", wrap(note, ""))
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
/// Cards that stand at the host's switch.
const AT_A_SWITCH: usize = 10;
