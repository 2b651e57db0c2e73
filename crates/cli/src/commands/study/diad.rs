//! `rackloom study diad-...`: the evaluation of the DiAD paper, in virtual time.

use rackloom_study_diad::{Settings, run as run_study};

use super::show;
use crate::args::Simulated;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::ui::Steps;

pub(super) fn run(cx: &Context, name: &str, args: &Simulated) -> Result<Exit> {
    let mut steps = Steps::new(cx.ui, name);
    let done = run_study(name, Settings { quick: args.quick, seed: args.seed }, &mut steps);
    steps.finish();
    show(cx, args.svg.as_deref(), &*done.map_err(|e| Failure::of(&e))?)
}
