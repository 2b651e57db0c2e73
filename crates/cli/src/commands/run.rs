//! `rackloom run`: a kernel on arrays, spread over cards.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use rackloom::{
    ArrayError, ArrayWork, CardInfo, ClaimOptions, ExchangeWork, Happening, JobReport, JobUpdate, MacAddr, OpError,
    Rack, RunOptions, Sizing, scalar_word,
};
use rackloom_image::{Dir, Image, Kernel};
use rackloom_report::Table;
use rackloom_wire::ROLE_PRIVATE;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{ExchangeWay, Run};
use crate::cards::Roster;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::forged::watched;
use crate::forged_report::ForgedReport;
use crate::ui::{Amount, Progress};
use crate::{format, images, interrupt, npy};

/// How a job went.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RunReport {
    /// `rackloom.run/1`
    schema: &'static str,
    /// Name of the role.
    role: String,
    /// Name of the kernel.
    kernel: String,
    /// How blocks came to the cards that need them: `host` or `cards`.
    exchange: &'static str,
    /// Tiles in all; among cards that exchange, each card's part is one.
    tiles: usize,
    /// Extents of the largest tile by dimension.
    tile: BTreeMap<char, usize>,
    /// From the start to the last tile, seconds.
    seconds: f64,
    /// From when the first card was ready to the last tile, seconds.
    computing: f64,
    /// Bytes of inputs and outputs transferred by the host.
    bytes: u64,
    /// Bytes that cards fetched from each other.
    exchanged: u64,
    /// What each card did.
    cards: Vec<RunCard>,
    /// What posed as a card of the rack or as this host meanwhile; null without a key.
    forged: Option<ForgedReport>,
    /// The files written.
    outputs: Vec<PathBuf>,
}

/// What one card did for a job.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RunCard {
    /// What commands call it.
    pub(crate) name: String,
    /// Its address.
    mac: String,
    /// Tiles it computed.
    pub(crate) tiles: usize,
    /// Bytes of their inputs and outputs.
    bytes: u64,
    /// Time that its kernels ran, in seconds of its own clock.
    busy: f64,
    /// Cycles of the role's clock that its kernels took.
    cycles: u64,
    /// When it was ready, seconds from the start; null if it never was.
    joined: Option<f64>,
    /// Why it left the job before its end, if it did.
    left: Option<String>,
    /// What happened to it, also where it came back: the first 16.
    troubles: Vec<RunTrouble>,
    /// How much more happened to it.
    troubles_more: u64,
}

/// Something that happened to a card in a job.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RunTrouble {
    /// When, seconds from the start.
    at: f64,
    /// What: a claim that was lost, a restart, an image that somebody else had loaded.
    what: String,
}

impl RunCard {
    /// Why it is gone, or what happened before it came back.
    fn note(&self) -> String {
        let count = self.troubles.len() as u64 + self.troubles_more;
        match (&self.left, self.troubles.last()) {
            (Some(left), _) if count <= 1 => left.clone(),
            (Some(left), _) => format!("{left}; {count} troubles in all"),
            (None, Some(last)) if count == 1 => format!("was lost and came back: {}", last.what),
            (None, Some(last)) => format!("was lost and came back, {count} troubles: {}", last.what),
            (None, None) => String::new(),
        }
    }
}

/// Tiles in flight on each card.
pub(crate) const DEPTH: usize = 2;

pub(super) fn run(cx: &Context, args: &Run) -> Result<Exit> {
    let (image, number, mut kernel) = images::find_kernel(&args.role)?;
    for tile in &args.tile {
        if kernel.tile.insert(tile.dim, tile.extent).is_none() {
            let dims: Vec<_> = kernel.tile.keys().filter(|d| **d != tile.dim).map(char::to_string).collect();
            let help = format!("it can be tiled in {}", dims.join(", "));
            let what = format!("kernel `{}` cannot be tiled in dimension `{}`", kernel.name, tile.dim);
            return Err(Failure::new(what).help(help));
        }
    }
    let inputs = read_inputs(&kernel, &args.inputs)?;
    let outputs = name_outputs(&kernel, &args.output)?;
    let scalars = parse_scalars(&kernel, &args.set)?;

    let rack = Arc::new(cx.connect()?);
    let roster = Roster::discover_named(&rack, &cx.global, &args.cards.cards)?;
    let chosen = roster.select(&args.cards)?;
    let cards: Vec<_> = chosen.iter().map(|c| c.mac).collect();
    let proven = proven(cx, &rack, &cards)?;
    let chosen = if proven.is_empty() { chosen } else { proven.iter().collect() };
    let only = (!args.cards.cards.is_empty()).then(|| cards.iter().copied().collect::<BTreeSet<_>>());
    let options = RunOptions { cards: only, depth: DEPTH, deadline: Some(cx.global.timeout), ..RunOptions::default() };
    let title = format!("running {}", kernel.name);
    let show_on = |tiles: usize| {
        let progress = cx.ui.progress(&title, tiles as u64, Amount::Tiles);
        (progress.clone(), show(progress, roster.clone(), tiles))
    };
    // The handler must not keep the rack alive: dropping the rack releases its cards.
    let weak = Arc::downgrade(&rack);
    let interrupt = move || interrupt::instead(move || weak.upgrade().iter().for_each(|rack| rack.cancel_jobs()));
    let work = || -> Result<_> {
        match args.exchange {
            ExchangeWay::Host => {
                let sizing = sizing(&chosen);
                let work = ArrayWork::new(number, &kernel, inputs, scalars, sizing).map_err(rackloom::Error::from)?;
                let (plan, (progress, observe)) = (work.plan().clone(), show_on(work.plan().tiles()));
                interrupt();
                let done = rack.run_job(image.bytes().clone(), work, options, observe);
                progress.finish();
                let (work, report) = done?;
                Ok((work.into_outputs(), report, plan.tile_extents(), 0))
            }
            ExchangeWay::Cards => {
                let kernel = exchangeable(&image, &kernel, args)?;
                let memory = chosen.iter().map(|c| c.memory).min().unwrap_or(0);
                let work = ExchangeWork::new(kernel, inputs, cards.len(), memory).map_err(rackloom::Error::from)?;
                let exchanged = work.exchanged();
                let (progress, observe) = show_on(work.cards());
                let (role, _, _) = images::find_kernel("exchange/ptrans")?;
                interrupt();
                let done = rack.run_exchange(role.bytes().clone(), work, &cards, options, observe);
                progress.finish();
                let (work, report) = done?;
                Ok((work.into_outputs(), report, BTreeMap::new(), exchanged))
            }
        }
    };
    let ((arrays, report, tile, exchanged), forged) = watched(cx, &rack, &roster, &cards, work)?;
    let roster = roster.with_newcomers(&rack)?;
    for (name, path) in &outputs {
        npy::write(path, &arrays[name])?;
    }
    let report = RunReport {
        schema: "rackloom.run/1",
        role: image.manifest().name.clone(),
        kernel: kernel.name,
        exchange: args.exchange.name(),
        tiles: report.tiles,
        tile,
        seconds: report.elapsed.as_secs_f64(),
        computing: report.computing.as_secs_f64(),
        bytes: report.cards.values().map(|c| c.bytes).sum(),
        exchanged,
        cards: rows(&report, &roster),
        forged,
        outputs: outputs.into_iter().map(|(_, path)| path).collect(),
    };
    cx.ui.result(&report, || text(&report));
    Ok(Exit::Ok)
}

/// What these cards say of themselves under a tag, if this host has keys: before a claim anybody may have announced it,
/// and the plan rests on it. Cards that another host holds say nothing yet. The job claims all of them itself.
fn proven(cx: &Context, rack: &Rack, cards: &[MacAddr]) -> Result<Vec<CardInfo>> {
    if cx.global.key.is_none() {
        return Ok(Vec::new());
    }
    let claims = rack.claim(cards, ClaimOptions::default()).wait().into_iter();
    let granted: BTreeSet<_> = claims.filter_map(|(card, claim)| claim.is_ok().then_some(card)).collect();
    let known = rack.cards()?.into_iter();
    Ok(known.filter(|card| granted.contains(&card.mac)).collect())
}

/// The kernel, if cards can exchange its blocks: that of a role which comes with Rackloom, so its meaning is known.
fn exchangeable<'a>(image: &Image, kernel: &'a Kernel, args: &Run) -> Result<&'a Kernel> {
    if !args.tile.is_empty() {
        return Err(Failure::new("--tile has no meaning with --exchange cards")
            .help("cards that exchange blocks hold strips of rows, one each: leave --tile out"));
    }
    match images::name_of(&image.digest()) {
        Some("ptrans" | "gemm") => Ok(kernel),
        _ => Err(rackloom::Error::from(ArrayError::NoExchange { kernel: kernel.name.clone() }).into()),
    }
}

/// The sizing of a plan for these cards.
pub(crate) fn sizing(cards: &[&CardInfo]) -> Sizing {
    let memory = cards.iter().map(|c| c.memory).min().unwrap_or(0);
    let room = memory.saturating_sub(ROLE_PRIVATE) / DEPTH as u64;
    Sizing { cards: cards.len(), room: room & !63 }
}

/// Shows a job's progress.
pub(crate) fn show(progress: Progress, roster: Roster, tiles: usize) -> impl FnMut(&JobUpdate) + Send + 'static {
    let mut done_by: BTreeMap<MacAddr, u64> = BTreeMap::new();
    move |update| match update {
        JobUpdate::Joined(card) => {
            done_by.entry(*card).or_default();
        }
        JobUpdate::Left(card, why) => {
            done_by.remove(card);
            progress.note(format!("{why}; its tiles go to other cards"));
        }
        JobUpdate::Found(card, change) => {
            progress.note(format!("{}: {}", roster.name(*card), Happening::Found(*change)));
        }
        JobUpdate::Tile { card, done, .. } => {
            let cards = done_by.len().max(1);
            let by = done_by.entry(*card).or_default();
            *by += 1;
            progress.card(&roster.name(*card), *by, tiles.div_ceil(cards) as u64);
            progress.set(*done as u64, "");
        }
        _ => {}
    }
}

/// What each card did, by unit number.
pub(crate) fn rows(report: &JobReport, roster: &Roster) -> Vec<RunCard> {
    let order = |mac: MacAddr| roster.cards().iter().position(|c| c.mac == mac).unwrap_or(usize::MAX);
    let mut cards: Vec<_> = report.cards.iter().collect();
    cards.sort_by_key(|(mac, _)| (order(**mac), **mac));
    let row = |(mac, share): (&MacAddr, &rackloom::CardShare)| RunCard {
        name: roster.name(*mac),
        mac: mac.to_string(),
        tiles: share.tiles,
        bytes: share.bytes,
        busy: share.busy.as_secs_f64(),
        cycles: share.cycles,
        joined: share.joined.map(|d| d.as_secs_f64()),
        left: share.left.as_ref().map(OpError::reason),
        troubles: share
            .troubles
            .iter()
            .map(|t| RunTrouble { at: t.at.as_secs_f64(), what: t.what.to_string() })
            .collect(),
        troubles_more: share.troubles_more,
    };
    cards.into_iter().map(row).collect()
}

fn read_inputs(kernel: &Kernel, files: &[PathBuf]) -> Result<BTreeMap<String, rackloom::Array>> {
    // In the order of the kernel's arguments.
    let names: Vec<_> = names(kernel, Dir::In);
    if names.len() != files.len() {
        let what = format!("kernel `{}` takes {} inputs, not {}", kernel.name, names.len(), files.len());
        return Err(Failure::new(what).help(format!("its inputs are {}", names.join(", "))));
    }
    names.into_iter().zip(files).map(|(name, path)| Ok((name, npy::read(path)?))).collect()
}

fn name_outputs(kernel: &Kernel, files: &[PathBuf]) -> Result<Vec<(String, PathBuf)>> {
    let names = names(kernel, Dir::Out);
    if names.len() != files.len() {
        let what =
            format!("kernel `{}` has {} outputs, but -o was given {} times", kernel.name, names.len(), files.len());
        return Err(Failure::new(what).help(format!("its outputs are {}", names.join(", "))));
    }
    Ok(names.into_iter().zip(files.iter().cloned()).collect())
}

fn names(kernel: &Kernel, dir: Dir) -> Vec<String> {
    let is = |name: &&String| kernel.array(name).is_some_and(|a| a.dir == dir);
    kernel.args.iter().filter(is).cloned().collect()
}

fn parse_scalars(kernel: &Kernel, given: &[String]) -> Result<BTreeMap<String, u64>> {
    let mut words = BTreeMap::new();
    for text in given {
        let wrong = |why: String| Failure::new(format!("cannot use --set {text}")).help(why);
        let (name, value) = text.split_once('=').ok_or_else(|| wrong("expected NAME=VALUE".to_owned()))?;
        let word = match kernel.scalars.iter().find(|s| s.name == name) {
            Some(s) => scalar_word(s.dtype, value).ok_or_else(|| {
                wrong(format!("invalid value `{value}`: expected a number of type {}", s.dtype.numpy()))
            })?,
            None => 0, // `ArrayWork` reports scalars that the kernel does not have.
        };
        words.insert(name.to_owned(), word);
    }
    Ok(words)
}

fn text(r: &RunReport) -> String {
    let time = std::time::Duration::from_secs_f64(r.seconds);
    let mut table = Table::new(&["CARD", ">TILES", ">MOVED", ">BUSY", ">JOINED", "NOTE"]);
    for c in &r.cards {
        let seconds = |s: f64| format::time(std::time::Duration::from_secs_f64(s));
        table.row([
            c.name.clone(),
            c.tiles.to_string(),
            format::bytes(c.bytes),
            seconds(c.busy),
            c.joined.map_or_else(|| "-".to_owned(), seconds),
            c.note(),
        ]);
    }
    if r.exchange == ExchangeWay::Cards.name() {
        let cards = r.cards.len();
        let (moved, exchanged) = (format::bytes(r.bytes), format::bytes(r.exchanged));
        let time = format::time(time);
        return format!(
            "{table}{} on {cards} cards in {time}: {moved} moved by the host, {exchanged} from card to card\n",
            r.kernel
        );
    }
    format!(
        "{}{} on {} cards: {} tiles in {}, {} moved at {}\n",
        table,
        r.kernel,
        r.cards.iter().filter(|c| c.tiles > 0).count(),
        r.tiles,
        format::time(time),
        format::bytes(r.bytes),
        format::rate(r.bytes, time)
    )
}
