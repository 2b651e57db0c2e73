//! `rackloom ls`: the cards that answer.

use std::collections::BTreeMap;
use std::time::Instant;

use rackloom::{Asks, CardInfo, DownReason, Event, Rack, Watch};
use rackloom_image::Manifest;
use rackloom_report::{Table, WIDTH};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::Ls;
use crate::cards::Roster;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Result;
use crate::{format, images};

/// The cards of a segment.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct LsReport {
    /// `rackloom.ls/1`
    schema: &'static str,
    /// The segment.
    net: String,
    /// The cards, by unit number.
    cards: Vec<CardRow>,
}

/// One card.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct CardRow {
    /// What commands call it.
    pub(super) name: String,
    /// Its number in the rack.
    pub(super) unit: u16,
    /// Its address.
    pub(super) mac: String,
    /// `model`, `rtl` or `board`.
    pub(super) kind: String,
    /// Network ports; control frames are accepted at port 0 only.
    pub(super) ports: u8,
    /// DDR bytes.
    pub(super) memory: u64,
    /// Name of the active role, if there is one and its name is known.
    pub(super) role: Option<String>,
    /// BLAKE3 digest of the active image.
    pub(super) digest: Option<String>,
    /// Address of the host that holds it.
    pub(super) owner: Option<String>,
    /// What it is doing.
    pub(super) state: String,
    /// What it asks for, as it announces: `key` of whoever claims it, `signature` of images, `encryption` of claims.
    pub(super) asks: Vec<&'static str>,
    /// Whether another card answers under the same address: neither can be used.
    pub(super) shared_address: bool,
}

/// A card has come, changed or gone.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct LsEvent {
    /// `rackloom.ls-event/1`
    schema: &'static str,
    /// `up`, `changed` or `down`.
    event: &'static str,
    /// What commands call the card.
    name: String,
    /// Its address.
    mac: String,
    /// Why it is down: `goodbye`, `restarted`, `memory-failed` or `silent`.
    reason: Option<&'static str>,
    /// What it announces now; null when it is gone.
    card: Option<CardRow>,
}

type Digest = [u8; 32];

pub(super) fn run(cx: &Context, args: &Ls) -> Result<Exit> {
    let rack = cx.connect()?;
    // Before the snapshot, so that nothing is missed between the two.
    let events = rack.watch()?;
    let roster = Roster::discover(&rack, &cx.global)?;
    let mut roles = BTreeMap::new();
    let report = snapshot(cx, &rack, &roster, &mut roles);
    if !args.watch {
        let found = !report.cards.is_empty();
        cx.ui.result(&report, || text(&report));
        if !found {
            cx.ui.say("no card answered: `rackloom up` starts a rack, `rackloom card add` plugs one in");
        }
        return Ok(Exit::Ok);
    }
    watch(cx, args, &rack, &events, report, &mut roles)
}

fn watch(
    cx: &Context,
    args: &Ls,
    rack: &Rack,
    events: &Watch,
    first: LsReport,
    roles: &mut BTreeMap<Digest, String>,
) -> Result<Exit> {
    let mut names: BTreeMap<_, _> = first.cards.iter().map(|c| (c.mac.clone(), c.name.clone())).collect();
    let redraw = cx.ui.is_screen();
    let show = |report: &LsReport| match redraw {
        // Home, and clear what was below.
        true => cx.ui.text(format!("\x1b[H\x1b[J{}", text(report))),
        false => cx.ui.result(report, || text(report)),
    };
    show(&first);
    let until = args.watch_for.map(|time| Instant::now() + time);
    loop {
        let left = until.map_or(WATCH_TICK, |at| at.saturating_duration_since(Instant::now()).min(WATCH_TICK));
        if left.is_zero() {
            return Ok(Exit::Ok);
        }
        let Some(event) = events.next_within(left) else {
            rack.cards()?; // An error if the rack's network is gone.
            continue;
        };
        let roster = Roster::new(rack.cards()?);
        let (kind, mac, reason, info) = match &event {
            Event::CardUp(info) => ("up", info.mac, None, Some(info)),
            Event::CardChanged(info) => ("changed", info.mac, None, Some(info)),
            Event::CardDown { card, reason } => ("down", *card, Some(reason_name(*reason)), None),
            _ => continue,
        };
        let mac_text = mac.to_string();
        let name = match kind {
            "up" if !names.contains_key(&mac_text) => Some(roster.name(mac)),
            "changed" => names.get(&mac_text).cloned(),
            "down" => names.remove(&mac_text),
            _ => None,
        };
        let Some(name) = name else { continue }; // The snapshot shows it already.
        if kind == "up" {
            names.insert(mac_text.clone(), name.clone());
        }
        if redraw {
            show(&snapshot(cx, rack, &roster, roles));
            continue;
        }
        learn_roles(rack, roster.cards(), roles);
        let card = info.map(|info| row(&roster, info, roles));
        let event = LsEvent { schema: "rackloom.ls-event/1", event: kind, name, mac: mac_text, reason, card };
        cx.ui.result(&event, || match &event.card {
            Some(c) => format!("{kind}\t{}\t{}\t{}\t{}", c.name, c.mac, c.role.as_deref().unwrap_or("-"), c.state),
            None => format!("{kind}\t{}\t{}\t{}", event.name, event.mac, reason.unwrap_or("-")),
        });
    }
}

/// How often a watch checks whether it should end.
const WATCH_TICK: std::time::Duration = std::time::Duration::from_millis(200);

fn snapshot(cx: &Context, rack: &Rack, roster: &Roster, roles: &mut BTreeMap<Digest, String>) -> LsReport {
    learn_roles(rack, roster.cards(), roles);
    let cards = roster.cards().iter().map(|info| row(roster, info, roles)).collect();
    LsReport { schema: "rackloom.ls/1", net: cx.global.net.to_string(), cards }
}

/// Asks one card of each unknown role for the role's name.
pub(super) fn learn_roles(rack: &Rack, cards: &[CardInfo], roles: &mut BTreeMap<Digest, String>) {
    let mut ask = BTreeMap::new();
    for card in cards {
        let Some(digest) = card.digest.filter(|d| !roles.contains_key(d)) else { continue };
        match images::name_of(&digest) {
            Some(name) => _ = roles.insert(digest, name.to_owned()),
            None => _ = ask.entry(digest).or_insert(card.mac),
        }
    }
    let targets: Vec<_> = ask.values().copied().collect();
    for ((_, manifest), digest) in rack.manifest(&targets).wait().into_iter().zip(ask.into_keys()) {
        // A card that does not answer is listed with its digest.
        if let Some(manifest) = manifest.ok().and_then(|m| Manifest::from_json(&m).ok()) {
            roles.insert(digest, manifest.name);
        }
    }
}

pub(super) fn row(roster: &Roster, info: &CardInfo, roles: &BTreeMap<Digest, String>) -> CardRow {
    CardRow {
        name: roster.name(info.mac),
        unit: info.unit,
        mac: info.mac.to_string(),
        kind: word(info.kind),
        ports: info.ports,
        memory: info.memory,
        role: info.digest.and_then(|d| roles.get(&d).cloned()),
        digest: info.digest.map(|d| format::hex(&d)),
        owner: info.owner.map(|o| o.to_string()),
        state: word(info.state),
        asks: asks(info.asks).filter(|(asks, ..)| *asks).map(|(_, name, _)| name).collect(),
        shared_address: roster.is_shared(info.mac),
    }
}

/// What a card may ask for, by name, and what that is for its user.
fn asks(of: Asks) -> impl Iterator<Item = (bool, &'static str, &'static str)> {
    [
        (of.key, "key", "claims need a key"),
        (of.signature, "signature", "images need a signature"),
        (of.encryption, "encryption", "claims need encryption"),
    ]
    .into_iter()
}

/// Which cards ask for what, a line for each.
fn asking(cards: &[CardRow]) -> String {
    let line = |(_, name, text): (bool, &str, &str)| {
        let who: Vec<_> = cards.iter().filter(|c| c.asks.contains(&name)).map(|c| c.name.as_str()).collect();
        match who.len() {
            0 => String::new(),
            n if n == cards.len() => format!("{text}: all\n"),
            _ => format!("{text}: {}\n", who.join(", ")),
        }
    };
    asks(Asks::default()).map(line).collect()
}

/// The protocol's name of something, in lower case.
fn word(value: impl std::fmt::Debug) -> String {
    format!("{value:?}").to_lowercase()
}

const fn reason_name(reason: DownReason) -> &'static str {
    match reason {
        DownReason::Goodbye => "goodbye",
        DownReason::Restarted => "restarted",
        DownReason::MemoryFailed => "memory-failed",
        DownReason::Silent => "silent",
    }
}

/// The cards as a table, with their ports where there is room for them.
fn text(report: &LsReport) -> String {
    let full = table(&report.cards, true);
    let table = if full.width() <= WIDTH { full } else { table(&report.cards, false) };
    format!("{table}{}", asking(&report.cards))
}

fn table(cards: &[CardRow], with_ports: bool) -> Table {
    let ports = with_ports.then_some(">PORTS");
    let headings = ["NAME", "MAC", "KIND", ">MEMORY"].into_iter().chain(ports).chain(["ROLE", "OWNER", "STATE"]);
    let mut table = Table::new(&headings.collect::<Vec<_>>());
    for c in cards {
        let unknown = c.digest.as_ref().map_or("-", |d| &d[..8]);
        let role = c.role.as_deref().unwrap_or(unknown).to_owned();
        // A card without a unique unit number is named by its address, which has a column of its own.
        let name = if c.name == c.mac { format!("({})", c.unit) } else { c.name.clone() };
        let owner = c.owner.clone().unwrap_or_else(|| "-".to_owned());
        let ports = with_ports.then(|| c.ports.to_string());
        let head = [name, c.mac.clone(), c.kind.clone(), format::memory(c.memory)];
        table.row(head.into_iter().chain(ports).chain([role, owner, c.state.clone()]));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cards::tests::card;

    #[test]
    fn ports_are_shown_where_there_is_room() {
        let info = CardInfo { ports: 3, ..card(0, 9) };
        let roster = Roster::new(vec![info.clone()]);
        let cards = vec![row(&roster, &info, &BTreeMap::new())];
        let mut report = LsReport { schema: "rackloom.ls/1", net: "virtual:default".to_owned(), cards };
        let line = |report: &LsReport| text(report).lines().nth(1).unwrap().to_owned();
        assert_eq!(line(&report), "card0  02:00:00:00:00:09  model   1 GiB      3  -     -      empty");
        // A long role's name and an owner's address leave no room.
        (report.cards[0].role, report.cards[0].owner) =
            (Some("transpose".to_owned()), Some("02:ab:00:00:00:01".to_owned()));
        report.cards[0].state = "running".to_owned();
        report.cards[0].asks = vec!["signature"];
        let mut other = report.cards[0].clone();
        (other.name, other.asks) = ("card1".to_owned(), vec!["key", "signature"]);
        report.cards.push(other);
        let wide = text(&report);
        assert!(wide.ends_with("\nclaims need a key: card1\nimages need a signature: all\n"), "{wide}");
        assert!(!wide.contains("PORTS") && wide.contains("running"), "{wide}");
        assert!(wide.lines().all(|line| line.chars().count() <= WIDTH), "{wide}");
    }
}
