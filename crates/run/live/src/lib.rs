//! How nodes run live: real time, real frames, threads.
//!
//! A [`Wire`] is one attachment to an Ethernet segment. There are three kinds of segment: an in-process [`Switch`],
//! whose ports are wires; a virtual segment that separate processes attach to without root ([`segment`]); and any
//! Ethernet interface of this machine ([`Raw`]). [`Uplink`] joins a switch to either of the others. [`Net`] is how a
//! user names one. A [`Tap`] is the other way round: an interface of this machine whose cable ends in this process.
//!
//! A [`Driver`] runs one node, on any wire, on the threads that wait for it and on one of its own while none does; a
//! [`Pool`] runs many nodes on few threads, each on a port of a switch. A [`Capture`] writes down what passes.
//!
//! ```text
//!   node - Driver - Segment client ~~ socket ~~ SegmentServer -.
//!   node - Driver - Port ---------------------------------- Switch - Port - Uplink - Raw - NIC
//!   nodes - Pool - Ports -------------------------------------'
//!             '--- Cable - Uplink - Tap ~~ kernel ~~ programs
//! ```
#![deny(unsafe_code)]

mod cable;
mod capture;
mod clock;
mod doorbell;
mod driver;
mod engine;
mod entropy;
mod mailbox;
mod net;
mod pace;
mod pool;
mod raw;
pub mod segment;
mod signal;
mod switch;
mod tap;
mod uplink;
mod wire;
mod wires;

pub use cable::{Cable, CableError};
pub use capture::{Capture, CaptureError, CaptureStats, Captured};
pub use clock::Clock;
pub use driver::{CountersWatch, Driver};
pub use engine::Counters;
pub use entropy::random_u64;
pub use mailbox::Stopped;
pub use net::{Net, NetError};
pub use pool::{Member, Pool};
pub use raw::{Raw, RawError, RawStats};
pub use switch::{Port, PortStats, Switch, SwitchConfig, SwitchError, SwitchStats};
pub use tap::{Tap, TapError, TapStats};
pub use uplink::{Uplink, UplinkStats};
pub use wire::{BATCH, ETHERNET_HEADER, MTU_JUMBO, MTU_STANDARD, RETRY, Refused, Wire};
pub use wires::Ports;
