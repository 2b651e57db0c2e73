//! A deterministic discrete-event network.
//!
//! [`Net`] drives any number of [`Node`](rackloom_node::Node)s - the very cores that run live - over simulated cables
//! and switches, in virtual time. It reads no clock, starts no thread and draws every fault from one seed: the same
//! seed and the same calls give the same run, to the last event, and [`Net::event_hash`] proves it.
//!
//! ```text
//!   node --NIC queue--> cable --> switch --port queue--> cable --> node
//!          [ one pipe      ]                [ one pipe      ]
//! ```
//!
//! - [`Cable`]: rate, latency, MTU; full duplex. Each direction is a queue of finite size followed by a delay, and has
//!   its own [`Faults`].
//! - [`SwitchConfig`]: store and forward, learning, flooding, finite port queues that drop at the tail.
//! - [`Capture`]: a pcap of what passed, whole or the last frames of a failing seed.
//! - [`LinkStats`], [`SwitchStats`]: what went where, and why each frame that did not arrive was dropped.
//!
//! ```
//! # use rackloom_node::{Frame, Instant, Node, Output, Port};
//! # struct Card(Option<Frame>);
//! # impl Node for Card {
//! #     type Event = usize;
//! #     fn handle_frame(&mut self, _: Instant, _: Port, frame: Frame) { self.0 = Some(frame); }
//! #     fn handle_timeout(&mut self, _: Instant) {}
//! #     fn poll(&mut self, _: Instant) -> Option<Output<usize>> { self.0.take().map(|f| Output::Event(f.len())) }
//! #     fn next_deadline(&self) -> Option<Instant> { None }
//! # }
//! # struct Host(Option<Frame>);
//! # enum Either { Card(Card), Host(Host) }
//! # impl Node for Either {
//! #     type Event = usize;
//! #     fn handle_frame(&mut self, now: Instant, port: Port, frame: Frame) {
//! #         if let Self::Card(c) = self { c.handle_frame(now, port, frame) }
//! #     }
//! #     fn handle_timeout(&mut self, _: Instant) {}
//! #     fn poll(&mut self, now: Instant) -> Option<Output<usize>> {
//! #         match self { Self::Card(c) => c.poll(now), Self::Host(h) => h.0.take().map(|f| Output::Transmit(0, f)) }
//! #     }
//! #     fn next_deadline(&self) -> Option<Instant> { None }
//! # }
//! use rackloom_sim::{Cable, Faults, Net, SwitchConfig};
//!
//! let mut net = Net::new(42);
//! let switch = net.switch(SwitchConfig::default());
//! let host = net.add(Either::Host(Host(Some(Frame::from_static(&[0xFF; 60])))));
//! net.plug(host, switch, Cable::TEN_GIGABIT);
//! for _ in 0..11 {
//!     let card = net.add(Either::Card(Card(None)));
//!     let link = net.plug(card, switch, Cable::TEN_GIGABIT);
//!     net.set_faults(link, Faults::loss(0.5));
//! }
//! let mut reached = 0;
//! while let Some((_at, _card, length)) = net.run_until(Instant::from_nanos(1_000_000)) {
//!     assert_eq!(length, 60);
//!     reached += 1;
//! }
//! assert!((1..11).contains(&reached));
//! ```
//!
//! What is not simulated: auto-negotiation, pause frames, spanning tree (loops of switches are refused), buffer memory
//! shared among the ports of a switch, clock drift between nodes.
#![forbid(unsafe_code)]

mod backlog;
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
mod starvation;
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
