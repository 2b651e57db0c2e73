//! The names of the studies, for those who choose one and for the error of those who choose none.

/// Names of the studies.
pub const NAMES: [&str; 4] = ["saf-reconfigure", "saf-scaling", "saf-cost", "saf-ondemand"];
