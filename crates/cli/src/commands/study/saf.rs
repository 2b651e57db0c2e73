//! `rackloom study saf-...`: the evaluation of the SAF paper, in virtual time.

use rackloom_study_saf::{Settings, run as run_study};

use super::show;
use crate::args::{CardCount, Simulated};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::ui::Steps;

pub(super) fn run(cx: &Context, name: &str, args: &Simulated, card: Option<CardCount>) -> Result<Exit> {
    let cards = card.map(|cards| (cards.kind, usize::from(cards.count)));
    let settings = Settings { quick: args.quick, seed: args.seed, cards };
    let mut steps = Steps::new(cx.ui, name);
    let done = run_study(name, settings, &mut steps);
    steps.finish();
    show(cx, args.svg.as_deref(), &*done.map_err(|e| Failure::of(&e))?)
}
