//! The API for live programs. Its calls block and need no async runtime; futures can await the same handles.
//!
//! [`Rack::connect`] attaches to an Ethernet segment and runs a [`rackloom_host::Host`] there, on a thread of its own.
//! An operation on cards returns a [`Pending`] at once, or a [`Batch`] of them, one per card; `wait` blocks until it
//! has ended, `await` does so in a future. Every operation ends: with its outcome, or with an error that names the card
//! and says what was seen of it.
//!
//! [`Rack::run_job`] spreads work over all cards; [`ArrayWork`] is the work of a kernel on whole arrays, cut into tiles
//! according to the role's manifest. [`Rack::run_exchange`] has cards fetch from each other what they need instead.
//!
//! ```no_run
//! use rackloom::{Net, Rack, RackOptions};
//! use std::time::Duration;
//!
//! let rack = Rack::connect(&"virtual".parse::<Net>()?, RackOptions::default())?;
//! for card in rack.discover(Duration::from_secs(1))? {
//!     println!("{} has {} bytes of memory", card.mac, card.memory);
//! }
//! # Ok::<(), rackloom::Error>(())
//! ```
#![forbid(unsafe_code)]

pub mod array_work;
mod batch;
mod claims;
mod comm;
mod desk;
mod entropy;
mod error;
mod exchange;
mod exposure;
mod job;
mod options;
mod pending;
mod rack;
mod restart;
pub mod rma;
mod runner;
mod search;
mod turn;
mod watch;

pub use array_work::{Array, ArrayError, ArrayWork, Plan, Sizing, scalar_word};
pub use batch::Batch;
pub use comm::{CommError, Communicator, Operated, Prepared, Seat};
pub use entropy::random_mac;
pub use error::{Error, RmaError};
pub use exchange::ExchangeWork;
pub use exposure::insecure_open_by_environment;
pub use job::{CardShare, Happening, JobReport, JobUpdate, PATIENCE, RunOptions, TROUBLES_MAX, Trouble};
pub use options::RackOptions;
pub use pending::Pending;
pub use rack::{Rack, WireHealth};
pub use rma::{Mapping, Messages, Rma, RmaOptions};
pub use turn::Claimed;
pub use watch::Watch;

pub use rackloom_bridge::{Failure, Rights, STREAM_MESSAGE_MAX, Window};
pub use rackloom_collective::{Cause, Datatype, Kind as OperationKind, MESSAGE_MAX, Op, Operation, PlanError, Report};
pub use rackloom_host::{
    Asks, CardInfo, CardName, Change, ClaimOptions, Commit, DownReason, Event, Forged, Keys, LastSeen, Launch,
    LaunchReport, LoadPhase, LoadReport, OpError, Work,
};
pub use rackloom_hosts::{HostError, HostGroup, HostPrepared, Secret as HostSecret, Start as HostStart};
pub use rackloom_live::{Net, NetError, Ports};
pub use rackloom_pager::{Access, PagerError};
pub use rackloom_sign::Policy;
pub use rackloom_wire::{MacAddr, Restart, Scrub};
