//! `rackloom nic`: the hosts' network interfaces through the cards of a rack that is up.

use rackloom_report::Table;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::NicAction;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Result;
use crate::rack::control::{NicSlot, ask_nics};

/// The interfaces.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct NicList {
    /// `rackloom.nic/1`
    schema: &'static str,
    /// Each interface, in the order of the cards' unit numbers.
    nics: Vec<NicSlot>,
}

pub(super) fn run(cx: &Context, action: &NicAction) -> Result<Exit> {
    match action {
        NicAction::Ls => list(cx),
    }
}

fn list(cx: &Context) -> Result<Exit> {
    let report = NicList { schema: "rackloom.nic/1", nics: ask_nics(&cx.global.net)? };
    cx.ui.result(&report, || {
        let mut table = Table::new(&["CARD", "INTERFACE", "MAC", "HOOK", ">TO HOST", ">TO WIRE", "DROPPED"]);
        for nic in &report.nics {
            let card = if nic.present { nic.card.clone() } else { format!("({})", nic.card) };
            let (interface, mac, hook) = (nic.interface.clone(), nic.mac.clone(), nic.hook.clone());
            let passed = [nic.to_host_frames, nic.to_wire_frames].map(|frames| frames.to_string());
            let [to_host, to_wire] = passed;
            table.row([card, interface, mac, hook, to_host, to_wire, dropped(nic)]);
        }
        table.to_string()
    });
    Ok(Exit::Ok)
}

/// What was dropped, by its reasons; `-`: nothing.
fn dropped(nic: &NicSlot) -> String {
    let reasons = [
        ("forged", nic.forged),
        ("reserved", nic.reserved),
        ("astray", nic.astray),
        ("overflow", nic.overflow),
        ("held", nic.held),
        ("missed", nic.missed),
    ];
    let named: Vec<_> = reasons.iter().filter(|(_, n)| *n > 0).map(|(reason, n)| format!("{reason} {n}")).collect();
    if named.is_empty() { "-".to_owned() } else { named.join(", ") }
}
