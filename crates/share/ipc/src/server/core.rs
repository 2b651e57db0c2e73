//! What the threads of the server share about one client.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::JoinHandle;

use rackloom_sync::lock;

use super::config::{Grant, Identity};
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
    /// The thread that watches for the end has seen it.
    end_seen: AtomicBool,
    /// Another process serves the client. Only changed while the link's locks are held.
    handed_over: AtomicBool,
    /// End with the channel; the handle waits for them.
    threads: Mutex<Vec<JoinHandle<()>>>,
    pub(super) link: Link,
    _slot: Option<Slot>,
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
pub(super) struct Slot(Arc<AtomicUsize>);

impl Slot {
    /// Takes one, if there is any.
    pub(super) fn take(taken: &Arc<AtomicUsize>, most: usize) -> Option<Self> {
        let got = taken.fetch_update(Ordering::AcqRel, Ordering::Acquire, |n| (n < most).then_some(n + 1));
        got.is_ok().then(|| Self(Arc::clone(taken)))
    }
}

impl Drop for Slot {
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
        slot: Option<Slot>,
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
            _slot: slot,
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

    /// Whether the connection is ours to use: it is not any more when another process serves the client. To be asked
    /// with a lock of the link held, which then keeps it so.
    pub(super) fn check_ours(&self) -> Result<(), Closed> {
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

    /// Waits for the threads, once the channel is closed.
    pub(super) fn join(&self) {
        let threads = std::mem::take(&mut *lock(&self.threads));
        for thread in threads {
            let _ = thread.join();
        }
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
