//! The names of the studies.

/// Names of the studies.
pub const NAMES: [&str; 4] = ["optweb-collectives", "optweb-topologies", "optweb-applications", "optweb-cost"];
