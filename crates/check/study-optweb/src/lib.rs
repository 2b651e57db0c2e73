//! The OPTWEB paper's evaluation, redone: each figure from plans that cards run and schedules that are proven, with the
//! paper's times for links and memory.
//!
//! | study | the paper | what runs |
//! |---|---|---|
//! | [`collectives`] | figures 10 to 15 | the plans of 2 to 64 ranks, command by command |
//! | [`jitter`] | figure 9 | barriers of cards that have clocks of their own |
//! | [`gateware`] | none | the event model beside cycles of gateware |
//! | [`topologies`] | figure 20, section 5.3 | schedules of an alltoall on up to 4,160 cards, checked and timed |
//! | [`applications`] | figure 19 | plans of four programs on a mesh and a torus, beside an ideal switch |
//! | [`cost`] | figures 17 and 18 | arithmetic, which also finds what the paper leaves out |
//!
//! Everything is arithmetic on integers of picoseconds: the same options give the same report, to the last digit.
#![forbid(unsafe_code)]

mod by_name;
mod error;
mod event;
mod group;
mod names;
mod timing;

pub mod applications;
pub mod collectives;
pub mod cost;
pub mod gateware;
pub mod jitter;
pub mod paper;
pub mod topologies;

pub use by_name::{Settings, run};
pub use error::{Result, StudyError};
pub use event::{NotRun, run as run_programs};
pub use names::NAMES;
pub use timing::{Frames, Local, Timing};
