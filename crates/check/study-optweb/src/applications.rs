//! `optweb-applications`: four programs on 16 cards that a full mesh, a torus or one switch joins (section 5.2, figure
//! 19), each by what it computes and exchanges.
//!
//! A card has 800 Gb/s in each: 15 links of 50 Gb/s (the sixteenth of a card would lead to itself), 4 of 200 Gb/s, or
//! one. On links the plans run that cards run; a switch is ideal, and does each operation by the best of the ways
//! that libraries have. The paper took SimGrid, and does not say which ways its torus and its switch used.

use rackloom_collective::{Kind, Op, Operation, Plan};
use rackloom_report::{Claim, Progress};
use rackloom_topology::Family;
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::{Result, StudyError};
use crate::event::run as time;
use crate::group::of_graph;
use crate::paper;
use crate::timing::Timing;

mod programs;
mod report;
mod switch;

use programs::{PROGRAMS, Program, Step};

/// The schema of [`Report`] as JSON.
pub const SCHEMA: &str = "rackloom.study.optweb-applications/1";

/// Cards.
const CARDS: usize = 16;

/// There is nothing to choose.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options;

/// What the study found.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// `rackloom.study.optweb-applications/1`
    schema: &'static str,
    /// The programs.
    pub rows: Vec<Row>,
    /// The claims, each with its bound and whether it holds.
    claims: Vec<Claim>,
}

/// A program on the three networks.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Row {
    /// The program.
    pub program: &'static str,
    /// Milliseconds in which it computes.
    pub compute_ms: f64,
    /// Milliseconds on the full mesh, on the torus and on the switch.
    pub time_ms: [f64; 3],
    /// How many times as fast the full mesh is as the torus and as the switch.
    pub faster: [f64; 2],
    /// The same in the paper.
    pub paper: [f64; 2],
}

/// Times the programs.
///
/// # Errors
/// None that is not a bug.
pub fn run(_: &Options, progress: &mut dyn Progress) -> Result<Report> {
    let mut rows = Vec::new();
    for (i, program) in PROGRAMS.iter().enumerate() {
        rows.push(row(program)?);
        progress.step(i + 1, PROGRAMS.len(), program.name);
    }
    let of = |name: &str, other: usize| {
        let row = rows.iter().find(|row| row.program == name);
        row.map_or(f64::NAN, |row| row.faster[other])
    };
    let mean = rows.iter().map(|row| row.faster[1]).sum::<f64>() / rows.len() as f64;
    let paper = rows.iter().map(|row| row.paper[1]).sum::<f64>() / rows.len() as f64;
    let claims = vec![
        Claim::at_most("is_by_the_torus_where_the_paper_has_6", of("IS, class C", 0), 3.0),
        Claim::at_most("ft_by_the_torus_where_the_paper_has_6", of("FT, class C", 0), 3.0),
        Claim::at_least("is_by_the_torus", of("IS, class C", 0), 1.8),
        Claim::at_least("ft_by_the_torus", of("FT, class C", 0), 1.8),
        Claim::at_least("is_by_an_ideal_switch", of("IS, class C", 1), 0.9),
        Claim::at_least("ft_by_an_ideal_switch", of("FT, class C", 1), 0.9),
        Claim::at_least("mean_by_an_ideal_switch", mean, 0.9),
        Claim::at_least("mean_of_the_papers_ratios_where_it_has_1_071", paper, 1.18),
    ];
    Ok(Report { schema: SCHEMA, rows, claims })
}

fn row(program: &Program) -> Result<Row> {
    let mesh = on_links(program, &Family::HyperX(vec![CARDS]), paper::MESH_BPS)?;
    let torus = on_links(program, &Family::Torus(vec![4, 4]), paper::TORUS_BPS)?;
    let switch = program.steps.iter().map(|(step, times)| times * switch::time(*step)).sum();
    let compute: u64 = program.steps.iter().map(|(step, times)| times * step.compute_ps()).sum();
    let time_ms = [mesh, torus, switch].map(ms);
    let faster = [time_ms[1] / time_ms[0], time_ms[2] / time_ms[0]];
    Ok(Row { program: program.name, compute_ms: ms(compute), time_ms, faster, paper: program.paper })
}

fn ms(ps: u64) -> f64 {
    ps as f64 / 1e9
}

/// Picoseconds of a program on cards that links of so many bits a second join.
fn on_links(program: &Program, family: &Family, link_bps: u64) -> Result<u64> {
    let timing = Timing { link_bps, ..Timing::PAPER };
    let graph = family.graph().expect("it is one of two that there are");
    let group = of_graph(&graph);
    let mut sum = 0;
    for (step, times) in program.steps {
        let Some((name, kind, bytes)) = step.operation() else {
            sum += times * step.compute_ps();
            continue;
        };
        let datatype = rackloom_collective::Datatype::I8;
        let operation = Operation { kind, count: bytes, datatype, op: Op::Sum, root: 0 };
        let plan = Plan::for_round(&operation, &group, timing.round_bytes());
        let plan = plan.map_err(|source| StudyError::Plan { operation: name, ranks: CARDS, source })?;
        let one = time(&timing, &group, &plan.programs(&plan.buffers()))?;
        sum += times * (one + step.compute_ps());
    }
    Ok(sum)
}

impl Step {
    /// The operation, its name and the bytes of a block, or of the whole. `None`: it only computes.
    const fn operation(self) -> Option<(&'static str, Kind, u64)> {
        match self {
            Self::Compute { .. } => None,
            Self::Alltoall(bytes) => Some(("alltoall", Kind::Alltoall, bytes)),
            Self::Allgather(bytes) => Some(("allgather", Kind::Allgather, bytes)),
            Self::Broadcast(bytes) => Some(("broadcast", Kind::Broadcast, bytes)),
            Self::Allreduce(bytes) => Some(("allreduce", Kind::Allreduce, bytes)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rackloom_report::{Silent, StudyReport as _};

    #[test]
    fn ratios_are_those_of_links_and_not_the_papers() {
        let report = run(&Options, &mut Silent).unwrap();
        assert!(report.claims().iter().all(|claim| claim.holds), "{report}");
        assert!(report.to_string().lines().all(|line| line.chars().count() <= 80), "{report}");
        assert!(report.svg().contains("</svg>"));
    }
}
