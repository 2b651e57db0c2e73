//! The names of the studies.

/// Names of the studies.
pub const NAMES: [&str; 6] = [
    "optweb-collectives",
    "optweb-jitter",
    "optweb-gateware",
    "optweb-topologies",
    "optweb-applications",
    "optweb-cost",
];
