//! The names of the studies.

/// Names of the studies.
pub const NAMES: [&str; 4] = ["saf-reconfigure", "saf-scaling", "saf-cost", "saf-ondemand"];
