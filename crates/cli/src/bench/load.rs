//! `rackloom bench load`: the broadcast of a large image to many cards in this process, live.
//!
//! Each card stages the image and checks its digest before it commits, as always. For comparison the same run makes as
//! many plain copies of the bytes as there are cards: what this machine's memory would allow.

use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use bytes::Bytes;
use rackloom::{ClaimOptions, Commit, LoadReport, RackOptions};
use rackloom_wire::{BULK_JUMBO, BULK_STANDARD};
use schemars::JsonSchema;
use serde::Serialize;

use super::flood::Flood;
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
    pub(crate) encrypt: bool,
    pub(crate) flood: Option<NonZeroU64>,
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
    /// The same into cards with keys, if that was asked for.
    keyed: Option<Compared>,
    /// The same encrypted, if that was asked for.
    encrypted: Option<Compared>,
    /// The same into cards with keys while a stranger floods them and their host, if that was asked for.
    flooded: Option<Compared>,
    /// Frames a second of the flood.
    flood_frames_per_second: Option<f64>,
    /// Peak memory of this process, bytes.
    peak_resident: u64,
}

/// Loads under another condition, each beside one without.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Compared {
    /// Median time of a load, seconds.
    seconds: f64,
    /// How many times longer than the load beside it: without keys, or with keys for a flood or encryption; the
    /// median.
    times_longer: f64,
}

impl Compared {
    fn of(these: &[f64], beside: &[f64]) -> Self {
        let longer = these.iter().zip(beside).map(|(this, other)| this / other);
        Self { seconds: median(these.iter().copied()), times_longer: median(longer) }
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// What cards and their network are like.
#[derive(Debug, Clone, Copy)]
enum Site {
    Open,
    Keyed,
    Encrypted,
    Flooded(NonZeroU64),
}

/// How long loads are repeated that are compared: less is as much the scheduler's time as theirs.
const SAMPLE: Duration = Duration::from_secs(1);

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
    let (mut reports, mut times, mut rates) = (Vec::new(), [const { Vec::new() }; 4], Vec::new());
    let encrypted = (p.keys && p.encrypt).then_some(Site::Encrypted);
    let sites = [Some(Site::Open), p.keys.then_some(Site::Keyed), encrypted, p.flood.map(Site::Flooded)];
    // In turn, so that what else this machine does meets all alike.
    for _ in 0..if p.keys { p.times } else { 1 } {
        for (site, times) in sites.into_iter().zip(&mut times) {
            let Some(site) = site else { continue };
            let (least, time) = if p.keys { (1, SAMPLE) } else { (usize::from(p.times), Duration::ZERO) };
            let (loads, rate) = measure(cx, p, bulk, &images, site, least, time)?;
            let total: Duration = loads.iter().map(LoadReport::total).sum();
            times.push(total.as_secs_f64() / loads.len() as f64);
            rates.extend(rate);
            if matches!(site, Site::Open) {
                reports.extend(loads);
            }
        }
    }
    let [open, keyed, encrypted, flooded] = &times;
    let keyed_compared = p.keys.then(|| Compared::of(keyed, open));
    let encrypted_compared = (p.keys && p.encrypt).then(|| Compared::of(encrypted, keyed));
    let flooded_compared = p.flood.map(|_| Compared::of(flooded, keyed));
    let peak_resident = peak_resident();

    let runs: Vec<_> = reports.iter().map(|r| r.total().as_secs_f64()).collect();
    reports.sort_by_key(LoadReport::total);
    let middle = &reports[reports.len() / 2];
    let (seconds, image_bytes) = (middle.total().as_secs_f64(), images[0].len() as u64);
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
        phases: Phases::of(middle),
        repair_frames: middle.repair_frames,
        memcpy_seconds: copied,
        memcpy_gbps: bits / copied / 1e9,
        ratio: copied / seconds,
        keyed: keyed_compared,
        encrypted: encrypted_compared,
        flooded: flooded_compared,
        flood_frames_per_second: p.flood.map(|_| median(rates.into_iter())),
        peak_resident,
    };
    cx.ui.result(&report, || text(&report));
    Ok(Exit::Ok)
}

/// Loads into new cards, so many at least and for so long; and frames a second of the flood.
fn measure(
    cx: &Context,
    p: &Parameters,
    bulk: u16,
    images: &[Bytes; 2],
    site: Site,
    least: usize,
    time: Duration,
) -> Result<(Vec<LoadReport>, Option<f64>)> {
    let shape = Shape { memory: Some(MEMORY), bulk, seed: 1, pace: Pace::Live, rate: None };
    let (mut local, keys) = match site {
        Site::Open => (rack::of_models(p.cards, shape)?, None),
        Site::Keyed | Site::Encrypted | Site::Flooded(_) => rack::of_keyed_models(p.cards, shape)
            .map(|(local, keys)| (local, Some(keys.encrypting(matches!(site, Site::Encrypted)))))?,
    };
    let options = RackOptions { jumbo: !p.standard, deadline: cx.global.timeout, keys, ..RackOptions::default() };
    let rack = rack::connect(&local, options)?;
    let roster = rack::discover_all(&local, &rack, cx.global.discover)?;
    let cards: Vec<_> = roster.cards().iter().map(|c| c.mac).collect();
    rack.claim(&cards, ClaimOptions::default()).wait_all()?;
    let flood = match site {
        Site::Flooded(rate) => Some(Flood::begin(&local, rack.mac(), rate)?),
        Site::Open | Site::Keyed | Site::Encrypted => None,
    };
    let (mut reports, began): (Vec<LoadReport>, _) = (Vec::new(), Instant::now());
    while reports.len() < least || began.elapsed() < time {
        let image = &images[reports.len() % 2];
        let bytes = image.len() as u64;
        let progress = cx.ui.progress(&format!("load {}", reports.len() + 1), bytes, Amount::Bytes);
        let report = rack.load(&cards, image.clone(), Commit::Each, show(progress.clone(), bytes)).wait();
        progress.finish();
        let report = report?;
        if let Some(why) = report.fault().cloned() {
            return Err(Failure::from(rackloom::Error::from(why)));
        }
        reports.push(report);
    }
    let rate = flood.map(Flood::end);
    drop(rack);
    local.clear();
    Ok((reports, rate))
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
    let compared = |what: &str, than: &str, c: &Compared| {
        format!("{what}: {}, {:.2} x the time {than}\n", seconds(c.seconds), c.times_longer)
    };
    let keyed = r.keyed.as_ref().map(|c| compared("with keys", "without", c));
    let encrypted = r.encrypted.as_ref().map(|c| compared("encrypted", "with keys alone", c));
    let rate = r.flood_frames_per_second.unwrap_or_default();
    let what = format!("with keys, flooded with {rate:.0} frames a second");
    let flooded = r.flooded.as_ref().map(|c| compared(&what, "with keys alone", c));
    format!(
        "{} to {} cards, payloads of {} bytes: {} ({:.1} Gb/s in all)\n{}{}{}\
         as many plain copies: {} ({:.1} Gb/s); the load reaches {:.0} % of that\n\
         memory {}; {} threads of {}\n",
        format::bytes(r.image_bytes),
        r.cards,
        r.bulk,
        seconds(r.seconds),
        r.gbps,
        keyed.unwrap_or_default(),
        encrypted.unwrap_or_default(),
        flooded.unwrap_or_default(),
        seconds(r.memcpy_seconds),
        r.memcpy_gbps,
        100.0 * r.ratio,
        format::memory(r.peak_resident),
        r.threads,
        r.processor
    )
}
