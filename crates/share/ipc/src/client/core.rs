//! What all handles of one client share.

use std::sync::OnceLock;
use std::time::Instant;

use super::dispatch::Dispatcher;
use super::handler::Handler;
use super::shm::ShmLink;
use super::tcp::TcpLink;
use crate::batch::Batch;
use crate::control::RESERVED;
use crate::error::{ChannelError, Closed};
use crate::ring::BODY_MAX;
use crate::sys::fork::Owner;

/// A connection, the dispatch of its messages, and their handler.
pub(super) struct Core {
    owner: Owner,
    closed: OnceLock<Closed>,
    pub(super) dispatcher: Dispatcher,
    pub(super) link: Link,
    pub(super) handler: Box<dyn Handler>,
}

impl std::fmt::Debug for Core {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Core").field("closed", &self.closed).field("link", &self.link).finish_non_exhaustive()
    }
}

/// One of the transports.
#[derive(Debug)]
pub(super) enum Link {
    Shm(ShmLink),
    Tcp(TcpLink),
}

impl Core {
    pub(super) fn new(link: Link, handler: Box<dyn Handler>) -> Self {
        Self { owner: Owner::here(), closed: OnceLock::new(), dispatcher: Dispatcher::default(), link, handler }
    }

    pub(super) fn closed(&self) -> Option<Closed> {
        self.closed.get().copied()
    }

    /// Whether this process may use it at all, and whether it is open.
    pub(super) fn check(&self) -> Result<(), ChannelError> {
        if !self.owner.is_here() {
            return Err(ChannelError::Forked);
        }
        self.closed().map_or(Ok(()), |why| Err(why.into()))
    }

    pub(super) fn is_ours(&self) -> bool {
        self.owner.is_here()
    }

    /// Closes for this reason, unless it is closed already, and wakes all waiters.
    pub(super) fn close(&self, why: Closed) {
        if self.closed.set(why).is_ok() {
            self.link.shut();
            self.dispatcher.wake_all();
        }
    }

    pub(super) fn send(&self, kind: u32, body: &[u8]) -> Result<(), ChannelError> {
        if kind >= RESERVED {
            return Err(ChannelError::ReservedKind(kind));
        }
        self.send_any(kind, body)
    }

    pub(super) fn send_any(&self, kind: u32, body: &[u8]) -> Result<(), ChannelError> {
        self.check_message(body)?;
        self.judge(match &self.link {
            Link::Shm(link) => link.send(self, kind, body),
            Link::Tcp(link) => link.send(self, kind, body),
        })
    }

    pub(super) fn send_later(&self, kind: u32, body: &[u8]) -> Result<(), ChannelError> {
        let Link::Tcp(link) = &self.link else { return self.send(kind, body) };
        if kind >= RESERVED {
            return Err(ChannelError::ReservedKind(kind));
        }
        self.check_message(body)?;
        self.judge(link.send_later(self, kind, body))
    }

    /// Sends what was kept. If that fails, the channel is closed, as all who use it learn.
    pub(super) fn flush(&self) {
        if let Link::Tcp(link) = &self.link {
            let _ = self.judge(link.flush(self));
        }
    }

    fn check_message(&self, body: &[u8]) -> Result<(), ChannelError> {
        self.check()?;
        if body.len() > BODY_MAX { Err(ChannelError::TooLong { len: body.len() }) } else { Ok(()) }
    }

    /// Closes the channel if sending has failed.
    fn judge(&self, sent: Result<(), Closed>) -> Result<(), ChannelError> {
        sent.map_err(|why| {
            self.close(why);
            ChannelError::Closed(self.closed().unwrap_or(why))
        })
    }
}

impl Link {
    /// A leader begins.
    pub(super) fn enter(&self) {
        if let Self::Shm(link) = self {
            link.enter();
        }
    }

    /// Whether a new leader waits before it looks.
    pub(super) fn waits_first(&self) -> bool {
        match self {
            Self::Shm(_) => false,
            Self::Tcp(link) => link.waits_first(),
        }
    }

    /// Takes what has arrived, without waiting.
    pub(super) fn drain(&self, batch: &mut Batch) -> Result<(), Closed> {
        match self {
            Self::Shm(link) => link.drain(batch),
            Self::Tcp(link) => link.drain(batch),
        }
    }

    /// The leader sleeps until something may have arrived.
    pub(super) fn sleep(&self, core: &Core, deadline: Option<Instant>) {
        match self {
            Self::Shm(link) => link.sleep(core, deadline),
            Self::Tcp(link) => link.sleep(core, deadline),
        }
    }

    /// The leader leaves, and nobody follows.
    pub(super) fn leave(&self) {
        match self {
            Self::Shm(link) => link.leave(),
            Self::Tcp(link) => link.leave(),
        }
    }

    /// Ends the connection, and wakes the threads that sleep on it.
    fn shut(&self) {
        match self {
            Self::Shm(link) => link.shut(),
            Self::Tcp(link) => link.shut(),
        }
    }
}
