//! What `diad-throughput` measures.

use schemars::JsonSchema;
use serde::Serialize;

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
}
