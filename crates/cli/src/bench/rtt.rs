//! `rackloom bench rtt`: the time of reads of 8 bytes of a card's memory, one after another, live in this process.

use std::time::{Duration, Instant};

use bytes::Bytes;
use rackloom::{ClaimOptions, RackOptions};
use rackloom_wire::{BULK_STANDARD, ROLE_PRIVATE};
use schemars::JsonSchema;
use serde::Serialize;

use super::process::{peak_resident, processor};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::format;
use crate::rack::{self, Pace, Shape};

/// The figures.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BenchRtt {
    /// `rackloom.bench-rtt/1`
    schema: &'static str,
    /// The processor.
    processor: String,
    /// Processors that this process may use.
    threads: usize,
    /// Whether this is an optimised build.
    release: bool,
    /// Reads measured.
    reads: u32,
    /// Shortest, microseconds.
    min_us: f64,
    /// Median, microseconds.
    median_us: f64,
    /// 99th percentile, microseconds.
    p99_us: f64,
    /// Longest, microseconds.
    max_us: f64,
    /// Median of as many reads from a card with a key, microseconds, if that was asked for.
    keyed_median_us: Option<f64>,
    /// How many times longer such a read takes than one without, the median of rounds in turn.
    keyed_times_longer: Option<f64>,
    /// Median of as many reads that are encrypted, microseconds, if that was asked for.
    encrypted_median_us: Option<f64>,
    /// How many times longer such a read takes than one with keys alone, the median of rounds in turn.
    encrypted_times_longer: Option<f64>,
    /// Peak memory of this process, bytes.
    peak_resident: u64,
}

/// Reads before the measured ones, to warm caches and branch predictors.
const WARM_UP: u32 = 1000;
/// Rounds of which two ways are compared.
const ROUNDS: u32 = 20;
const PATTERN: [u8; 8] = *b"rackloom";

/// How reads are kept from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Open,
    Keyed,
    Encrypted,
}

/// The times of so many reads, sorted.
fn measure(cx: &Context, reads: u32, way: Way) -> Result<Vec<Duration>> {
    let shape = Shape { memory: Some(64 << 20), bulk: BULK_STANDARD, seed: 1, pace: Pace::Live, rate: None };
    let (local, keys) = match way {
        Way::Open => (rack::of_models(1, shape)?, None),
        Way::Keyed | Way::Encrypted => rack::of_keyed_models(1, shape)
            .map(|(local, keys)| (local, Some(keys.encrypting(way == Way::Encrypted))))?,
    };
    let card = local.mac(0);
    let rack = rack::connect(&local, RackOptions { keys, ..RackOptions::default() })?;
    rack::discover_all(&local, &rack, cx.global.discover)?;
    rack.claim(&[card], ClaimOptions::default()).wait_all()?;
    rack.write(card, ROLE_PRIVATE, Bytes::from_static(&PATTERN)).wait()?;
    let mut times = Vec::with_capacity(reads as usize);
    for i in 0..reads + WARM_UP {
        let started = Instant::now();
        let data = rack.read(card, ROLE_PRIVATE, 8).wait()?;
        let took = started.elapsed();
        if data != PATTERN[..] {
            return Err(Failure::new(format!("card0 returned {data:02x?}, where {PATTERN:02x?} was written")));
        }
        if i >= WARM_UP {
            times.push(took);
        }
    }
    times.sort();
    Ok(times)
}

/// The middle one of times that are sorted.
fn middle(times: &[Duration]) -> Duration {
    times[(times.len() - 1) / 2]
}

pub(crate) fn run(cx: &Context, reads: u32, keys: bool) -> Result<Exit> {
    // Where threads run decides more than tags do, and stays decided for a rack's life: many racks, in turn.
    let rounds = if keys { ROUNDS.min(reads / 10) } else { 1 };
    let mut ways = vec![Way::Open];
    ways.extend(keys.then_some(Way::Keyed));
    ways.extend((keys && cx.global.encrypt).then_some(Way::Encrypted));
    let mut measured = vec![(Vec::new(), Vec::new()); ways.len()];
    for _ in 0..rounds {
        let mut before = None;
        for (way, (times, longer)) in ways.iter().zip(&mut measured) {
            let mut these = measure(cx, reads / rounds, *way)?;
            let median = middle(&these).as_secs_f64();
            longer.extend(before.replace(median).map(|before| median / before));
            times.append(&mut these);
        }
    }
    for (times, longer) in &mut measured {
        times.sort();
        longer.sort_by(f64::total_cmp);
    }
    let median_us = |at: usize| measured.get(at).map(|(times, _)| middle(times).as_secs_f64() * 1e6);
    let times_longer = |at: usize| measured.get(at).map(|(_, longer)| longer[longer.len() / 2]);
    let times = &measured[0].0;
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e6;
    let report = BenchRtt {
        schema: "rackloom.bench-rtt/1",
        processor: processor(),
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        release: !cfg!(debug_assertions),
        reads,
        min_us: at(0.0),
        median_us: at(0.5),
        p99_us: at(0.99),
        max_us: at(1.0),
        keyed_median_us: median_us(1),
        keyed_times_longer: times_longer(1),
        encrypted_median_us: median_us(2),
        encrypted_times_longer: times_longer(2),
        peak_resident: peak_resident(),
    };
    cx.ui.result(&report, || {
        let line = |what: &str, us: Option<f64>, longer: Option<f64>, than: &str| {
            let (Some(us), Some(longer)) = (us, longer) else { return String::new() };
            format!("{what}: median {us:.1} us; {longer:.2} x the time {than}, by {rounds} rounds in turn\n")
        };
        let keyed = line("with a key", report.keyed_median_us, report.keyed_times_longer, "without");
        let (us, longer) = (report.encrypted_median_us, report.encrypted_times_longer);
        let encrypted = line("encrypted", us, longer, "with a key alone");
        format!(
            "8-byte reads: median {:.1} us, 99 % within {:.1} us, {:.1} to {:.1} us\n{keyed}{encrypted}memory {}; {} threads of {}\n",
            report.median_us,
            report.p99_us,
            report.min_us,
            report.max_us,
            format::memory(report.peak_resident),
            report.threads,
            report.processor
        )
    });
    Ok(Exit::Ok)
}
