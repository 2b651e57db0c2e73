//! `optweb-collectives`: operations over a full mesh, with the paper's times for links and memory (section 4, figures
//! 10 to 15).
//!
//! What runs are the plans that cards run: the programs of each rank, command by command. Nothing of a result is put in
//! but the paper's delays of a message and of a control signal, and the rate of a link; the bounds are those of the
//! links alone.

use rackloom_collective::{Datatype, Kind, Op, Operation, Plan};
use rackloom_report::{Claim, Progress};
use rackloom_topology::Family;
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::{Result, StudyError};
use crate::event::run as time;
use crate::group::of_graph;
use crate::paper;
use crate::timing::Timing;

mod report;

/// The schema of [`Report`] as JSON.
pub const SCHEMA: &str = "rackloom.study.optweb-collectives/1";

/// What the study measures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Ranks of the curves.
    pub ranks: Vec<usize>,
    /// Bytes of the large messages.
    pub large: u64,
}

impl Default for Options {
    /// 2 to 64 ranks.
    fn default() -> Self {
        Self { ranks: vec![2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64], large: 256 << 20 }
    }
}

impl Options {
    /// Up to 16 ranks, in a second or two.
    pub fn quick() -> Self {
        Self { ranks: vec![2, 4, 8, 16], ..Self::default() }
    }
}

/// What the study found.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// `rackloom.study.optweb-collectives/1`
    schema: &'static str,
    /// Start-up latencies of four ranks (figure 12), with 64 bytes.
    pub latencies: Vec<Latency>,
    /// Operations of four ranks with 64 MiB a block (figure 10, which has 128: no rank gives more than 256 in all).
    pub operations: Vec<Row>,
    /// Alltoall of four ranks by bytes of a block (figures 11 and 13).
    pub sizes: Vec<Row>,
    /// Two ranks of many, a broadcast and a sum over all, by ranks (figures 14 and 15).
    pub growth: Vec<Row>,
    /// The claims, each with its bound and whether it holds.
    claims: Vec<Claim>,
}

/// A start-up latency.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Latency {
    /// What starts.
    pub name: &'static str,
    /// Microseconds.
    pub time_us: f64,
    /// The paper's.
    pub paper_us: f64,
}

/// An operation.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Row {
    /// Which.
    pub operation: &'static str,
    /// Ranks.
    pub ranks: usize,
    /// Bytes of each block; of the whole, where there are none.
    pub bytes: u64,
    /// Microseconds.
    pub time_us: f64,
    /// Microseconds that links need at least.
    pub bound_us: f64,
    /// Microseconds of the paper's method, if it has one: one link for each pair, or a scatter and then a gather.
    pub paper_us: Option<f64>,
}

impl Row {
    /// How close it comes to its bound.
    pub fn share(&self) -> f64 {
        self.bound_us / self.time_us
    }
}

/// Bytes of a block of the operations.
const BLOCK: u64 = 64 << 20;

/// What an operation needs at least, in picoseconds.
type Bound = fn(&Timing, ranks: u64, bytes: u64) -> u64;

/// An operation, its bound, and its time by the paper's method.
type What = (&'static str, Kind, Bound, Option<Bound>);

/// Over one link for each pair.
const DIRECT: Bound = |timing, _, bytes| timing.start_ps(bytes) + timing.link_ps(bytes);
/// Over all links of a card.
const SPREAD: Bound = |timing, ranks, bytes| timing.start_ps(bytes) + timing.link_ps(bytes) / (ranks - 1);
/// A scatter, and then a gather or an allgather (section 3.4).
const TWICE: Bound = |timing, ranks, bytes| 2 * (timing.start_ps(bytes) + timing.link_ps(bytes) / ranks);

const DIRECTLY: [What; 6] = [
    ("sendrecv", Kind::Sendrecv { by: 1 }, DIRECT, Some(DIRECT)),
    ("scatter", Kind::Scatter, DIRECT, Some(DIRECT)),
    ("gather", Kind::Gather, DIRECT, Some(DIRECT)),
    ("allgather", Kind::Allgather, DIRECT, Some(DIRECT)),
    ("alltoall", Kind::Alltoall, DIRECT, Some(DIRECT)),
    ("reduce-scatter", Kind::ReduceScatter, DIRECT, None),
];
const OVER_ALL: [What; 3] = [
    ("send", Kind::Send { to: 1 }, SPREAD, Some(TWICE)),
    ("broadcast", Kind::Broadcast, SPREAD, Some(TWICE)),
    ("allreduce", Kind::Allreduce, TWICE, None),
];

/// Plans and times the operations.
///
/// # Errors
/// None that is not a bug.
pub fn run(options: &Options, progress: &mut dyn Progress) -> Result<Report> {
    let steps = 3 + options.ranks.len();
    let latencies = latencies()?;
    progress.step(1, steps, "start-up");
    let operations = DIRECTLY.iter().chain(&OVER_ALL).map(|what| row(what, 4, BLOCK)).collect::<Result<Vec<_>>>()?;
    progress.step(2, steps, "operations");
    let alltoall = &DIRECTLY[4];
    let sizes = (6..=26).map(|bits| row(alltoall, 4, 1 << bits)).collect::<Result<Vec<_>>>()?;
    progress.step(3, steps, "sizes");
    let mut growth = Vec::new();
    for (i, ranks) in options.ranks.iter().enumerate() {
        for what in &OVER_ALL {
            growth.push(row(what, *ranks, options.large)?);
        }
        progress.step(4 + i, steps, &format!("{ranks} ranks"));
    }
    let claims = claims(&latencies, &operations, &sizes, &growth);
    Ok(Report { schema: SCHEMA, latencies, operations, sizes, growth, claims })
}

fn latencies() -> Result<Vec<Latency>> {
    let barrier = ("barrier", Kind::Barrier, DIRECT, None);
    let at_once = Timing::PAPER;
    let asked = Timing { eager_bytes: 0, ..at_once };
    let all = [
        ("barrier", &barrier, &at_once, paper::BARRIER_US),
        ("64 bytes at once", &DIRECTLY[4], &at_once, paper::EAGER_US),
        ("64 bytes when asked for", &DIRECTLY[4], &asked, paper::RENDEZVOUS_US),
    ];
    // Without what the link takes for the bytes.
    let latency = |(name, what, timing, paper_us): (&'static str, &What, &Timing, f64)| {
        let moved = if what.1 == Kind::Barrier { 0 } else { timing.link_ps(64) };
        Ok(Latency { name, time_us: us(take(what, 4, 64, timing)? - moved), paper_us })
    };
    all.into_iter().map(latency).collect()
}

fn row(what: &What, ranks: usize, bytes: u64) -> Result<Row> {
    let (operation, _, bound, paper) = *what;
    let timing = Timing::PAPER;
    let of = |bound: Bound| us(bound(&timing, ranks as u64, bytes));
    let time_us = us(take(what, ranks, bytes, &timing)?);
    Ok(Row { operation, ranks, bytes, time_us, bound_us: of(bound), paper_us: paper.map(of) })
}

/// Picoseconds of an operation on a full mesh.
fn take(what: &What, ranks: usize, bytes: u64, timing: &Timing) -> Result<u64> {
    let (name, kind, ..) = *what;
    let operation = Operation { kind, count: bytes / 4, datatype: Datatype::F32, op: Op::Sum, root: 0 };
    let mesh = Family::HyperX(vec![ranks]).graph().expect("there is a mesh of so few");
    let group = of_graph(&mesh);
    let plan = Plan::for_round(&operation, &group, timing.round_bytes());
    let plan = plan.map_err(|source| StudyError::Plan { operation: name, ranks, source })?;
    Ok(time(timing, &group, &plan.programs(&plan.buffers()))?)
}

fn us(ps: u64) -> f64 {
    ps as f64 / 1e6
}

fn claims(latencies: &[Latency], operations: &[Row], sizes: &[Row], growth: &[Row]) -> Vec<Claim> {
    let least = |rows: &mut dyn Iterator<Item = f64>| rows.fold(f64::INFINITY, f64::min);
    // Beyond 16 ranks pieces of the longest message are so short that a round's beginning shows.
    let of = |name: &str| {
        let rows = growth.iter().filter(|row| row.operation == name && row.ranks <= 16);
        least(&mut rows.map(Row::share))
    };
    let off = latencies.iter().map(|l| (l.time_us - l.paper_us).abs() / l.paper_us).fold(0.0, f64::max);
    let direct = |row: &&Row| DIRECTLY.iter().any(|(name, ..)| *name == row.operation);
    let gain = |name: &str| {
        let row = growth.iter().find(|row| row.operation == name && row.ranks == 16);
        row.and_then(|row| Some(row.paper_us? / row.time_us)).unwrap_or(f64::NAN)
    };
    vec![
        Claim::at_most("latencies_beside_the_papers", off, 0.02),
        Claim::at_least("operations_of_one_step", least(&mut operations.iter().filter(direct).map(Row::share)), 0.99),
        Claim::at_least("alltoall_of_each_size", least(&mut sizes.iter().map(Row::share)), 0.99),
        Claim::at_least("send_over_all_links", of("send"), 0.95),
        Claim::at_least("broadcast_over_all_links", of("broadcast"), 0.95),
        Claim::at_least("allreduce_of_two_steps", of("allreduce"), 0.91),
        Claim::at_least("send_of_16_by_the_papers_method", gain("send"), 1.7),
        Claim::at_least("broadcast_of_16_by_the_papers_method", gain("broadcast"), 1.7),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use rackloom_report::{Silent, StudyReport as _};

    #[test]
    fn operations_come_as_close_to_their_bounds_as_is_claimed() {
        let report = run(&Options { ranks: vec![2, 4, 16], ..Options::default() }, &mut Silent).unwrap();
        assert!(report.claims().iter().all(|claim| claim.holds), "{report}");
        assert!(report.to_string().lines().all(|line| line.chars().count() <= 80), "{report}");
        assert!(report.svg().contains("</svg>"));
    }

    #[test]
    fn the_papers_method_gives_what_the_paper_measured() {
        for (ranks, gbps) in paper::MULTIPATH_GBPS {
            let bytes = 1u64 << 30;
            let time_us = us(TWICE(&Timing::PAPER, ranks as u64, bytes));
            let ours = bytes as f64 * 8.0 / time_us / 1e3;
            assert!((ours / gbps - 1.0).abs() < 0.01, "{ranks} ranks: {ours} and {gbps} Gb/s");
        }
    }

    #[test]
    fn a_card_moves_what_the_paper_measured() {
        for (name, gbps) in paper::CARD_GBPS {
            let what = DIRECTLY.iter().chain(&OVER_ALL).find(|(other, ..)| *other == name).unwrap();
            let both = if matches!(name, "sendrecv" | "allgather" | "alltoall") { 2.0 } else { 1.0 };
            let links = if name == "sendrecv" { 1.0 } else { 3.0 };
            // By one link for each pair; a broadcast over all links takes a third of that.
            let time_us = us(DIRECT(&Timing::PAPER, 4, BLOCK));
            let ours = BLOCK as f64 * 8.0 * both * links / time_us / 1e3;
            assert!((ours / gbps - 1.0).abs() < 0.01, "{name}: {ours} and {gbps} Gb/s");
            let taken = us(take(what, 4, BLOCK, &Timing::PAPER).unwrap());
            assert!(taken <= time_us * 1.001, "{name} takes {taken} us, and directly {time_us}");
        }
    }
}
