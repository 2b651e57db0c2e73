//! The presentation of measurements: tables for terminals of 80 columns, claims beside their bounds, charts as SVG, and
//! progress.
#![forbid(unsafe_code)]

mod chart;
mod claim;
mod progress;
mod study;
mod table;

pub use chart::{Chart, Legend, Series, Style};
pub use claim::{Claim, Rule, claims_table};
pub use progress::{Progress, Silent};
pub use study::{StudyReport, json};
pub use table::{Table, WIDTH, wrap};
