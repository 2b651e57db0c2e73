//! What posed as somebody else while a command ran: as a card to this host, or as this host to a card.

use std::collections::BTreeMap;

use rackloom::{MacAddr, Rack};
use rackloom_wire::Counter;

use crate::cards::Roster;
use crate::context::Context;
use crate::failure::Result;
use crate::forged_report::{ForgedAtCard, ForgedReport};

/// The counters that tell, in the order of [`ForgedAtCard`].
const COUNTERS: [Counter; 6] = [
    Counter::AuthUntagged,
    Counter::AuthUnknown,
    Counter::AuthWrong,
    Counter::AuthReplay,
    Counter::DropTruncated,
    Counter::DropKind,
];

/// Does some work with these cards. A warning says what has come meanwhile, and so does what is given beside the work's
/// result or in its error: that may be why it failed. Without keys nobody can tell who has sent a frame, and nothing is
/// said.
pub(crate) fn watched<T>(
    cx: &Context,
    rack: &Rack,
    roster: &Roster,
    cards: &[MacAddr],
    work: impl FnOnce() -> Result<T>,
) -> Result<(T, Option<ForgedReport>)> {
    if cx.global.key.is_none() {
        return Ok((work()?, None));
    }
    let before = counters(rack, cards);
    let done = work();
    let roster = roster.with_newcomers(rack).unwrap_or_else(|_| roster.clone());
    let report = since(&before, rack, &roster);
    tell(cx, &report);
    match done {
        Ok(done) => Ok((done, Some(report))),
        Err(failure) => Err(failure.meanwhile(report)),
    }
}

/// What has come since the cards had these counters.
fn since(before: &BTreeMap<MacAddr, [u64; 6]>, rack: &Rack, roster: &Roster) -> ForgedReport {
    let forged = rack.forged().unwrap_or_default();
    let cards: Vec<_> = roster.cards().iter().map(|card| card.mac).collect();
    let since = |(card, now): (MacAddr, [u64; 6])| {
        let before = before.get(&card).copied().unwrap_or_default();
        // A card that has started again counts anew.
        let is_anew = before.iter().zip(now).any(|(before, now)| now < *before);
        let mut count = before.into_iter().zip(now).map(|(before, now)| if is_anew { now } else { now - before });
        let mut next = || count.next().expect("as many as there are counters");
        ForgedAtCard {
            name: roster.name(card),
            untagged: next(),
            unknown: next(),
            wrong: next(),
            replayed: next(),
            truncated: next(),
            kind: next(),
        }
    };
    let cards = counters(rack, &cards).into_iter().map(since).collect();
    ForgedReport { untagged: forged.untagged, wrong: forged.wrong, replayed: forged.replayed, cards }
}

fn tell(cx: &Context, report: &ForgedReport) {
    let ForgedReport { untagged, wrong, replayed, cards } = report;
    if untagged + wrong + replayed > 0 {
        cx.ui.warn(format!(
            "somebody poses as a card of this rack: dropped {untagged} frames without a tag, {wrong} with a wrong \
             one, and {replayed} that had come before"
        ));
    }
    let sum = |of: fn(&ForgedAtCard) -> u64| cards.iter().map(of).sum::<u64>();
    let counts = [sum(|c| c.untagged), sum(|c| c.unknown), sum(|c| c.wrong), sum(|c| c.replayed)];
    if counts.iter().any(|count| *count > 0) {
        let [untagged, unknown, wrong, replayed] = counts;
        cx.ui.warn(format!(
            "somebody sends to these cards what is not from their hosts: they dropped {untagged} frames without a tag, \
             {unknown} from hosts without a claim, {wrong} with a wrong tag, and {replayed} that had come before"
        ));
    }
}

/// The counters of the cards that answer.
fn counters(rack: &Rack, cards: &[MacAddr]) -> BTreeMap<MacAddr, [u64; 6]> {
    let one = |(card, counters): (MacAddr, std::result::Result<Vec<u64>, rackloom::Error>)| {
        let counters = counters.ok()?;
        Some((card, COUNTERS.map(|counter| counters.get(counter as usize).copied().unwrap_or_default())))
    };
    rack.counters(cards).wait().into_iter().filter_map(one).collect()
}
