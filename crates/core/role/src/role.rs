//! The shape of a sandbox and of what runs in it.

use core::fmt;
use core::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use rackloom_image::{Kernel, Manifest};
use rackloom_node::Instant;

use crate::{Memory, MemoryError, RoleError};

/// Turns the parts of one target into roles. One sandbox serves all cards of a process.
pub trait Sandbox: fmt::Debug + Send + Sync {
    /// Tag of the part it takes.
    fn target(&self) -> &'static str;

    /// Reserves `bytes` of memory, all zero, in which roles of this sandbox can run: a multiple of
    /// [`PAGE_BYTES`](crate::PAGE_BYTES), at most [`MEMORY_BYTES_MAX`](crate::MEMORY_BYTES_MAX).
    ///
    /// # Errors
    /// [`MemoryError::Size`] and [`MemoryError::Os`].
    fn memory(&self, bytes: u64) -> Result<Arc<dyn Memory>, MemoryError>;

    /// Checks and compiles `part` for a card with `memory` bytes of memory. Everything that can be wrong with an image
    /// shows here; the card's memory and its present role are not touched.
    fn prepare(&self, manifest: &Manifest, part: &[u8], memory: u64) -> Result<Box<dyn Prepared>, RoleError>;

    /// The same for a part of `length` bytes that does not lie in one piece: `read` fetches ranges of it. A sandbox
    /// that does not need all of a part fetches what it needs.
    fn prepare_with(
        &self,
        manifest: &Manifest,
        length: usize,
        read: &dyn Fn(Range<usize>) -> Vec<u8>,
        memory: u64,
    ) -> Result<Box<dyn Prepared>, RoleError> {
        self.prepare(manifest, &read(0..length), memory)
    }
}

/// A role that is ready to take its place.
pub trait Prepared: fmt::Debug + Send {
    /// Zeroes the role's private part of `memory`, places its constants there, and makes it ready to run. What lies
    /// from [`ROLE_PRIVATE`](crate::ROLE_PRIVATE) on keeps its contents.
    ///
    /// `memory` is one that the same sandbox made, of the size that was prepared for.
    ///
    /// # Errors
    /// No image causes one here: only a host out of memory does.
    fn activate(self: Box<Self>, memory: &Arc<dyn Memory>) -> Result<Box<dyn Role>, RoleError>;
}

/// A role on a card. It runs one kernel at a time, and it may lead a life of its own beside that.
///
/// Kernels: [`start`](Self::start), then [`step`](Self::step) until it returns something other than
/// [`Step::Running`]; [`cancel`](Self::cancel) at any time.
///
/// Life: messages come in on streams ([`handle_message`](Self::handle_message)), messages and events go out
/// ([`poll`](Self::poll)), whether a kernel runs or not. The law is that of [`Node`](rackloom_node::Node): after each
/// call that may change the role, call `poll` until it returns `None`, then wait for
/// [`next_deadline`](Self::next_deadline) at most. A role that only has kernels leaves all of this out.
pub trait Role: fmt::Debug + Send {
    /// The kernels, in the order by which `start` numbers them.
    fn kernels(&self) -> &[Kernel];

    /// Begins a kernel; nothing of it runs before the first `step`. `args` has one word for each of the kernel's
    /// arguments. `bound` is the most role clock cycles it may take; 0, or more than the sandbox's own bound: that one.
    fn start(&mut self, kernel: usize, args: &[u64], bound: u64) -> Result<(), RoleError>;

    /// Runs the present kernel for one slice.
    ///
    /// # Panics
    /// If no kernel was started.
    fn step(&mut self) -> Step;

    /// Ends the present kernel, if there is one, between two slices. What it wrote to DDR stays. Yields a
    /// [`Step::Failed`] with [`RoleFault::Cancelled`] and the cycles so far, to a slice.
    fn cancel(&mut self) -> Option<Step>;

    /// The next access to another node's memory that the present kernel has begun, or `None`. Each has to end with a
    /// call of [`handle_remote`](Self::handle_remote).
    fn poll_remote(&mut self) -> Option<RemoteAccess> {
        None
    }

    /// An access to another node's memory has ended: with the bytes that were read, if it was a read. One that is no
    /// longer wanted is not missed.
    fn handle_remote(&mut self, _number: u32, _result: Result<Bytes, RemoteFault>) {}

    /// Its claim is over: the present kernel ends, and so does what the role does beside kernels. It is as it was after
    /// activation, its private memory as well, and goes on with the next launch or message.
    fn reset(&mut self) {
        self.cancel();
    }

    /// Number of streams, which are numbered from 0. Each carries messages in and out.
    fn streams(&self) -> u8 {
        0
    }

    /// A message has arrived on `stream`. Bounded work.
    ///
    /// # Errors
    /// The role does not take the message, which is then lost; whoever needs it sends it again.
    fn handle_message(&mut self, _now: Instant, _stream: u8, _message: Bytes) -> Result<(), StreamError> {
        Err(StreamError::Unknown)
    }

    /// The role's deadline has come. Harmless when called early. Bounded work.
    fn handle_timeout(&mut self, _now: Instant) {}

    /// The next thing that the role wants done, or `None`: nothing until the next call or deadline.
    fn poll(&mut self, _now: Instant) -> Option<RoleOutput> {
        None
    }

    /// When [`handle_timeout`](Self::handle_timeout) is wanted.
    fn next_deadline(&self) -> Option<Instant> {
        None
    }
}

/// What a role wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoleOutput {
    /// Send this message on this stream.
    Message {
        /// Number of the stream.
        stream: u8,
        /// The message's bytes.
        message: Bytes,
    },
    /// Report this word, whose meaning is the role's, to the card's owner.
    Event(u64),
}

/// Why a role does not take a message.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq, Eq)]
pub enum StreamError {
    /// It has no such stream.
    #[error("the role has no such stream")]
    Unknown,
    /// The stream's queue is full.
    #[error("the stream's queue is full")]
    Full,
    /// The message is longer than the role's longest.
    #[error("the message is longer than the role takes")]
    TooLong,
}

/// An access of a kernel to the memory of another node: of the one to which a stream is routed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteAccess {
    /// The role's number for it; no two under way have the same.
    pub number: u32,
    /// Number of the stream.
    pub stream: u8,
    /// First address, as the other node counts.
    pub addr: u64,
    /// What to do there.
    pub work: RemoteWork,
}

/// What an access does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemoteWork {
    /// Read so many bytes, 1 to [`REMOTE_BYTES_MAX`](crate::REMOTE_BYTES_MAX).
    Read(u32),
    /// Write these bytes, as many.
    Write(Bytes),
}

/// Why an access to another node's memory was not carried out, or may not have been.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RemoteFault {
    /// The stream has no route: the card's owner has not said whose memory it leads to.
    #[error("the stream has no route")]
    NoRoute,
    /// The other node refuses, and nothing was done: it has no window there for this card, or not that right.
    #[error("the node refuses: it has no such window for this card")]
    Refused,
    /// The other node does not answer, or has started anew: it was done once, or not at all.
    #[error("the node is gone")]
    Gone,
    /// The card has too many accesses or nodes in use; nothing was done.
    #[error("too many accesses are under way")]
    Busy,
}

/// Where a kernel is after a slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// It needs another slice.
    Running,
    /// It waits for another node's memory: it needs a slice after the next [`Role::handle_remote`].
    Waiting,
    /// It has returned.
    Done {
        /// What it returned.
        value: u64,
        /// Role clock cycles it took.
        cycles: u64,
    },
    /// It was ended. The role takes the next launch, for which its private memory is as it was after activation.
    Failed {
        /// Why.
        fault: RoleFault,
        /// The same for people, one line.
        text: String,
        /// Role clock cycles until then.
        cycles: u64,
    },
}

/// Why a kernel was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoleFault {
    /// Cancelled from outside.
    Cancelled,
    /// It ran longer than its bound.
    Fuel,
    /// Out of bounds, division by zero, unreachable, stack overflow.
    Trap,
    /// An access to another node's memory went wrong.
    Remote,
}

impl RoleFault {
    /// The protocol's error code for this, as tools print it.
    pub fn code_name(self) -> &'static str {
        match self {
            Self::Cancelled => "cancelled",
            Self::Fuel => "kernel-fuel",
            Self::Trap => "kernel-trap",
            Self::Remote => "kernel-remote",
        }
    }
}
