//! `rackloom demo`: everything in one process. A rack of cards is discovered and reconfigured by broadcast; a matrix is
//! spread over it, transposed and added (PTRANS), and the result is compared with another computation.

use std::time::{Duration, Instant};

use bytes::Bytes;
use rackloom::{Array, ArrayWork, ClaimOptions, Commit, RackOptions, RunOptions, Scrub};
use rackloom_image::{Dtype, Image};
use rackloom_node::Rng;
use rackloom_wire::BULK_JUMBO;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::Demo;
use crate::commands::run::{DEPTH, RunCard, rows, show, sizing};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::format;
use crate::phases::{self, Phases};
use crate::rack::{self, Pace, Shape};
use crate::ui::Amount;

/// What the demonstration did.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DemoReport {
    /// `rackloom.demo/1`
    schema: &'static str,
    /// Cards in the rack.
    cards: usize,
    /// Bytes of the image.
    image_bytes: u64,
    /// From the first frame of the load to the last card's activation, seconds.
    load_seconds: f64,
    /// Time in each phase of the load.
    load_phases: Phases,
    /// Bytes of the load on the host's wire.
    load_wire_bytes: u64,
    /// Order of the matrices.
    order: u32,
    /// Tiles of the matrices.
    tiles: usize,
    /// From the job's start to the last tile, seconds.
    run_seconds: f64,
    /// Bytes of inputs and outputs transferred.
    run_bytes: u64,
    /// What each card did.
    shares: Vec<RunCard>,
    /// Time of the check, on this machine's own processor, seconds.
    check_seconds: f64,
    /// Elements that the check finds wrong.
    wrong: u64,
    /// Whether the result is right and every card took part in it.
    ok: bool,
}

/// Memory of a card: room for the staged image and for the tiles.
const MEMORY: u64 = 1 << 30;

pub(super) fn run(cx: &Context, args: &Demo) -> Result<Exit> {
    let ui = cx.ui;
    let mut clock = Story::begin(cx);
    let shape = Shape { memory: Some(MEMORY), bulk: BULK_JUMBO, seed: args.seed, pace: Pace::Live, rate: None };
    let mut local = rack::of_models(args.cards, shape)?;
    clock.report(format!("started a rack of {} model cards on an in-process switch", args.cards));

    let options = RackOptions { jumbo: true, seed: Some(args.seed), deadline: cx.global.timeout, ..Default::default() };
    let rack = rack::connect(&local, options)?;
    let roster = rack::discover_all(&local, &rack, cx.global.discover)?;
    clock.report(format!("discovered {} cards by their announcements", roster.cards().len()));

    let size = usize::try_from(args.image).unwrap_or(usize::MAX);
    let plain = rackloom_builtin_roles::image("ptrans").expect("it is built in");
    let padded = rackloom_rolec::pad_image(plain, rackloom_image::TARGET_MODEL, size).map_err(|e| Failure::of(&e))?;
    let image = Image::parse(padded.into()).map_err(|e| Failure::of(&e))?;
    let image_bytes = image.bytes().len() as u64;
    clock.report(format!("built the ptrans image: {}, as large as a bitstream", format::bytes(image_bytes)));

    let macs: Vec<_> = roster.cards().iter().map(|c| c.mac).collect();
    rack.claim(&macs, ClaimOptions::default()).wait_all()?;
    let progress = ui.progress("loading ptrans", image_bytes, Amount::Bytes);
    let loading =
        rack.load(&macs, image.bytes().clone(), Commit::AllOrNone, phases::show(progress.clone(), image_bytes));
    let load = loading.wait();
    progress.finish();
    let load = load?;
    if let Some(why) = load.fault().cloned() {
        return Err(Failure::from(rackloom::Error::from(why)));
    }
    clock.report(format!(
        "reconfigured all {} at once by broadcast: {} on the wire, {} in all",
        macs.len(),
        format::bytes(load.wire_bytes),
        format::rate(image_bytes * macs.len() as u64, load.total())
    ));
    rack.release(&macs, Scrub::Keep).wait_all()?;

    let order = args.order as usize;
    let (a, b) = (matrix(order, args.seed), matrix(order, !args.seed));
    clock.report(format!("made two matrices of order {order}, {} each", format::bytes(a.data.len() as u64)));

    let kernel = &image.manifest().kernels[0];
    let inputs = [("a".to_owned(), a.clone()), ("b".to_owned(), b.clone())].into();
    let cards: Vec<_> = roster.cards().iter().collect();
    let work = ArrayWork::new(0, kernel, inputs, Default::default(), sizing(&cards)).map_err(rackloom::Error::from)?;
    let tiles = work.plan().tiles();
    let progress = ui.progress("running ptrans", tiles as u64, Amount::Tiles);
    let options = RunOptions { depth: DEPTH, deadline: Some(cx.global.timeout), ..RunOptions::default() };
    let shown = show(progress.clone(), roster.clone(), tiles);
    let done = rack.run_job(image.bytes().clone(), work, options, shown);
    progress.finish();
    let (work, job) = done?;
    let moved = job.cards.values().map(|c| c.bytes).sum::<u64>();
    clock.report(format!(
        "ran PTRANS, C = B + A^T, in {tiles} tiles on {} cards: {} moved at {}",
        job.cards.values().filter(|c| c.tiles > 0).count(),
        format::bytes(moved),
        format::rate(moved, job.elapsed)
    ));

    let c = work.into_outputs().remove("c").expect("the kernel's output");
    let started = Instant::now();
    let wrong = count_wrong(order, &a.data, &b.data, &c.data);
    let check = started.elapsed();
    let shares = rows(&job, &roster);
    let idle = shares.iter().filter(|s| s.tiles == 0).count();
    let ok = wrong == 0 && (idle == 0 || tiles < 2 * macs.len());
    clock.report(match wrong {
        0 => format!("checked all {} elements against another computation: equal to the bit", order * order),
        _ => format!("{wrong} of {} elements are wrong", order * order),
    });
    drop(rack);
    local.clear();
    let report = DemoReport {
        schema: "rackloom.demo/1",
        cards: macs.len(),
        image_bytes,
        load_seconds: load.total().as_secs_f64(),
        load_phases: Phases::of(&load),
        load_wire_bytes: load.wire_bytes,
        order: args.order,
        tiles,
        run_seconds: job.elapsed.as_secs_f64(),
        run_bytes: moved,
        shares,
        check_seconds: check.as_secs_f64(),
        wrong,
        ok,
    };
    ui.result(&report, || text(&report, clock.started.elapsed()));
    Ok(if ok { Exit::Ok } else { Exit::Negative })
}

/// Prints what happened, and how long each part took.
struct Story<'a> {
    cx: &'a Context,
    started: Instant,
    last: Instant,
}

impl<'a> Story<'a> {
    fn begin(cx: &'a Context) -> Self {
        let now = Instant::now();
        Self { cx, started: now, last: now }
    }

    fn report(&mut self, what: String) {
        let now = Instant::now();
        self.cx.ui.say(format!("{:>9}  {what}", format::time(now - self.last)));
        self.last = now;
    }
}

/// A square matrix of numbers in -1..1.
fn matrix(order: usize, seed: u64) -> Array {
    let mut rng = Rng::new(seed);
    let mut data = Vec::with_capacity(order * order * 4);
    for _ in 0..order * order {
        let unit = (rng.next_u64() >> 40) as f32 / (1u64 << 23) as f32;
        data.extend_from_slice(&(unit - 1.0).to_le_bytes());
    }
    Array::new(Dtype::F32, vec![order, order], data.into()).expect("as many as the shape says")
}

/// Computes B + A^T here, row by row of A, and counts the elements of C that differ in any bit. It shares no code with
/// the kernel, the tiles or the cards.
fn count_wrong(order: usize, a: &Bytes, b: &Bytes, c: &Bytes) -> u64 {
    let at = |m: &[u8], i: usize| f32::from_le_bytes(m[4 * i..4 * i + 4].try_into().expect("four bytes"));
    if c.len() != 4 * order * order {
        return (order * order) as u64;
    }
    let mut wrong = 0;
    for row_of_a in 0..order {
        for column_of_a in 0..order {
            let i = column_of_a * order + row_of_a;
            let want = at(b, i) + at(a, row_of_a * order + column_of_a);
            wrong += u64::from(want.to_bits() != at(c, i).to_bits());
        }
    }
    wrong
}

fn text(r: &DemoReport, total: Duration) -> String {
    let tiles = |pick: fn(usize, usize) -> usize| r.shares.iter().map(|s| s.tiles).reduce(pick).unwrap_or(0);
    format!(
        "{}: {} cards reconfigured in {}, PTRANS of order {} in {}, each card {} to {} tiles; {} in all\n",
        if r.ok { "PASS" } else { "FAIL" },
        r.cards,
        format::time(Duration::from_secs_f64(r.load_seconds)),
        r.order,
        format::time(Duration::from_secs_f64(r.run_seconds)),
        tiles(usize::min),
        tiles(usize::max),
        format::time(total)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_finds_a_single_wrong_bit() {
        let order = 17;
        let (a, b) = (matrix(order, 1), matrix(order, 2));
        let f = |m: &Bytes, i: usize| f32::from_le_bytes(m[4 * i..4 * i + 4].try_into().unwrap());
        let mut c: Vec<u8> = (0..order * order)
            .flat_map(|n| (f(&b.data, n) + f(&a.data, n % order * order + n / order)).to_le_bytes())
            .collect();
        assert_eq!(count_wrong(order, &a.data, &b.data, &c.clone().into()), 0);
        c[4 * 100] ^= 1;
        assert_eq!(count_wrong(order, &a.data, &b.data, &c.into()), 1);
        assert_eq!(count_wrong(order, &a.data, &b.data, &Bytes::new()), 289);
    }
}
