//! `rackloom comm topology`: what an arrangement of links is like, and the proof of its schedule.

use std::path::Path;

use rackloom_rack::Links;
use rackloom_report::Table;
use rackloom_topology::{Order, Survey};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{CommTopology, SlotOrder};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Explain as _, Failure, Result};
use crate::ui::Amount;

/// An arrangement of links.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CommTopologyReport {
    /// `rackloom.comm-topology/1`
    schema: &'static str,
    /// Its name.
    topology: String,
    /// Cards.
    cards: usize,
    /// Links of a card, at most.
    links_of_a_card: usize,
    /// Links, each direction for itself.
    links: usize,
    /// Links of the longest path.
    longest_path: usize,
    /// Links of a path on average.
    mean_path: f64,
    /// Slots in which each card sends a block to each other.
    slots: usize,
    /// Slots that any schedule needs at least.
    slots_bound: f64,
    /// Blocks of others that a card keeps at once, at most.
    kept_blocks: usize,
    /// Links that a card's own blocks fill.
    rate_links: f64,
    /// The same if each link were always full.
    full_rate_links: f64,
}

pub(crate) fn run(cx: &Context, args: &CommTopology) -> Result<Exit> {
    let order = match args.order {
        SlotOrder::Link => Order::ByLink,
        SlotOrder::Block => Order::ByBlock,
    };
    // Seconds, for thousands of cards.
    let bar = cx.ui.progress("making the schedule", 1, Amount::Steps);
    let survey = Survey::new(&args.family, order).map_err(|e| Failure::of(&e))?;
    bar.finish();
    if let Some(file) = &args.cables {
        write_cables(&survey, file)?;
    }
    let report = CommTopologyReport {
        schema: "rackloom.comm-topology/1",
        topology: survey.family.to_string(),
        cards: survey.graph.cards(),
        links_of_a_card: survey.graph.degree(),
        links: survey.graph.links(),
        longest_path: survey.schedule.paths().longest(),
        mean_path: survey.schedule.paths().mean(),
        slots: survey.checked.slots,
        slots_bound: survey.bound,
        kept_blocks: survey.checked.kept,
        rate_links: survey.rate(),
        full_rate_links: survey.full_rate(),
    };
    cx.ui.result(&report, || text(&report));
    Ok(Exit::Ok)
}

/// Writes a line for each cable.
fn write_cables(survey: &Survey, file: &Path) -> Result<()> {
    let cards = survey.graph.cards() as u16;
    let cables = Links::Family(survey.family.clone()).cables(cards, 1).map_err(|e| Failure::of(&e))?;
    let lines: String = cables.iter().map(|cable| format!("{cable}\n")).collect();
    std::fs::write(file, lines).during(format!("cannot write {}", file.display()))
}

fn text(r: &CommTopologyReport) -> String {
    let mut table = Table::new(&["", ">", ""]);
    let mut row = |what: &str, figure: String, note: String| table.row([what.to_owned(), figure, note]);
    row("cards", r.cards.to_string(), String::new());
    row("links of a card", r.links_of_a_card.to_string(), format!("{} in all, each way", r.links));
    row("longest path", r.longest_path.to_string(), format!("{:.3} on average", r.mean_path));
    row("slots of an alltoall", r.slots.to_string(), format!("at least {:.2} on any paths", r.slots_bound));
    let full = format!("links of a card; {:.2} if all were always full", r.full_rate_links);
    row("its rate", format!("{:.2}", r.rate_links), full);
    row("blocks of others", r.kept_blocks.to_string(), "kept by a card at once, at most".to_owned());
    let table = table.to_string();
    let (_, rows) = table.split_once('\n').unwrap_or_default();
    let proof = "checked: each block gets there, a link carries one at a time, none leaves before it has come";
    format!("{}\n{rows}{}", r.topology, rackloom_report::wrap(proof, ""))
}
