//! Inter-process communication between a program and a daemon: ordered messages in both directions, and bulk memory
//! beside them.
//!
//! A message is a kind (`u32`) and a body of at most 64 KiB; the crate does not interpret them. Two transports stand
//! behind one interface:
//!
//! - **On one node**, two rings in memory that the server allocates and both sides map. A Unix socket connects them,
//!   identifies the client, passes memory, and reports the death of either side. Bulk lies in shared arenas: only bytes
//!   that start or end in the user's own memory are copied.
//! - **Between nodes**, TCP: one connection for messages, each in one write, and one for bulk. Both may be within TLS.
//!
//! Any thread of a program may use its [`Client`]. The thread that waits for an answer reads the ring itself, so that a
//! blocking call costs two switches between processes, and none between threads of the program. A [`Server`] yields a
//! [`Peer`] for each client. The server trusts nothing that a client shares: it closes the channel of a client that
//! breaks the rules, for a named reason ([`Closed`]), and other clients are not affected.
//!
//! A server can hand a client over to another process, which then serves it alone ([`Peer::hand_over`]).
//!
//! Bulk has one interface for both transports: the client makes a [`Bulk`], puts bytes or expects some, and sends the
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
mod spare;
mod spin;
mod sys;
mod tls;

pub use batch::Batch;
pub use bulkref::BulkRef;
pub use client::{Bulk, Client, ClientConfig, Handler};
pub use control::RESERVED;
pub use endpoint::{Endpoint, TlsAddress};
pub use error::{ChannelError, Closed, Violation};
pub use hello::{Refusal, Token};
pub use limits::{CLIENTS_MAX, Limits, Spin};
pub use ring::{BODY_MAX, Corrupt};
pub use server::{Arena, Given, Grant, Handover, Identity, Peer, Receipt, Server, ServerConfig, Taken, Tenant};
pub use sys::map::Kept;
pub use tls::{Authorities, Pin, TlsError, TlsIdentity};
