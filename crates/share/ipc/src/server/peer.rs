//! One client, as the daemon holds it.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::JoinHandle;
use std::time::Instant;

use super::bulk::{Given, Taken};
use super::shm::ShmPeer;
use super::tcp::TcpPeer;
use super::{Grant, Identity};
use crate::batch::Batch;
use crate::bulkref::BulkRef;
use crate::client::lock;
use crate::error::{ChannelError, Closed};
use crate::frame::RESERVED;
use crate::hello::Token;
use crate::limits::Limits;
use crate::ring::BODY_MAX;

/// One client's channel; closed when dropped. One thread receives; any sends.
#[derive(Debug)]
pub struct Peer {
    pub(super) core: Arc<PeerCore>,
}

/// What the handle, the acceptor and the threads of a client share.
pub(super) struct PeerCore {
    pub(super) identity: Identity,
    pub(super) token: Token,
    pub(super) limits: Limits,
    pub(super) grant: Arc<Box<Grant>>,
    closed: OnceLock<Closed>,
    /// Who watches has seen the end.
    told: AtomicBool,
    /// Another process serves the client. Only changed while the link's locks are held.
    handed_over: AtomicBool,
    /// End with the channel; the handle waits for them.
    threads: Mutex<Vec<JoinHandle<()>>>,
    pub(super) link: Link,
    _seat: Option<Seat>,
}

impl std::fmt::Debug for PeerCore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PeerCore")
            .field("identity", &self.identity)
            .field("closed", &self.closed)
            .field("handed_over", &self.handed_over)
            .finish_non_exhaustive()
    }
}

/// One of the transports.
#[derive(Debug)]
pub(super) enum Link {
    Shm(Box<ShmPeer>),
    Tcp(Arc<TcpPeer>),
}

/// A place among the clients that the server takes; free again when all of the client is gone.
#[derive(Debug)]
pub(super) struct Seat(Arc<AtomicUsize>);

impl Seat {
    /// Takes one, if there is any.
    pub(super) fn take(taken: &Arc<AtomicUsize>, most: usize) -> Option<Self> {
        let got = taken.fetch_update(Ordering::AcqRel, Ordering::Acquire, |n| (n < most).then_some(n + 1));
        got.is_ok().then(|| Self(Arc::clone(taken)))
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl PeerCore {
    pub(super) fn new(
        identity: Identity,
        token: Token,
        limits: Limits,
        grant: Arc<Box<Grant>>,
        link: Link,
        seat: Option<Seat>,
    ) -> Self {
        Self {
            identity,
            token,
            limits,
            grant,
            closed: OnceLock::new(),
            told: AtomicBool::new(false),
            handed_over: AtomicBool::new(false),
            threads: Mutex::default(),
            link,
            _seat: seat,
        }
    }

    pub(super) fn closed(&self) -> Option<Closed> {
        self.closed.get().copied()
    }

    pub(super) fn is_told(&self) -> bool {
        self.told.load(Ordering::Relaxed)
    }

    pub(super) fn set_told(&self) {
        self.told.store(true, Ordering::Relaxed);
    }

    /// Whether the connection is ours to use: it is not any more when another process serves the client. To be asked
    /// with a lock of the link held, which then keeps it so.
    pub(super) fn ours(&self) -> Result<(), Closed> {
        if self.is_handed_over() { Err(Closed::HandedOver) } else { Ok(()) }
    }

    fn is_handed_over(&self) -> bool {
        self.handed_over.load(Ordering::Acquire)
    }

    /// From here on the connection is another process's. All locks of the link must be held.
    pub(super) fn set_handed_over(&self) {
        self.handed_over.store(true, Ordering::Release);
    }

    /// The client of another process is gone. It is left to that one to shut the connection, after it has read what
    /// came before the end.
    pub(super) fn set_gone(&self) {
        let _ = self.closed.set(Closed::PeerGone);
    }

    /// Starts a thread, which must end when the channel is closed.
    pub(super) fn spawn(self: &Arc<Self>, name: &str, run: impl FnOnce(&Arc<Self>) + Send + 'static) -> io::Result<()> {
        let core = Arc::clone(self);
        let thread = std::thread::Builder::new().name(name.into()).spawn(move || run(&core))?;
        lock(&self.threads).push(thread);
        Ok(())
    }

    /// Closes for this reason, unless it is closed already, and wakes all who wait; what is the reason then.
    pub(super) fn close(&self, why: Closed) -> Closed {
        if why == Closed::HandedOver {
            return why; // What failed is a call; the channel goes on.
        }
        // A client that another process serves has its connection shut here even if it seemed gone.
        if self.closed.set(why).is_ok() || self.is_handed_over() {
            match &self.link {
                Link::Shm(link) => link.shut(),
                Link::Tcp(link) => link.shut(),
            }
        }
        self.closed().unwrap_or(why)
    }
}

impl Peer {
    pub(super) const fn new(core: Arc<PeerCore>) -> Self {
        Self { core }
    }

    /// Who it is, as the system says.
    #[must_use]
    pub fn identity(&self) -> Identity {
        self.core.identity
    }

    /// The token that it showed and that was admitted.
    #[must_use]
    pub fn token(&self) -> &Token {
        &self.core.token
    }

    /// Adds messages to `out`, which it does not clear; waits for the first until the deadline. 0 when that is over.
    /// Messages that came before the client's end are still given.
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

    /// Sends a message, and never waits: what the client does not take now is queued up to the limits.
    ///
    /// # Errors
    /// The message is too long, or its kind reserved; the channel is closed, or has to be now because the queue is full
    /// ([`Closed::Overflow`]).
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

    /// The bytes that the client has put, as a message's reference names them. Over TCP this waits for bytes that are
    /// still on their way, until the deadline: call it on the thread that receives from this client, so that nobody
    /// else waits.
    ///
    /// # Errors
    /// The reference names nothing of this client ([`ChannelError::BadReference`]), the time is over, or the channel is
    /// closed.
    pub fn take(&self, what: &BulkRef, deadline: Option<Instant>) -> Result<Taken, ChannelError> {
        self.core.ours()?;
        match &self.core.link {
            _ if what.is_empty() => Ok(Taken::empty()),
            Link::Shm(link) => link.find(what).map(Taken::shared),
            Link::Tcp(link) => link.take(&self.core, what, deadline),
        }
    }

    /// The place for bytes that the client expects, as a message's reference names it.
    ///
    /// # Errors
    /// The reference names nothing of this client ([`ChannelError::BadReference`]), or more than it may have.
    pub fn give(&self, what: &BulkRef) -> Result<Given, ChannelError> {
        self.core.ours()?;
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

    /// Why the channel is closed, if it is.
    #[must_use]
    pub fn closed(&self) -> Option<Closed> {
        self.core.closed()
    }

    /// Closes the channel; a call that waits returns.
    pub fn close(&self) {
        self.core.close(Closed::Here);
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.core.close(Closed::Here);
        let threads = std::mem::take(&mut *lock(&self.core.threads));
        for thread in threads {
            let _ = thread.join();
        }
    }
}
