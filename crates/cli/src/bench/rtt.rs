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
    /// Peak memory of this process, bytes.
    peak_resident: u64,
}

/// Reads before the measured ones, to warm caches and branch predictors.
const WARM_UP: u32 = 1000;
/// Rounds of which two ways are compared.
const ROUNDS: u32 = 20;
const PATTERN: [u8; 8] = *b"rackloom";

/// The times of so many reads, sorted.
fn measure(cx: &Context, reads: u32, keys: bool) -> Result<Vec<Duration>> {
    let shape = Shape { memory: Some(64 << 20), bulk: BULK_STANDARD, seed: 1, pace: Pace::Live, rate: None };
    let (local, keys) = match keys {
        true => rack::of_keyed_models(1, shape).map(|(local, keys)| (local, Some(keys)))?,
        false => (rack::of_models(1, shape)?, None),
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
    let (mut times, mut keyed, mut longer) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let mut open = measure(cx, reads / rounds, false)?;
        if keys {
            let mut with_key = measure(cx, reads / rounds, true)?;
            longer.push(middle(&with_key).as_secs_f64() / middle(&open).as_secs_f64());
            keyed.append(&mut with_key);
        }
        times.append(&mut open);
    }
    times.sort();
    keyed.sort();
    longer.sort_by(f64::total_cmp);
    let keyed_median_us = keys.then(|| middle(&keyed).as_secs_f64() * 1e6);
    let keyed_times_longer = keys.then(|| longer[longer.len() / 2]);
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
        keyed_median_us,
        keyed_times_longer,
        peak_resident: peak_resident(),
    };
    cx.ui.result(&report, || {
        let keyed = report.keyed_median_us.zip(report.keyed_times_longer).map(|(us, longer)| {
            format!("with a key: median {us:.1} us; {longer:.2} x the time without, by {rounds} rounds in turn\n")
        });
        format!(
            "8-byte reads: median {:.1} us, 99 % within {:.1} us, {:.1} to {:.1} us\n{}memory {}; {} threads of {}\n",
            report.median_us,
            report.p99_us,
            report.min_us,
            report.max_us,
            keyed.unwrap_or_default(),
            format::memory(report.peak_resident),
            report.threads,
            report.processor
        )
    });
    Ok(Exit::Ok)
}
