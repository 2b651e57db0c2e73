//! What managers are doing, from the metrics that they serve: a model of `rackloom top`, and its screen.
//!
//! [`Watch`] looks at the managers, as often as its caller asks. Two looks give rates; what they have counted before
//! the first look, or before a manager restarted, says nothing about now. A manager that does not answer is *lost*, and
//! is looked for again each time.

mod brief;
mod counters;
mod exposition;
mod report;
mod screen;
mod watch;

pub(crate) use self::report::TopReport;
pub(crate) use self::screen::{Left, Screen};
pub(crate) use self::watch::{Address, Watch};
