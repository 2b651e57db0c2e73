//! `rackloom card`: plugs cards into a rack that is up, pulls them out, and gives them other keys.

use rackloom_report::Table;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::CardAction;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Explain, Failure, Result};
use crate::rack::control::{Request, Slot, ask};

/// The outcome of a request to a rack.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CardReport {
    /// `rackloom.card/1`
    schema: &'static str,
    /// `add`, `rm`, `ls` or `keys`.
    action: &'static str,
    /// The cards that were added, removed or listed, or have other keys.
    cards: Vec<Slot>,
}

pub(super) fn run(cx: &Context, action: &CardAction) -> Result<Exit> {
    let net = &cx.global.net;
    let (action, verb, cards) = match action {
        CardAction::Add { cards } => {
            ("add", "plugged in", ask(net, &Request::Add { kind: cards.kind, count: cards.count })?)
        }
        CardAction::Rm { card, yank } => {
            let unit = unit_of(card, &ask(net, &Request::Ls)?)?;
            ("rm", "pulled out", ask(net, &Request::Rm { unit, yank: *yank })?)
        }
        CardAction::Ls => ("ls", "", ask(net, &Request::Ls)?),
        CardAction::Keys { file } => {
            let file = std::path::absolute(file).during(format!("cannot find {}", file.display()))?;
            ("keys", "gave other keys to", ask(net, &Request::Keys { file })?)
        }
    };
    let report = CardReport { schema: "rackloom.card/1", action, cards };
    cx.ui.result(&report, || match action {
        "ls" => {
            let mut table = Table::new(&["NAME", ">UNIT", "MAC"]);
            report.cards.iter().for_each(|c| table.row([c.name.clone(), c.unit.to_string(), c.mac.clone()]));
            table.to_string()
        }
        _ => report.cards.iter().map(|c| format!("{verb} {}\n", c.name)).collect(),
    });
    Ok(Exit::Ok)
}

fn unit_of(wanted: &str, cards: &[Slot]) -> Result<u16> {
    let is_it = |c: &&Slot| c.name == wanted || c.unit.to_string() == wanted || c.mac == wanted.to_lowercase();
    cards.iter().find(is_it).map(|c| c.unit).ok_or_else(|| {
        let names: Vec<_> = cards.iter().take(16).map(|c| c.name.as_str()).collect();
        let help = if names.is_empty() {
            "the rack is empty".to_owned()
        } else {
            format!("its cards are {}", names.join(", "))
        };
        Failure::new(format!("the rack has no card named `{wanted}`")).help(help)
    })
}
