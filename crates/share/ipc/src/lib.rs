//! What a program and a daemon talk through: messages in order both ways, and bulk memory beside them.
//!
//! A message is a `u32` kind and at most 64 KiB; what it means is the users' business. Two transports stand behind one
//! interface:
//!
//! - **On one node**, two rings in memory that the server makes and both map; a Unix socket connects, says who the
//!   client is, hands over memory, and tells each side when the other dies. Bulk lies in shared arenas: nothing is
//!   copied but what the user's own memory makes necessary.
//! - **Between nodes**, TCP: one connection for messages, each in one write, and one for bulk.
//!
//! A [`Client`] is used by any thread of a program. Who waits for an answer reads the ring itself, so that a
//! blocking call costs two hand-overs between threads, and none within the program. A [`Server`] gives a [`Peer`] for
//! each client. The server takes nothing of what a client shares on trust: a client that breaks the rules has its
//! channel closed with a name for it ([`Closed`]), and nobody else notices.
//!
//! A server's process can leave a client to another process, which then serves it alone ([`Peer::hand_over`]).
//!
//! Bulk is written once for both transports: the client makes a [`Bulk`], puts bytes or expects some, and sends the
//! [`BulkRef`] in a message; the server takes or fills what the reference names ([`Peer::take`], [`Peer::give`]).
#![deny(unsafe_code)]

mod batch;
mod bulkref;
mod client;
mod control;
mod endpoint;
mod error;
#[doc(hidden)]
pub mod frame;
#[doc(hidden)]
pub mod hello;
mod le;
mod limits;
#[doc(hidden)]
pub mod ring;
mod server;
mod shared;
mod spin;
mod sync;
mod sys;

pub use batch::Batch;
pub use bulkref::BulkRef;
pub use client::{Bulk, Client, ClientConfig, Handler};
pub use control::RESERVED;
pub use endpoint::Endpoint;
pub use error::{ChannelError, Closed, Violation};
pub use hello::{Refusal, Token};
pub use limits::{CLIENTS_MAX, Limits, Spin};
pub use ring::{BODY_MAX, Corrupt};
pub use server::{Given, Grant, Handover, Identity, Peer, Server, ServerConfig, Taken};
