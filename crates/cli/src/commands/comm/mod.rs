//! `rackloom comm`: operations of groups of cards.

mod bench;
mod expected;
mod host_bench;
mod hosts;
mod numbers;
mod run;
mod topology;

use rackloom::{CommError, MacAddr, PlanError, Rack};

use crate::cards::Roster;
use crate::context::Context;
use crate::failure::{Failure, Result};

pub(super) use self::bench::{CommBenchReport, run as bench};
pub(super) use self::run::{CommReport, run};
pub(super) use self::topology::{CommTopologyReport, run as topology};

/// The cards of a group, rank by rank, claimed: those that were named, or all that answer.
fn claim(cx: &Context, rack: &Rack, wanted: &[String]) -> Result<(Roster, Vec<MacAddr>)> {
    let roster = Roster::discover_named(rack, &cx.global, wanted)?;
    let cards: Vec<MacAddr> = match wanted.is_empty() {
        true => roster.cards().iter().map(|card| card.mac).collect(),
        false => wanted.iter().map(|name| Ok(roster.find(name)?.mac)).collect::<Result<_>>()?,
    };
    if let Some(twice) = (0..cards.len()).find(|i| cards[..*i].contains(&cards[*i])) {
        let what = format!("{} is named twice", roster.name(cards[twice]));
        return Err(Failure::new(what).help("a card has one rank in a group"));
    }
    if cards.is_empty() {
        return Err(Failure::new("no card answered")
            .help("start some with `rackloom up --cards 4 --links full`, or choose a segment with --net"));
    }
    match cx.claim(rack, &cards)?.1.pop() {
        None => Ok((roster, cards)),
        Some((_, why)) => Err(why.into()),
    }
}

impl From<CommError> for Failure {
    fn from(error: CommError) -> Self {
        let error = match error {
            CommError::Rack(error) => return error.into(),
            error => error,
        };
        let help = match &error {
            CommError::Plan { source: PlanError::Apart { .. }, .. } => {
                "cards between them have to be of the group as well, or join them: `rackloom up --links full`"
            }
            CommError::Plan { .. } => "`rackloom help comm run` says what operations take",
            CommError::Card { .. } => "only cards of `rackloom up --links ...` have links",
            CommError::Memory { .. } => "give cards more with `rackloom up --memory`, or each rank fewer elements",
            _ => "`rackloom ls` shows which cards are there; `rackloom info CARD` shows their counters",
        };
        Self::of(&error).help(help)
    }
}
