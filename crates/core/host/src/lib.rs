//! The host's side of Rackloom, as a state machine: it discovers cards, claims them, loads images into all of them at
//! once, fills and reads their memory, launches kernels and collects results, on any number of cards at a time.
//!
//! [`Host`] is a [`rackloom_node::Node`]: it holds no socket, clock or thread. Commands (methods that return an
//! [`OpId`]) go in; [`Event`]s come out, one [`Event::Completed`] for each operation.
//!
//! Order: operations on one card begin in the order in which they were given. A launch waits for all earlier writes, a
//! read for earlier overlapping writes, a write for earlier overlapping writes and reads. Nothing waits for a launch
//! but its own completion: whoever reuses its memory waits for that.
#![forbid(unsafe_code)]

mod boots;
mod card_info;
mod chunks;
mod config;
mod ends;
mod error;
mod event;
mod exchange;
mod guard;
mod host;
mod job;
mod keys;
mod launcher;
mod loader;
mod path;
mod patience;
mod peer;
#[cfg(feature = "planted-bugs")]
mod planted;
mod range;
mod reader;
mod request;
mod session;
mod writer;

pub use card_info::{Asks, CardInfo};
pub use config::{ClaimOptions, Config};
pub use error::{Absurdity, CardName, DownReason, LastSeen, OpError, PeerFault, Stage};
pub use event::{Event, LaunchReport, LoadPhase, LoadReport, OpId, Outcome};
pub use exchange::{Exchange, ExchangeEvent, Share, Step};
pub use guard::Forged;
pub use host::Host;
pub use job::{Arg, Change, Job, JobEvent, JobOptions, Tile, Work};
pub use keys::Keys;
pub use launcher::Launch;
pub use loader::Commit;
pub use peer::PeerState;
#[cfg(feature = "planted-bugs")]
pub use planted::PlantedBug;
