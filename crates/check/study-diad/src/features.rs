//! `diad-features`: table I. The six patterns of use, each really at work on emulated cards, with a check of what came
//! of it: a pattern that does not work is an error of the study, not a cross in its table.

mod hosts;
mod memory;
mod report;
mod streams;

pub use report::{Pattern, Report, SCHEMA, Shown};

use rackloom_report::Progress;
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::Result;
use crate::lab::Lab;
use crate::latencies::Latencies;

/// What to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Options {
    /// Seed of all random numbers.
    pub seed: u64,
}

/// What a pattern's run gives: what was seen, and the virtual time that one operation of it took.
type Seen = (String, f64);

/// Shows all six.
///
/// # Errors
/// If one does not work.
pub fn run(options: &Options, progress: &mut dyn Progress) -> Result<Report> {
    let mut shown = Vec::new();
    for pattern in Pattern::ALL {
        let mut lab = Lab::new(Latencies::default(), options.seed);
        let (evidence, took_us) = match pattern {
            Pattern::HostNetworking => hosts::networking(&mut lab)?,
            Pattern::Compute => memory::compute(&mut lab)?,
            Pattern::BumpInTheWire => hosts::bump(&mut lab)?,
            Pattern::Disaggregated => memory::disaggregated(&mut lab)?,
            Pattern::Dataflow => streams::dataflow(&mut lab)?,
            Pattern::RemoteMemory => memory::shared(&mut lab)?,
        };
        shown.push(Shown { pattern, evidence, took_us });
        progress.step(shown.len(), Pattern::ALL.len(), pattern.name());
    }
    Ok(Report::new(options, shown))
}
