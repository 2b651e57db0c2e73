//! `rackloom load`: an image into many cards at once.

use rackloom::{Commit, Error, LoadReport, MacAddr, OpError, Rack};
use rackloom_image::Image;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::Load;
use crate::cards::Roster;
use crate::context::{Context, Refused};
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::forged::watched;
use crate::forged_report::ForgedReport;
use crate::holder;
use crate::phases::{Phases, show};
use crate::ui::Amount;
use crate::{format, images};

/// How a load went.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LoadOutcome {
    /// `rackloom.load/1`
    schema: &'static str,
    /// The file, or the name of the role.
    image: String,
    /// BLAKE3 digest of the image.
    digest: String,
    /// Its bytes.
    bytes: u64,
    /// From the first frame to the last card's activation, seconds.
    seconds: f64,
    /// Time in each phase, seconds.
    phases: Phases,
    /// Data frames sent, repairs included.
    data_frames: u64,
    /// Data frames that repaired losses.
    repair_frames: u64,
    /// Bytes on the host's wire, Ethernet's overhead included.
    wire_bytes: u64,
    /// How it went on each card.
    cards: Vec<LoadedCard>,
    /// What posed as a card of the rack or as this host meanwhile; null without a key.
    forged: Option<ForgedReport>,
}

/// How a load went on one card.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LoadedCard {
    /// What commands call it.
    name: String,
    /// Its address.
    mac: String,
    /// Whether it runs the image now.
    ok: bool,
    /// From the first frame to its activation, seconds.
    seconds: Option<f64>,
    /// Why it was left out; it then keeps its old role.
    error: Option<String>,
    /// The protocol's code for that, if the card has given one.
    code: Option<&'static str>,
}

pub(super) fn run(cx: &Context, args: &Load) -> Result<Exit> {
    let image = images::find(&args.image)?;
    let rack = cx.connect()?;
    let roster = Roster::discover_named(&rack, &cx.global, &args.cards.cards)?;
    let wanted: Vec<_> = roster.select(&args.cards)?.iter().map(|c| c.mac).collect();
    let ((report, failed), forged) = watched(cx, &rack, &roster, &wanted, || load(cx, args, &rack, &image, &wanted))?;
    let bytes = image.bytes().len() as u64;
    let results = report.cards.iter().map(|(card, r)| {
        let why = r.as_ref().err();
        (*card, why.map(OpError::reason), why.and_then(OpError::code_name))
    });
    let refused = failed.iter().map(|(card, e)| (*card, Some(reason(e)), code(e)));
    let mut cards: Vec<_> = results
        .chain(refused)
        .map(|(card, error, code)| {
            let seconds = report.times.get(&card).map(std::time::Duration::as_secs_f64);
            LoadedCard { name: roster.name(card), mac: card.to_string(), ok: error.is_none(), seconds, error, code }
        })
        .collect();
    cards.sort_by_key(|c| roster.cards().iter().position(|i| i.mac.to_string() == c.mac));
    let ok = cards.iter().filter(|c| c.ok).count();
    let of = cards.len();
    let outcome = LoadOutcome {
        schema: "rackloom.load/1",
        image: args.image.clone(),
        digest: format::hex(&image.digest()),
        bytes,
        seconds: report.total().as_secs_f64(),
        phases: Phases::of(&report),
        data_frames: report.data_frames,
        repair_frames: report.repair_frames,
        wire_bytes: report.wire_bytes,
        cards,
        forged,
    };
    cx.ui.result(&outcome, || {
        let time = report.total();
        let total = bytes * ok as u64;
        let mut out = format!(
            "loaded {} ({}) into {ok} of {of} cards in {} ({} in all)\n",
            args.image,
            format::bytes(bytes),
            format::time(time),
            format::rate(total, time)
        );
        for c in outcome.cards.iter().filter(|c| !c.ok) {
            out.push_str(&format!("{}: {}\n", c.name, c.error.as_deref().unwrap_or_default()));
        }
        out
    });
    Ok(if ok == of { Exit::Ok } else { Exit::Partial })
}

/// How the load went on the cards that were claimed, and why the others were not.
fn load(cx: &Context, args: &Load, rack: &Rack, image: &Image, wanted: &[MacAddr]) -> Result<(LoadReport, Refused)> {
    let (granted, mut failed) = cx.claim(rack, wanted)?;
    if granted.is_empty() || (args.all_or_none && !failed.is_empty()) {
        let (_, why) = failed.swap_remove(0);
        return Err(Failure::from(why).during(format!("cannot load {}", args.image)));
    }
    let commit = if args.all_or_none { Commit::AllOrNone } else { Commit::Each };
    let bytes = image.bytes().len() as u64;
    let title = format!("loading {} into {} cards", args.image, granted.len());
    let progress = cx.ui.progress(&title, bytes, Amount::Bytes);
    let shown = show(progress.clone(), bytes);
    let claim = rackloom::ClaimOptions::default();
    let report = rack.load_through_restart(&granted, image.bytes().clone(), commit, claim, shown);
    progress.finish();
    let report = report?;
    if report.cards.values().all(std::result::Result::is_err) {
        // All cards report the same fault of an image; one report is enough.
        if let Some(why) = report.fault().cloned() {
            return Err(Failure::from(Error::from(why)).during(format!("no card took {}", args.image)));
        }
    }
    Ok((report, failed))
}

fn code(error: &Error) -> Option<&'static str> {
    match error {
        Error::Op(e) => e.code_name(),
        _ => None,
    }
}

/// The message without the card's name, which stands beside it.
fn reason(error: &Error) -> String {
    let why = match error {
        Error::Op(e) => e.reason(),
        e => e.to_string(),
    };
    match holder::of(error) {
        Some(who) => format!("{why}: {who}"),
        None => why,
    }
}
