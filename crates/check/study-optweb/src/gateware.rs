//! `optweb-gateware`: the event model beside the gateware, in cycles.
//!
//! The bench of `gateware/tb/collectives/test_rl_collective_mesh.py` runs plans on up to four cards that are all
//! joined to each other, and notes how many cycles each card takes from its Go to its report. Here the event model of
//! the other studies runs the same programs, with times of the gateware in place of the paper's. Those are taken from
//! what is alone on cards, and none from an operation.

use rackloom_report::{Claim, Progress};
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::Result;
use crate::event::{at_once, ends};
use rows::Case;

mod parameters;
mod report;
mod rows;

pub(crate) use parameters::{CYCLE_PS, GATEWARE};

/// The schema of [`Report`] as JSON.
pub const SCHEMA: &str = "rackloom.study.optweb-gateware/1";

/// There is nothing to choose: the bench has measured what there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options;

/// What the study found.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// `rackloom.study.optweb-gateware/1`
    schema: &'static str,
    /// What is alone on cards: the model's times are from these.
    pub alone: Vec<Row>,
    /// Operations, by bytes of a rank or a block.
    pub operations: Vec<Row>,
    /// The claims, each with its bound and whether it holds.
    claims: Vec<Claim>,
}

/// Programs of a group.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Row {
    /// Which.
    pub operation: &'static str,
    /// Ranks.
    pub ranks: usize,
    /// Bytes of each rank, or of each block.
    pub bytes: u64,
    /// Cycles of each rank on gateware, from its Go to its report; 0: it has nothing to do. Up to 1 KiB the mean of
    /// eight runs.
    pub gateware_cycles: Vec<u64>,
    /// Those of the model.
    pub model_cycles: Vec<u64>,
}

impl Row {
    /// Cycles of the rank that takes longest, of gateware and model.
    pub fn slowest(&self) -> [u64; 2] {
        [&self.gateware_cycles, &self.model_cycles].map(|cycles| cycles.iter().copied().max().unwrap_or(0))
    }

    /// The pairs of its ranks that have something to do.
    fn pairs(&self) -> impl Iterator<Item = (u64, u64)> {
        let pairs = self.gateware_cycles.iter().copied().zip(self.model_cycles.iter().copied());
        pairs.filter(|(gateware, _)| *gateware > 0)
    }

    /// How far the model is off for one of its ranks, at most: cycles.
    pub fn off_cycles(&self) -> u64 {
        self.pairs().map(|(gateware, model)| gateware.abs_diff(model)).max().unwrap_or(0)
    }

    /// The same as a share of the rank's cycles.
    pub fn off(&self) -> f64 {
        self.pairs().map(|(gateware, model)| gateware.abs_diff(model) as f64 / gateware as f64).fold(0.0, f64::max)
    }
}

/// Bytes from which on a share is claimed; below, cycles are.
const LONG: u64 = 1 << 10;

/// Runs the model.
///
/// # Errors
/// None that is not a bug.
pub fn run(_: &Options, progress: &mut dyn Progress) -> Result<Report> {
    let alone = Case::alone().iter().map(row).collect::<Result<Vec<_>>>()?;
    progress.step(1, 2, "alone");
    let operations = Case::operations().iter().map(row).collect::<Result<Vec<_>>>()?;
    progress.step(2, 2, "operations");
    let claims = vec![
        Claim::at_most("operations_worst_card_from_1_kib", worst(&operations), 0.02),
        Claim::at_most("operations_worst_card_below_in_cycles", worst_cycles(&operations), 8.0),
        Claim::at_most("alone_worst_card_from_1_kib", worst(&alone), 0.01),
        Claim::at_most("alone_worst_card_below_in_cycles", worst_cycles(&alone), 6.0),
    ];
    Ok(Report { schema: SCHEMA, alone, operations, claims })
}

/// How far the model is off for a card, at most, in rows that are long.
fn worst(rows: &[Row]) -> f64 {
    rows.iter().filter(|row| row.bytes >= LONG).map(Row::off).fold(0.0, f64::max)
}

/// The same in cycles, in rows that are not.
fn worst_cycles(rows: &[Row]) -> f64 {
    rows.iter().filter(|row| row.bytes < LONG).map(|row| row.off_cycles() as f64).fold(0.0, f64::max)
}

fn row(case: &Case) -> Result<Row> {
    let (gateware_cycles, model_cycles) = (case.measured()?, modelled(case)?);
    Ok(Row { operation: case.operation, ranks: case.ranks, bytes: case.bytes, gateware_cycles, model_cycles })
}

/// Cycles of each rank from its Go, by the model.
fn modelled(case: &Case) -> Result<Vec<u64>> {
    let group = case.group();
    let programs = case.programs(&group)?;
    let gos: Vec<u64> = case.gos.iter().map(|cycles| cycles * CYCLE_PS).collect();
    let ends = ends(&GATEWARE, &group, &programs, &gos, &mut at_once)?;
    let cycles = ends.ranks_ps.iter().zip(&gos).zip(&programs);
    Ok(cycles.map(|((end, go), program)| if program.is_empty() { 0 } else { (end - go) / CYCLE_PS }).collect())
}

/// Cards that come late to barriers: how many barriers there are, and cycles between the first and the last card's end,
/// on gateware.
pub(crate) fn barriers() -> Result<Vec<(usize, u64)>> {
    let spread = |case: &Case| {
        let measured = case.measured()?;
        let ends = || measured.iter().zip(&case.gos).map(|(cycles, go)| cycles + go);
        let apart = ends().max().unwrap_or(0) - ends().min().unwrap_or(0);
        Ok((case.barriers_of(), apart))
    };
    Case::barriers().iter().map(spread).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rackloom_report::{Silent, StudyReport as _};

    #[test]
    fn the_model_takes_as_many_cycles_as_the_gateware() {
        let report = run(&Options, &mut Silent).unwrap();
        assert!(report.claims().iter().all(|claim| claim.holds), "{report}");
        assert!(report.to_string().lines().all(|line| line.chars().count() <= 80), "{report}");
        assert!(report.svg().contains("</svg>"));
    }
}
