//! Reliable delivery over a network that loses, repeats and reorders frames, as state machines without socket, clock or
//! frame format.
//!
//! The parts stand alone, and a service takes those that fit:
//!
//! | part | use |
//! |---|---|
//! | [`Sender`] | Numbers payloads, keeps each until it is acknowledged, resends what is lost |
//! | [`RunSender`] | The same for a run of numbers whose payloads the caller can make again: constant state |
//! | [`Requests`] | Questions that an answer with the same number settles |
//! | [`Receiver`] | Tells new numbers from repeated ones and decides when to acknowledge |
//! | [`Sack`] | A selective acknowledgement: the first number missing and a bitmap of those beyond it |
//! | [`Credit`] | How far a sender may go |
//! | [`Rtt`], [`Backoff`], [`Window`], [`Pacer`] | When to resend, how much to have in flight, how fast to send |
//! | [`Epochs`] | Which life of a peer a frame belongs to |
//! | [`Connection`] | All of them for one peer: payloads in both directions, each delivered once, in order if wanted |
//! | [`Peers`] | A bounded table of connections that strangers cannot crowd out |
//!
//! Time and what a peer said go in with `handle_*`; what to send comes out of `poll*` and `send`; `deadline` says when
//! `handle_timeout` is wanted. `now` never goes back. Payloads are opaque.
//!
//! Numbers are 32 bits wide and wrap. A number is *before* another if it is less than 2^31 behind it.
//!
#![doc = include_str!("gateware.md")]
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;

mod answers;
mod backoff;
mod connection;
mod credit;
mod epoch;
mod inbox;
mod pacer;
mod peer_error;
mod peers;
#[cfg(feature = "planted-bugs")]
mod planted;
mod receiver;
mod requests;
mod rtt;
mod run_sender;
mod sack;
mod segment;
mod sender;
mod seq;
mod window;

pub use backoff::Backoff;
pub use connection::{ASK_EVERY, Connection, ConnectionConfig, Received};
pub use credit::Credit;
pub use epoch::{Epochs, Verdict};
pub use inbox::{Delivery, Payloads};
pub use pacer::{Pacer, WIRE_OVERHEAD};
pub use peer_error::PeerError;
pub use peers::{Peers, PeersFull, PeersLimits};
#[cfg(feature = "planted-bugs")]
pub use planted::PlantedBug;
pub use receiver::{AckPolicy, Receiver};
pub use requests::{Request, Requests};
pub use rtt::Rtt;
pub use run_sender::{Expiry, RunSender};
pub use sack::{Arrival, Sack};
pub use segment::{Ack, Data, Segment};
pub use sender::{Resend, Sender};
pub use window::Window;
