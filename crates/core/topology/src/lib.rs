//! Arrangements of links between cards beyond a full mesh, and static schedules through them.
//!
//! A [`Family`] names an arrangement: `polar-fly:7` is one of 57 cards with 8 links each. Its [`Graph`] says who is
//! joined to whom. [`Paths`] has a shortest path for each pair of cards, so that links carry alike. A [`Schedule`] says
//! in which slot a block goes over which link, if each card sends a block to each other; [`check`] proves of it that no
//! link carries two blocks at once, that no card sends on what it has not got, and how many blocks a card has to keep.
//! All of it is arithmetic on integers: the same name gives the same schedule everywhere.
#![forbid(unsafe_code)]

mod bits;
mod bound;
mod check;
mod family;
mod field;
mod graph;
mod paths;
mod schedule;
mod survey;

pub use bound::bound;
pub use check::{Checked, ScheduleError, check};
pub use family::{Family, FamilyError};
pub use graph::{CARDS_MAX, Graph};
pub use paths::{Paths, PathsError};
pub use schedule::{Order, Schedule};
pub use survey::{Survey, SurveyError};
