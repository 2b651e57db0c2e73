//! What managers are doing, from the metrics that they serve: the model of `rackloom top`, and its screen.
//!
//! [`Watch`] queries the managers whenever its caller asks. Rates come from two queries; what a manager counted before
//! the first query, or before it restarted, says nothing about now. A manager that does not answer is *lost*, and is
//! queried again each time.

mod brief;
mod counters;
mod exposition;
mod report;
mod screen;
mod watch;

pub(crate) use self::report::TopReport;
pub(crate) use self::screen::{Left, Screen};
pub(crate) use self::watch::{Address, Watch};
