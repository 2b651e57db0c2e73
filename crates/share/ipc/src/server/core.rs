//! What the threads of the server share about one client.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::JoinHandle;

use rackloom_sync::lock;

use super::config::{Grant, Identity};
use super::seats::Seat;
use super::shm::ShmPeer;
use super::tcp::TcpPeer;
use crate::error::Closed;
use crate::hello::Token;
use crate::limits::Limits;

/// What the handle, the acceptor and the threads of a client share.
pub(super) struct PeerCore {
    pub(super) identity: Identity,
    pub(super) token: Token,
    pub(super) limits: Limits,
    pub(super) grant: Arc<Box<Grant>>,
    closed: OnceLock<Closed>,
    /// The watching thread has seen the end.
    end_seen: AtomicBool,
    /// Another process serves the client. Only changed while the link's locks are held.
    handed_over: AtomicBool,
    /// Threads that end with the channel; the handle joins them.
    threads: Mutex<Vec<JoinHandle<()>>>,
    pub(super) link: Link,
    _seat: Option<Arc<Seat>>,
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

impl PeerCore {
    pub(super) fn new(
        identity: Identity,
        token: Token,
        limits: Limits,
        grant: Arc<Box<Grant>>,
        link: Link,
        seat: Option<Arc<Seat>>,
    ) -> Self {
        Self {
            identity,
            token,
            limits,
            grant,
            closed: OnceLock::new(),
            end_seen: AtomicBool::new(false),
            handed_over: AtomicBool::new(false),
            threads: Mutex::default(),
            link,
            _seat: seat,
        }
    }

    pub(super) fn closed(&self) -> Option<Closed> {
        self.closed.get().copied()
    }

    pub(super) fn is_end_seen(&self) -> bool {
        self.end_seen.load(Ordering::Relaxed)
    }

    pub(super) fn set_end_seen(&self) {
        self.end_seen.store(true, Ordering::Relaxed);
    }

    /// Whether this process may use the connection: not if another process serves the client. Ask with a lock of the
    /// link held, which keeps the answer valid.
    pub(super) fn check_ours(&self) -> Result<(), Closed> {
        if self.is_handed_over() { Err(Closed::HandedOver) } else { Ok(()) }
    }

    fn is_handed_over(&self) -> bool {
        self.handed_over.load(Ordering::Acquire)
    }

    /// Marks the connection as served by another process. All locks of the link must be held.
    pub(super) fn set_handed_over(&self) {
        self.handed_over.store(true, Ordering::Release);
    }

    /// The client, served by another process, is gone. That process shuts the connection, after it has read what came
    /// before the end.
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

    /// Joins the threads, once the channel is closed.
    pub(super) fn join(&self) {
        let threads = std::mem::take(&mut *lock(&self.threads));
        for thread in threads {
            let _ = thread.join();
        }
    }

    /// Closes for this reason, unless it is closed already, and wakes all waiters; returns the reason that counts.
    pub(super) fn close(&self, why: Closed) -> Closed {
        if why == Closed::HandedOver {
            return why; // Only a call failed; the channel stays open.
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
