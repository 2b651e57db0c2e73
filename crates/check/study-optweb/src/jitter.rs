//! `optweb-jitter`: how far apart cards end barriers that they do one after the other (section 4.2, figure 9).
//!
//! Each card has a clock of its own: its rate is a little off, and it begins anywhere. What comes from another card is
//! seen at an edge of that clock, or at the one after it, as a synchronizer decides. Two cards come late to the first
//! barrier, as in the paper.

use rackloom_collective::{Command, Datatype, Kind, Op, Operation, Plan};
use rackloom_node::Rng;
use rackloom_report::{Claim, Progress};
use rackloom_topology::Family;
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::{Result, StudyError};
use crate::event::ends;
use crate::gateware::{self, GATEWARE};
use crate::group::of_graph;
use crate::paper;
use crate::timing::Timing;

mod report;

/// The schema of [`Report`] as JSON.
pub const SCHEMA: &str = "rackloom.study.optweb-jitter/1";

/// What the study draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Sets of clocks.
    pub seeds: u64,
    /// Parts in a million by which clocks are off, at most.
    pub ppm: u64,
}

impl Default for Options {
    /// 1000 sets of clocks, of 100 parts in a million.
    fn default() -> Self {
        Self { seeds: 1000, ppm: 100 }
    }
}

impl Options {
    /// A tenth of that.
    pub fn quick() -> Self {
        Self { seeds: 100, ..Self::default() }
    }
}

/// What the study found.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// `rackloom.study.optweb-jitter/1`
    schema: &'static str,
    /// Sets of clocks.
    pub seeds: u64,
    /// Parts in a million by which clocks are off, at most.
    pub ppm: u64,
    /// By barriers that were done.
    pub rows: Vec<Row>,
    /// The claims, each with its bound and whether it holds.
    claims: Vec<Claim>,
}

/// Nanoseconds between the first card's end and the last one's.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Row {
    /// Barriers, one after the other.
    pub barriers: usize,
    /// What the paper states; of later barriers, at most.
    pub paper_ns: f64,
    /// Cards with the paper's times, which wait for what they take alone.
    pub papers_way: Spread,
    /// The gateware in simulation, with one clock for all cards and without synchronizers, by mean ends of eight runs.
    /// An end is that of the program, which comes when its last signals are answered.
    pub gateware_ns: f64,
}

/// Of all sets of clocks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Spread {
    /// Nanoseconds on average.
    pub mean_ns: f64,
    /// Nanoseconds at most.
    pub worst_ns: f64,
}

/// Runs barriers with each set of clocks.
///
/// # Errors
/// None that is not a bug.
pub fn run(options: &Options, progress: &mut dyn Progress) -> Result<Report> {
    let measured = gateware::barriers()?;
    let mut rows = Vec::new();
    for (i, (barriers, cycles)) in measured.iter().enumerate() {
        rows.push(Row {
            barriers: *barriers,
            paper_ns: paper::JITTER_NS[usize::from(*barriers > 1)],
            papers_way: spread(options, *barriers)?,
            gateware_ns: (cycles * gateware::CYCLE_PS) as f64 / 1e3,
        });
        progress.step(i + 1, measured.len(), &format!("{barriers} barriers"));
    }
    let claims = claims(&rows);
    Ok(Report { schema: SCHEMA, seeds: options.seeds, ppm: options.ppm, rows, claims })
}

fn claims(rows: &[Row]) -> Vec<Claim> {
    let most = |of: &dyn Fn(&Row) -> f64| rows.iter().map(of).fold(0.0, f64::max);
    let later = |row: &Row| if row.barriers > 1 { row.papers_way.worst_ns } else { 0.0 };
    let third = |row: &Row| if row.barriers > 2 { row.gateware_ns } else { 0.0 };
    let way_ns = (GATEWARE.signal_setup_ps + GATEWARE.signal_ps) as f64 / 1e3;
    vec![
        Claim::at_most("papers_way_after_two_ns", most(&later), paper::JITTER_NS[1]),
        Claim::at_most("gateware_by_a_signals_way", most(&|row| row.gateware_ns) / way_ns, 1.0),
        Claim::at_most("gateware_from_three_on_by_a_signals_way", most(&third) / way_ns, 0.3),
    ]
}

/// The paper's, whose 0.36 us are of cards with synchronizers: these take a cycle on average.
const TIMING: Timing = Timing { signal_ps: paper::SIGNAL_PS - paper::CYCLE_PS, ..Timing::PAPER };

fn spread(options: &Options, barriers: usize) -> Result<Spread> {
    let (mut sum, mut worst) = (0, 0);
    for seed in 0..options.seeds {
        let apart = apart(options, barriers, seed)?;
        sum += apart;
        worst = apart.max(worst);
    }
    Ok(Spread { mean_ns: sum as f64 / options.seeds as f64 / 1e3, worst_ns: worst as f64 / 1e3 })
}

/// Picoseconds between the first end of so many barriers and the last.
fn apart(options: &Options, barriers: usize, seed: u64) -> Result<u64> {
    let size = paper::LATE_PS.len();
    let group = of_graph(&Family::HyperX(vec![size]).graph().expect("there is a mesh of so few"));
    let operation = Operation { kind: Kind::Barrier, count: 0, datatype: Datatype::I8, op: Op::Sum, root: 0 };
    let failed = |source| StudyError::Plan { operation: "barrier", ranks: size, source };
    let plan = Plan::new(&operation, &group).map_err(failed)?;
    let once = plan.programs(&plan.buffers());
    let programs: Vec<Vec<Command>> = once.iter().map(|program| program.repeat(barriers)).collect();
    let mut rng = Rng::new(seed);
    let clocks: Vec<Clock> = (0..size).map(|_| Clock::drawn(&mut rng, paper::CYCLE_PS, options.ppm)).collect();
    let gos: Vec<u64> = clocks.iter().zip(paper::LATE_PS).map(|(clock, late)| clock.edge(late)).collect();
    let mut sees = |card: usize, at| {
        let late = if rng.chance(0.5) { paper::CYCLE_PS } else { 0 };
        clocks[card].edge(at) + late
    };
    let ends = ends(&TIMING, &group, &programs, &gos, &mut sees)?.ranks_ps;
    Ok(ends.iter().max().unwrap_or(&0) - ends.iter().min().unwrap_or(&0))
}

/// A card's clock.
struct Clock {
    period_fs: u64,
    begins_fs: u64,
}

impl Clock {
    fn drawn(rng: &mut Rng, cycle_ps: u64, ppm: u64) -> Self {
        let nominal_fs = cycle_ps * 1000;
        let period_fs = nominal_fs + nominal_fs * rng.below(2 * ppm + 1) / 1_000_000 - nominal_fs * ppm / 1_000_000;
        Self { period_fs, begins_fs: rng.below(period_fs) }
    }

    /// Its first edge from this time on, in picoseconds.
    const fn edge(&self, at_ps: u64) -> u64 {
        let since = (at_ps * 1000).saturating_sub(self.begins_fs);
        (self.begins_fs + since.div_ceil(self.period_fs) * self.period_fs).div_ceil(1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rackloom_report::{Silent, StudyReport as _};

    #[test]
    fn cards_that_wait_for_what_they_take_alone_come_together() {
        let report = run(&Options::quick(), &mut Silent).unwrap();
        assert!(report.claims().iter().all(|claim| claim.holds), "{report}");
        assert!(report.to_string().lines().all(|line| line.chars().count() <= 80), "{report}");
        assert!(report.svg().contains("</svg>"));
        let first = &report.rows[0];
        assert_eq!(first.barriers, 1);
        // Who comes last finds all others' signals, and they wait for its own: its way, give or take two cycles.
        let way_ns = paper::SIGNAL_PS as f64 / 1e3;
        assert!((first.papers_way.mean_ns - way_ns).abs() < 40.0 + 10.0, "{report}");
    }

    #[test]
    fn clocks_have_edges_a_period_apart() {
        let clock = Clock { period_fs: 5_000_500, begins_fs: 1_000_000 };
        assert_eq!([0, 1000, 1001, 6000, 6001].map(|at| clock.edge(at)), [1000, 1000, 6001, 6001, 11_001]);
        let mut rng = Rng::new(1);
        let periods: Vec<_> = (0..1000).map(|_| Clock::drawn(&mut rng, 5000, 100).period_fs).collect();
        assert!(periods.iter().all(|fs| (4_999_500..=5_000_500).contains(fs)));
        assert!(periods.iter().any(|fs| *fs < 4_999_550) && periods.iter().any(|fs| *fs > 5_000_450));
    }
}
