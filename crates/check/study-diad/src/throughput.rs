//! `diad-throughput`: figure 5. Payload a second between a node in a fabric and a card's memory, or another fabric's
//! stream.
//!
//! Three ways: so many requests under way all the time; messages in packets of 4 KiB, the next when the last is
//! answered; messages of a stream. Every byte that comes is compared with what was sent, at the end.

mod measure;
mod report;

pub use report::{Point, Report, SCHEMA, Way};

use rackloom_report::Progress;
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::Result;
use crate::latencies::Latencies;

/// What to measure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Options {
    /// Bytes of a request, 1 to 4096.
    pub requests: Vec<usize>,
    /// Requests under way.
    pub depths: Vec<usize>,
    /// Bytes of a message in memory.
    pub messages: Vec<usize>,
    /// Bytes of a stream's message; longer ones than 64 KiB go as several.
    pub streams: Vec<usize>,
    /// Bytes of each measurement, at least.
    pub bytes: usize,
    /// The testbed.
    pub latencies: Latencies,
    /// Seed of all random numbers.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        let messages = vec![8192, 16_384, 65_536, 262_144, 1 << 20];
        Self {
            requests: vec![64, 256, 1024, 2048, 4096],
            depths: vec![1, 2, 4, 8, 14, 16],
            streams: vec![64, 1024, 4096, 8192, 65_536, 1 << 20],
            messages,
            bytes: 8 << 20,
            latencies: Latencies::default(),
            seed: 1,
        }
    }
}

impl Options {
    /// A few points of a tenth of the length.
    pub fn quick() -> Self {
        Self {
            requests: vec![64, 2048, 4096],
            depths: vec![1, 8, 14],
            messages: vec![8192],
            streams: vec![1024, 65_536],
            bytes: 1 << 20,
            ..Self::default()
        }
    }

    fn jobs(&self) -> Vec<Way> {
        let pairs = |reads| {
            let of = move |bytes: &usize| {
                let bytes = *bytes;
                self.depths.iter().map(move |&depth| Way::Requests { reads, bytes, depth })
            };
            self.requests.iter().flat_map(of)
        };
        let messages = self.messages.iter().map(|&bytes| Way::Messages { bytes });
        let streams = self.streams.iter().map(|&bytes| Way::Stream { bytes });
        pairs(true).chain(pairs(false)).chain(messages).chain(streams).collect()
    }
}

/// Measures all points.
///
/// # Errors
/// If a request fails, or what has come is not what was sent.
pub fn run(options: &Options, progress: &mut dyn Progress) -> Result<Report> {
    let jobs = options.jobs();
    let mut points = Vec::new();
    for way in &jobs {
        points.push(measure::measure(*way, options)?);
        progress.step(points.len(), jobs.len(), &way.to_string());
    }
    Ok(Report::new(options, points))
}
