//! Operations of groups of cards over direct links.
//!
//! A card has links, each to the port of one other card. A [`Sequencer`] runs programs: lists of [`Command`]s in the
//! card's memory, which send, take, copy and reduce bytes. A [`Plan`] has the programs of an [`Operation`], one for
//! each rank of a [`Group`]. All of it is state machines and formats, without socket, clock or thread.
//!
//! A message of up to `EAGER` bytes is sent at once; where the receiver's program has not come to it, the card keeps
//! it, one for each context of its neighbour. A longer one waits until the receiver's program says that it takes it.
//! Either is done for its sender when the receiver has counted all its bytes. So a context has one message under way on
//! each link, nothing overflows, and contexts do not wait for each other.
#![forbid(unsafe_code)]

mod algorithm;
mod blocks;
mod check;
mod config;
mod context;
mod counters;
mod datatype;
mod execute;
mod group;
mod half;
mod link;
mod memory;
mod message;
mod operation;
mod phase;
mod plan;
#[cfg(feature = "planted-bugs")]
mod planted;
mod program;
mod receive;
mod report;
mod schedule;
mod sequencer;
mod waits;

pub use check::{ProgramError, check};
pub use config::{PATIENCE_LIVE_S, SequencerConfig};
pub use context::Start;
pub use counters::LinkCounters;
pub use datatype::{Datatype, Op, combine, reduce, reduce_before};
pub use group::Group;
pub use memory::{Memory, MemoryFailed};
pub use operation::{Buffers, Kind, Operation};
pub use plan::{Plan, PlanError};
#[cfg(feature = "planted-bugs")]
pub use planted::PlantedBug;
pub use program::{COMMAND_BYTES, COMMANDS_MAX, Command, MESSAGE_MAX, SURVEY_BYTES};
pub use report::{Cause, REPORT_BYTES, Report};
pub use sequencer::{NotStarted, Sequencer};
