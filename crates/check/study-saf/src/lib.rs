//! The SAF paper's evaluation, redone: each figure and table from a simulated rack that really does the work.
//!
//! | study | the paper | what runs |
//! |---|---|---|
//! | [`reconfigure`] | figure 6 | a 97.4 MB image into 1 to 256 cards, with and without loss, by broadcast and one by one |
//! | [`scaling`] | figure 7 | PTRANS on 1 to 20 cards, strong and weak, results verified |
//! | [`cost`] | table II | arithmetic, which also finds the table's own errors |
//! | [`ondemand`] | table III | a job of ten hours to which cards are added while it runs |
//!
//! Time is virtual: the host is the production host, cards are model cards with stated clocks and rates, cables and
//! switches are simulated. Same options, same report, to the last digit. Each study has `Options`, a function `run`,
//! and a `Report` that prints as tables of at most 80 columns, serializes to JSON with a versioned schema, and draws
//! itself as SVG.
#![forbid(unsafe_code)]

mod by_name;
mod error;
mod names;
mod pool;

pub mod cost;
pub mod ondemand;
pub mod paper;
pub mod rack;
pub mod reconfigure;
pub mod scaling;

pub use by_name::{Settings, run};
pub use error::{Result, StudyError};
pub use names::NAMES;
pub use rackloom_report::{Claim, Progress, Rule, Silent, StudyReport};
