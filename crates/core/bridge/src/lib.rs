//! Remote memory and streams between cards and hosts, after DiAD (Lant et al., FPL 2023): an [`Endpoint`] is one node,
//! a state machine without socket, clock or thread.
//!
//! A node opens [`Windows`] onto its memory or its streams, each for one peer or for all. Peers read, write and change
//! it atomically by requests, which the transport delivers once and in order. Cards and hosts are equals: whoever asks
//! needs no card, and a host may open windows too.
//!
//! | module | what is decided there |
//! |---|---|
//! | `window` | who may touch what |
//! | `serve` | what a request does to memory |
//! | `transactions` | which answer belongs to which request |
//! | `inbox` | how pieces become messages of streams |
//! | `codec` | how a segment of the transport becomes a frame |
//! | `link` | what is kept of a peer, and what its new life costs |
//! | `endpoint` | peers, turns, patience |
//! | `requests` | what this node may ask of others |
//! | `receive` | what becomes of a frame |
//! | `streams` | messages to streams and from them |
#![forbid(unsafe_code)]

mod codec;
mod config;
mod counters;
mod endpoint;
mod inbox;
mod link;
mod message;
#[cfg(feature = "planted-bugs")]
mod planted;
mod receive;
mod requests;
mod serve;
mod streams;
mod transactions;
mod window;

pub use config::{EndpointConfig, PEERS, STRANGERS, STREAM_MESSAGE_MAX};
pub use counters::EndpointCounters;
pub use endpoint::{Endpoint, EndpointEvent, NotTaken};
pub use message::Atomic;
#[cfg(feature = "planted-bugs")]
pub use planted::PlantedBug;
pub use serve::{NoMemory, Target, TargetFailed};
pub use transactions::{Failure, Ticket};
pub use window::{Rights, Window, Windows};
