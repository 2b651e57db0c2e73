//! A deterministic discrete-event network.
//!
//! [`Net`] drives any number of [`Node`](rackloom_node::Node)s - the very cores that run live - over simulated cables and
//! switches, in virtual time. It reads no clock, starts no thread and draws every fault from one seed: the same seed and the
//! same calls give the same run, to the last event, and [`Net::event_hash`] proves it.
//!
//! ```text
//!   node --NIC queue--> cable --> switch --port queue--> cable --> node
//!          [ one pipe      ]                [ one pipe      ]
//! ```
//!
//! - [`Cable`]: rate, latency, MTU; full duplex. Each direction is a queue of finite size followed by a delay, and has its own
//!   [`Faults`].
//! - [`SwitchConfig`]: store and forward, learning, flooding, finite port queues that drop at the tail.
//! - [`Capture`]: a pcap of what passed, whole or the last frames of a failing seed.
//! - [`LinkStats`], [`SwitchStats`]: what went where, and why each frame that did not arrive was dropped.
//!
//! What is not simulated: auto-negotiation, pause frames, spanning tree (loops of switches are refused), buffer memory shared
//! among the ports of a switch, clock drift between nodes.
#![forbid(unsafe_code)]

mod capture;
mod fabric;
mod faults;
mod hash;
mod ids;
mod impair;
mod link;
mod net;
mod queue;
mod slot;
mod spells;
mod stats;
mod switch;
mod topology;

pub use capture::{Capture, CaptureError, Tap};
pub use faults::{Burst, Faults, Outage};
pub use ids::{End, LinkId, NodeId, SwitchId, Way};
pub use link::{Cable, WhenFull};
pub use net::Net;
pub use spells::{Span, Spells};
pub use stats::{DropReason, Drops, LinkStats, NodeStats, SwitchStats};
pub use switch::SwitchConfig;
