//! `rackloom study`: the paper's evaluation, redone in virtual time.

use rackloom_study_saf::{Claim, NAMES, Settings, StudyError, run as run_study};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::Study;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Explain, Failure, Result};
use crate::images::nearest;
use crate::ui::Steps;

/// The studies there are.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct StudyList {
    /// `rackloom.studies/1`
    schema: &'static str,
    /// Their names.
    studies: Vec<&'static str>,
}

pub(super) fn run(cx: &Context, args: &Study) -> Result<Exit> {
    let Some(name) = &args.name else {
        let list = StudyList { schema: "rackloom.studies/1", studies: NAMES.to_vec() };
        cx.ui.result(&list, || NAMES.join("\n"));
        return Ok(Exit::Ok);
    };
    let cards = args.card.map(|cards| (cards.kind, usize::from(cards.count)));
    let settings = Settings { quick: args.quick, seed: args.seed, cards };
    let mut steps = Steps::new(cx.ui, name);
    let done = run_study(name, settings, &mut steps);
    steps.finish();
    let report = done.map_err(|e| explain(name, &e))?;
    if let Some(file) = &args.svg {
        std::fs::write(file, report.svg()).during(format!("cannot write {}", file.display()))?;
    }
    cx.ui.result(&report.json(), || report.to_string());
    // A claim that does not hold is an answer, not an error.
    Ok(if report.claims().iter().all(|c: &Claim| c.holds) { Exit::Ok } else { Exit::Negative })
}

fn explain(name: &str, e: &StudyError) -> Failure {
    let failure = Failure::of(e);
    match (e, nearest(name, NAMES.into_iter())) {
        (StudyError::Unknown { .. }, Some(near)) => failure.help(format!("did you mean `{near}`?")),
        (StudyError::Unknown { .. }, None) => failure.help("`rackloom study` lists them"),
        _ => failure,
    }
}
