//! The protocol between the OpenCL library and the manager: commands one way, replies the other, each a message of a
//! channel ([`rackloom_ipc`]).
//!
//! # One stream
//! A session is one channel, and works on one board ([`Command::Open`]); a program that uses several boards of a
//! manager has a session for each. It carries **one stream of commands, executed in the order in which they are sent**.
//! The library sends an operation only when every event it waits for is either complete or an operation that was sent
//! before it in the same session; whatever waits for anything else (a user event, another board) it holds back, with
//! all that depends on it. So each order of arrival is a correct order of execution, whatever queues the program
//! has; nothing in the manager ever waits for a client; and a tenant that never completes its user event occupies
//! nothing but its own memory.
//!
//! # Names
//! The library numbers its objects itself, so that it can make one without waiting for an answer. A number is valid
//! only in its own session, so another tenant's object cannot be named. A released number may be used again. If an
//! object cannot be made (memory, quota), each operation that uses it fails.
//!
//! # Tasks
//! Operations gather into a task until a [`Command::Submit`], or an operation that says `submit`, closes it; a task
//! runs on the board without another tenant's in between (BlastFunction, section III-B).
//!
//! # Bytes
//! A message is a [`Command`] or [`Reply`] as postcard writes it and then, for those that say so, the *tail*: raw bytes
//! up to the message's end. More than [`INLINE_MAX`] bytes go as bulk.
#![deny(unsafe_code)]

mod board;
mod clock;
mod command;
mod image;
mod message;
mod op;
mod reply;

pub use board::{BoardInfo, Limits};
pub use clock::now_ns;
pub use command::{Command, EventId, Form};
pub use image::{Area, Image, ImageFormat};
pub use message::{
    COMMAND, Malformed, REPLY, decode_command, decode_op, decode_reply, encode_command, encode_op, encode_reply,
};
pub use op::{Argument, Id, Op, Payload, Place, Rect};
pub use reply::{Answer, ArgumentInfo, Build, KernelInfo, Reply, Times, WorkGroup};

/// This version of the messages. Both sides must speak the same one.
pub const VERSION: u32 = 7;

/// Longest tail: what is longer goes as bulk, for a copy through a ring costs more than a reference from some KiB on.
pub const INLINE_MAX: usize = 16 * 1024;

/// Most bytes that the kernels of a task may print; what is beyond them is lost.
pub const PRINTED_MAX: u64 = 16 << 20;

/// Longest text of a build's log; the end of a longer one is cut off.
pub const LOG_MAX: usize = 32 * 1024;
