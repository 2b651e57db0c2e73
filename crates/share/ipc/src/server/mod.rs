//! The daemon's end: one listener, and a handle for each client.

mod acceptor;
mod arenas;
mod bulk;
mod handover;
mod peer;
mod shm;
mod tcp;
mod watch;

use std::fmt;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Instant;

use rustix::event::EventfdFlags;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use self::acceptor::Acceptor;
pub use self::bulk::{Given, Taken};
pub use self::handover::Handover;
pub use self::peer::Peer;
use crate::client::lock;
use crate::endpoint::Endpoint;
use crate::error::{ChannelError, Closed};
use crate::hello::Token;
use crate::limits::{CLIENTS_MAX, Limits};
use crate::shared;

/// Who a client is, as the system says, not the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Identity {
    /// A process of this node.
    Unix {
        /// Its number; 0 if it is in a namespace that we cannot see.
        pid: u32,
        /// Its user.
        uid: u32,
        /// Its group.
        gid: u32,
    },
    /// A connection from a node.
    Tcp {
        /// Where it comes from.
        from: SocketAddr,
    },
}

type Admit = dyn Fn(&Token, &Identity) -> bool + Send + Sync;
/// Whether a client that holds so many bytes of arenas (last) may have so many more (before).
pub type Grant = dyn Fn(&Token, &Identity, u64, u64) -> bool + Send + Sync;

/// How to serve.
pub struct ServerConfig {
    /// What each client is granted at most.
    pub limits: Limits,
    /// Clients at a time, until their handles are dropped; more are refused. Each is a thread of the server's user at
    /// least, and three files.
    pub clients_max: usize,
    /// Whether a client may connect. Compare tokens with [`ServerConfig::same_token`]. Called by the acceptor's thread,
    /// which serves all: it must not wait.
    pub admit: Box<Admit>,
    /// Whether a client that holds so many bytes of arenas (last) may have so many more (before): asked within the
    /// limits, by the thread that receives from this client.
    pub grant: Box<Grant>,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            clients_max: CLIENTS_MAX,
            admit: Box::new(|_, _| true),
            grant: Box::new(|_, _, _, _| true),
        }
    }
}

impl fmt::Debug for ServerConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { limits, clients_max, .. } = self;
        f.debug_struct("ServerConfig").field("limits", limits).field("clients_max", clients_max).finish_non_exhaustive()
    }
}

impl ServerConfig {
    /// Whether two tokens are the same, in a time that does not say where they differ.
    #[must_use]
    pub fn same_token(a: &Token, b: &Token) -> bool {
        crate::hello::same_token(a, b)
    }
}

/// Listens until dropped. Clients that are connected then stay.
#[derive(Debug)]
pub struct Server {
    ready: Mutex<Receiver<Peer>>,
    endpoint: Endpoint,
    path: Option<PathBuf>,
    stop: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Begins to listen. A socket file whose server is gone is replaced; over TCP, port 0 chooses one.
    ///
    /// # Errors
    /// Somebody listens there already, the limits are impossible, or the system refuses.
    pub fn bind(to: &Endpoint, config: ServerConfig) -> Result<Self, ChannelError> {
        if !shared::ring_bytes_ok(config.limits.ring_bytes) {
            let source =
                std::io::Error::new(std::io::ErrorKind::InvalidInput, "rings of 128 KiB to 1 GiB, powers of two");
            return Err(ChannelError::io("make rings of that size")(source));
        }
        let (listener, endpoint) = match to {
            Endpoint::Unix(path) => (listen(path)?, to.clone()),
            Endpoint::Tcp(address) => {
                let listener = TcpListener::bind(address).map_err(ChannelError::io("listen"))?;
                let address = listener.local_addr().map_err(ChannelError::io("ask for the port"))?;
                listener.set_nonblocking(true).map_err(ChannelError::io("set up the listener"))?;
                (listener.into(), Endpoint::Tcp(address))
            }
        };
        let stop = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        let stop = Arc::new(stop.map_err(|e| ChannelError::io("make an event")(e.into()))?);
        let (send, ready) = std::sync::mpsc::sync_channel(config.clients_max);
        let is_tcp = matches!(to, Endpoint::Tcp(_));
        let acceptor = Acceptor::new(listener, is_tcp, config, Arc::clone(&stop), send);
        let thread = std::thread::Builder::new().name("channel-accept".into()).spawn(move || acceptor.run());
        let thread = thread.map_err(ChannelError::io("start a thread"))?;
        let path = if let Endpoint::Unix(path) = to { Some(path.clone()) } else { None };
        Ok(Self { ready: Mutex::new(ready), endpoint, path, stop, thread: Some(thread) })
    }

    /// Where it listens; with the port that was chosen.
    #[must_use]
    pub const fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The next client that has greeted and was admitted; none when the time is over.
    ///
    /// # Errors
    /// The listener has failed.
    pub fn accept(&self, deadline: Option<Instant>) -> Result<Option<Peer>, ChannelError> {
        let ready = lock(&self.ready);
        let got = match deadline {
            None => ready.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(at) => ready.recv_timeout(at.saturating_duration_since(Instant::now())),
        };
        match got {
            Ok(peer) => Ok(Some(peer)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(Closed::Here.into()),
        }
    }

    /// Makes the acceptor, and a call of [`Self::accept`] that waits, return.
    pub fn stop(&self) {
        let _ = rustix::io::write(&*self.stop, &1u64.to_ne_bytes());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        if let Some(path) = &self.path {
            let _ = std::fs::remove_file(path);
        }
    }
}

fn listen(path: &Path) -> Result<OwnedFd, ChannelError> {
    let fail = |what| move |e: Errno| ChannelError::io(what)(e.into());
    let address = SocketAddrUnix::new(path).map_err(fail("name the socket"))?;
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let make = || rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None);
    let sock = make().map_err(fail("make a socket"))?;
    match rustix::net::bind(&sock, &address) {
        Err(Errno::ADDRINUSE) => {
            let probe = make().map_err(fail("make a socket"))?;
            if rustix::net::connect(&probe, &address) != Err(Errno::CONNREFUSED) {
                return Err(fail("listen")(Errno::ADDRINUSE));
            }
            // Nobody listens: left by a server that was killed.
            rustix::fs::unlink(path).map_err(fail("remove an old socket"))?;
            rustix::net::bind(&sock, &address).map_err(fail("listen"))?;
        }
        other => other.map_err(fail("listen"))?,
    }
    rustix::net::listen(&sock, BACKLOG).map_err(fail("listen"))?;
    Ok(sock)
}

/// Connections that the system keeps until we take them.
const BACKLOG: i32 = 64;
