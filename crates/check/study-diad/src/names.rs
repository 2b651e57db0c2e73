//! How the studies are called.

/// Names of the studies.
pub const NAMES: [&str; 4] = ["diad-latency", "diad-throughput", "diad-multichase", "diad-features"];
