//! `rackloom study optweb-...`: the evaluation of the OPTWEB paper, in models.

use rackloom_study_optweb::{Settings, run as run_study};

use super::show;
use crate::args::Calculated;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::ui::Steps;

pub(super) fn run(cx: &Context, name: &str, args: &Calculated) -> Result<Exit> {
    let mut steps = Steps::new(cx.ui, name);
    let done = run_study(name, Settings { quick: args.quick }, &mut steps);
    steps.finish();
    show(cx, args.svg.as_deref(), &*done.map_err(|e| Failure::of(&e))?)
}
