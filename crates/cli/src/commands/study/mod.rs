//! `rackloom study`: papers' evaluations, repeated.

mod blastfunction;
mod diad;
mod optweb;
mod saf;

use std::path::Path;

use rackloom_report::{Claim, StudyReport, Table};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{self, StudyName};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Explain, Result};

/// The studies.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct StudyList {
    /// `rackloom.studies/1`
    schema: &'static str,
    /// Their names.
    studies: Vec<String>,
}

pub(super) fn run(cx: &Context, study: Option<&StudyName>) -> Result<Exit> {
    match study {
        None => list(cx),
        Some(StudyName::SafReconfigure { saf, card }) => saf::run(cx, "saf-reconfigure", saf, *card),
        Some(StudyName::SafScaling(saf)) => saf::run(cx, "saf-scaling", saf, None),
        Some(StudyName::SafCost(saf)) => saf::run(cx, "saf-cost", saf, None),
        Some(StudyName::SafOndemand(saf)) => saf::run(cx, "saf-ondemand", saf, None),
        Some(StudyName::DiadLatency(args)) => diad::run(cx, "diad-latency", args),
        Some(StudyName::DiadThroughput(args)) => diad::run(cx, "diad-throughput", args),
        Some(StudyName::DiadMultichase(args)) => diad::run(cx, "diad-multichase", args),
        Some(StudyName::DiadFeatures(args)) => diad::run(cx, "diad-features", args),
        Some(StudyName::OptwebCollectives(args)) => optweb::run(cx, "optweb-collectives", args),
        Some(StudyName::OptwebJitter(args)) => optweb::run(cx, "optweb-jitter", args),
        Some(StudyName::OptwebGateware(args)) => optweb::run(cx, "optweb-gateware", args),
        Some(StudyName::OptwebTopologies(args)) => optweb::run(cx, "optweb-topologies", args),
        Some(StudyName::OptwebApplications(args)) => optweb::run(cx, "optweb-applications", args),
        Some(StudyName::OptwebCost(args)) => optweb::run(cx, "optweb-cost", args),
        Some(StudyName::BlastfunctionSharing(args)) => blastfunction::run(cx, args),
    }
}

/// The names, from the definition of the command line.
fn list(cx: &Context) -> Result<Exit> {
    let command = args::command();
    let studies = command.find_subcommand("study").expect("it is this command").get_subcommands();
    let studies: Vec<_> = studies
        .map(|s| (s.get_name().to_owned(), s.get_about().map_or_else(String::new, ToString::to_string)))
        .collect();
    let names = studies.iter().map(|(name, _)| name.clone()).collect();
    cx.ui.result(&StudyList { schema: "rackloom.studies/1", studies: names }, || {
        let mut table = Table::new(&["NAME", "WHAT IT REPEATS"]);
        studies.into_iter().for_each(|(name, about)| table.row([name, about]));
        table.to_string()
    });
    Ok(Exit::Ok)
}

/// Prints a report, and draws it if that is wanted.
fn show(cx: &Context, svg: Option<&Path>, report: &dyn StudyReport) -> Result<Exit> {
    if let Some(file) = svg {
        std::fs::write(file, report.svg()).during(format!("cannot write {}", file.display()))?;
    }
    cx.ui.result(&report.json(), || report.to_string());
    Ok(verdict(report.claims()))
}

/// The exit code of a report. A claim that does not hold is an answer, not an error.
fn verdict(claims: &[Claim]) -> Exit {
    if claims.iter().all(|claim| claim.holds) { Exit::Ok } else { Exit::Negative }
}
