//! `rackloom bench load`: the broadcast of a large image to many cards in this process, live.
//!
//! Each card stages the image and checks its digest before it commits, as always. For comparison the same run makes as
//! many plain copies of the bytes as there are cards: what this machine's memory would allow.

use std::time::{Duration, Instant};

use bytes::Bytes;
use rackloom::{ClaimOptions, Commit, LoadReport, RackOptions};
use rackloom_wire::{BULK_JUMBO, BULK_STANDARD};
use schemars::JsonSchema;
use serde::Serialize;

use super::process::{peak_resident, processor};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::format;
use crate::phases::{Phases, show};
use crate::rack::{self, Pace, Shape};
use crate::ui::Amount;

/// What to measure.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parameters {
    pub(crate) cards: u16,
    pub(crate) bytes: u64,
    pub(crate) times: u16,
    pub(crate) standard: bool,
    pub(crate) keys: bool,
}

/// The figures.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BenchLoad {
    /// `rackloom.bench-load/1`
    schema: &'static str,
    /// The processor.
    processor: String,
    /// Processors that this process may use.
    threads: usize,
    /// Whether this is an optimised build.
    release: bool,
    /// Cards.
    cards: u16,
    /// Bytes of the image.
    image_bytes: u64,
    /// Payload bytes of a frame.
    bulk: u16,
    /// Time of each load, seconds, from its first frame to the last card's activation.
    runs: Vec<f64>,
    /// The median of these.
    seconds: f64,
    /// Rate at which all cards together took the image in the median run, Gb/s.
    gbps: f64,
    /// Time in each phase of the median run.
    phases: Phases,
    /// Data frames of the median run that repaired losses.
    repair_frames: u64,
    /// Time of as many plain copies of the image as there are cards, seconds.
    memcpy_seconds: f64,
    /// Rate of these copies, Gb/s.
    memcpy_gbps: f64,
    /// Rate of the load, as a fraction of that of the copies.
    ratio: f64,
    /// Median time of as many loads into cards with keys, seconds, if that was asked for.
    keyed_seconds: Option<f64>,
    /// Peak memory of this process, bytes.
    peak_resident: u64,
}

/// DDR of a card: room for the largest image.
const MEMORY: u64 = 512 << 20;

pub(crate) fn run(cx: &Context, p: &Parameters) -> Result<Exit> {
    let bulk = if p.standard { BULK_STANDARD } else { BULK_JUMBO };
    let size = usize::try_from(p.bytes).unwrap_or(usize::MAX);
    // Two images in turn: a card that already has the image would have nothing to do.
    let images = ["ptrans", "vadd"].map(|role| {
        let plain = rackloom_builtin_roles::image(role).expect("it is built in");
        rackloom_rolec::pad_image(plain, rackloom_image::TARGET_MODEL, size)
            .map(Bytes::from)
            .map_err(|e| Failure::of(&e))
    });
    let [first, second] = images;
    let images = [first?, second?];
    let mut reports = measure(cx, p, bulk, &images, false)?;
    let keyed = if p.keys { Some(measure(cx, p, bulk, &images, true)?) } else { None };
    let keyed_seconds = keyed.map(|mut reports| {
        reports.sort_by_key(LoadReport::total);
        reports[reports.len() / 2].total().as_secs_f64()
    });
    let peak_resident = peak_resident();

    let runs: Vec<_> = reports.iter().map(|r| r.total().as_secs_f64()).collect();
    reports.sort_by_key(LoadReport::total);
    let median = &reports[reports.len() / 2];
    let (seconds, image_bytes) = (median.total().as_secs_f64(), images[0].len() as u64);
    let copied = copy(&images[0], p.cards).as_secs_f64();
    let bits = image_bytes as f64 * 8.0 * f64::from(p.cards);
    let report = BenchLoad {
        schema: "rackloom.bench-load/1",
        processor: processor(),
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        release: !cfg!(debug_assertions),
        cards: p.cards,
        image_bytes,
        bulk,
        runs,
        seconds,
        gbps: bits / seconds / 1e9,
        phases: Phases::of(median),
        repair_frames: median.repair_frames,
        memcpy_seconds: copied,
        memcpy_gbps: bits / copied / 1e9,
        ratio: copied / seconds,
        keyed_seconds,
        peak_resident,
    };
    cx.ui.result(&report, || text(&report));
    Ok(Exit::Ok)
}

/// The loads, into cards with keys or without.
fn measure(cx: &Context, p: &Parameters, bulk: u16, images: &[Bytes; 2], keys: bool) -> Result<Vec<LoadReport>> {
    let shape = Shape { memory: Some(MEMORY), bulk, seed: 1, pace: Pace::Live, rate: None };
    let (mut local, keys) = match keys {
        true => rack::of_keyed_models(p.cards, shape).map(|(local, keys)| (local, Some(keys)))?,
        false => (rack::of_models(p.cards, shape)?, None),
    };
    let options = RackOptions { jumbo: !p.standard, deadline: cx.global.timeout, keys, ..RackOptions::default() };
    let rack = rack::connect(&local, options)?;
    let roster = rack::discover_all(&local, &rack, cx.global.discover)?;
    let cards: Vec<_> = roster.cards().iter().map(|c| c.mac).collect();
    rack.claim(&cards, ClaimOptions::default()).wait_all()?;
    let mut reports: Vec<LoadReport> = Vec::new();
    for time in 0..usize::from(p.times) {
        let image = &images[time % 2];
        let bytes = image.len() as u64;
        let progress = cx.ui.progress(&format!("load {}", time + 1), bytes, Amount::Bytes);
        let report = rack.load(&cards, image.clone(), Commit::Each, show(progress.clone(), bytes)).wait();
        progress.finish();
        let report = report?;
        if let Some(why) = report.fault().cloned() {
            return Err(Failure::from(rackloom::Error::from(why)));
        }
        reports.push(report);
    }
    drop(rack);
    local.clear();
    Ok(reports)
}

/// The time of this many copies of the image, each to memory of its own, as the cards make them.
fn copy(image: &Bytes, times: u16) -> Duration {
    let mut copies: Vec<Vec<u8>> = (0..times).map(|_| vec![0; image.len()]).collect();
    // Touched first, so that the copies are measured and not the page faults.
    for copy in &mut copies {
        copy.iter_mut().step_by(4096).for_each(|b| *b = 1);
    }
    let started = Instant::now();
    for copy in &mut copies {
        copy.copy_from_slice(image);
    }
    std::hint::black_box(&copies);
    started.elapsed()
}

fn text(r: &BenchLoad) -> String {
    let seconds = |s: f64| format::time(Duration::from_secs_f64(s));
    let keyed =
        r.keyed_seconds.map(|s| format!("with keys: {}, {:.2} x the rate without\n", seconds(s), r.seconds / s));
    format!(
        "{} to {} cards, payloads of {} bytes: {} ({:.1} Gb/s in all)\n{}\
         as many plain copies: {} ({:.1} Gb/s); the load reaches {:.0} % of that\n\
         memory {}; {} threads of {}\n",
        format::bytes(r.image_bytes),
        r.cards,
        r.bulk,
        seconds(r.seconds),
        r.gbps,
        keyed.unwrap_or_default(),
        seconds(r.memcpy_seconds),
        r.memcpy_gbps,
        100.0 * r.ratio,
        format::memory(r.peak_resident),
        r.threads,
        r.processor
    )
}
