//! The server's handle of one client.

use std::sync::Arc;
use std::time::Instant;

use super::bulk::{Given, Taken};
use super::config::Identity;
use super::core::{Link, PeerCore};
use crate::batch::Batch;
use crate::bulkref::BulkRef;
use crate::control::RESERVED;
use crate::error::{ChannelError, Closed};
use crate::hello::Token;
use crate::ring::BODY_MAX;

/// One client's channel; closed when dropped. One thread receives; any sends.
#[derive(Debug)]
pub struct Peer {
    pub(super) core: Arc<PeerCore>,
}

impl Peer {
    pub(super) const fn new(core: Arc<PeerCore>) -> Self {
        Self { core }
    }

    /// Who the client is, according to the operating system.
    #[must_use]
    pub fn identity(&self) -> Identity {
        self.core.identity
    }

    /// The token that the client presented.
    #[must_use]
    pub fn token(&self) -> &Token {
        &self.core.token
    }

    /// Appends messages to `out`; waits for the first until the deadline, and returns 0 when it has passed. Messages
    /// that arrived before the client's end are still returned.
    ///
    /// # Errors
    /// The channel is closed: the client is gone, broke the rules, or did not read.
    pub fn recv(&self, deadline: Option<Instant>, out: &mut Batch) -> Result<usize, ChannelError> {
        let core = &self.core;
        let got = match &core.link {
            Link::Shm(link) => link.recv(core, deadline, out),
            Link::Tcp(link) => link.recv(core, deadline, out),
        };
        got.map_err(|why| core.close(why).into())
    }

    /// Sends a message without waiting: what the client does not take now is queued, up to the limits.
    ///
    /// # Errors
    /// The message is too long, or its kind is reserved; the channel is closed, or is closed now because the queue is
    /// full ([`Closed::Overflow`]).
    pub fn send(&self, kind: u32, body: &[u8]) -> Result<(), ChannelError> {
        if kind >= RESERVED {
            return Err(ChannelError::ReservedKind(kind));
        }
        if body.len() > BODY_MAX {
            return Err(ChannelError::TooLong { len: body.len() });
        }
        let core = &*self.core;
        if let Some(why) = core.closed() {
            return Err(why.into());
        }
        let sent = match &core.link {
            Link::Shm(link) => link.send(core, kind, body),
            Link::Tcp(link) => link.send(core, kind, body),
        };
        sent.map_err(|why| core.close(why).into())
    }

    /// Sends messages of one kind, and wakes the client once for all of them; otherwise like [`Self::send`].
    ///
    /// # Errors
    /// As for [`Self::send`].
    pub fn send_all(&self, kind: u32, bodies: &[Vec<u8>]) -> Result<(), ChannelError> {
        if let [body] = bodies {
            return self.send(kind, body);
        }
        if kind >= RESERVED {
            return Err(ChannelError::ReservedKind(kind));
        }
        if let Some(long) = bodies.iter().find(|body| body.len() > BODY_MAX) {
            return Err(ChannelError::TooLong { len: long.len() });
        }
        let core = &*self.core;
        if let Some(why) = core.closed() {
            return Err(why.into());
        }
        let sent = match &core.link {
            Link::Shm(link) => link.send_all(core, kind, bodies),
            Link::Tcp(link) => link.send_all(core, kind, bodies),
        };
        sent.map_err(|why| core.close(why).into())
    }

    /// The bytes of the client that a message's reference names. Over TCP this waits until the deadline for bytes still
    /// in transit: call it on the thread that receives from this client, so that nobody else waits.
    ///
    /// # Errors
    /// The reference is not one of this client ([`ChannelError::BadReference`]), the deadline has passed, or the
    /// channel is closed.
    pub fn take(&self, what: &BulkRef, deadline: Option<Instant>) -> Result<Taken, ChannelError> {
        self.core.check_ours()?;
        match &self.core.link {
            _ if what.is_empty() => Ok(Taken::empty()),
            Link::Shm(link) => link.find(what).map(Taken::shared),
            Link::Tcp(link) => link.take(&self.core, what, deadline),
        }
    }

    /// The place for bytes that the client expects, as a message's reference names it.
    ///
    /// # Errors
    /// The reference is not one of this client ([`ChannelError::BadReference`]), or exceeds its quota.
    pub fn give(&self, what: &BulkRef) -> Result<Given, ChannelError> {
        self.core.check_ours()?;
        match &self.core.link {
            _ if what.is_empty() => Ok(Given::empty()),
            Link::Shm(link) => link.find(what).map(Given::shared),
            Link::Tcp(link) => link.give(&self.core, what),
        }
    }

    /// Bytes of bulk that the client holds here.
    #[must_use]
    pub fn bulk_bytes(&self) -> u64 {
        match &self.core.link {
            Link::Shm(link) => link.bulk_bytes(),
            Link::Tcp(link) => link.bulk_bytes(),
        }
    }

    /// Bytes of messages that are queued because the client has not read those before; moves on what it has room for.
    #[must_use]
    pub fn unread(&self) -> usize {
        let core = &*self.core;
        let unread = match &core.link {
            Link::Shm(link) => link.unread(),
            Link::Tcp(link) => link.unread(),
        };
        unread.unwrap_or_else(|why| {
            core.close(why);
            0
        })
    }

    /// Why the channel is closed, if it is.
    #[must_use]
    pub fn closed(&self) -> Option<Closed> {
        self.core.closed()
    }

    /// Closes the channel; waiting calls return.
    pub fn close(&self) {
        self.core.close(Closed::Here);
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.core.close(Closed::Here);
        self.core.join();
    }
}
