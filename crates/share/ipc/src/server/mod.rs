//! The daemon's end of channels: one listener, and a handle for each client.

mod acceptor;
mod arenas;
mod bulk;
mod config;
mod core;
mod greeting;
mod handover;
mod peer;
mod relay;
mod resume;
mod seats;
mod shm;
mod store;
mod tcp;
mod watch;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Instant;

use rackloom_sync::lock;
use rustix::event::EventfdFlags;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use self::acceptor::Acceptor;
pub use self::bulk::{Arena, Given, Taken};
pub use self::config::{Grant, Identity, Receipt, ServerConfig};
pub use self::handover::Handover;
pub use self::peer::Peer;
pub use self::seats::Tenant;
use crate::endpoint::{Endpoint, TlsAddress};
use crate::error::{ChannelError, Closed};
use crate::shared;

/// Listens until dropped; connected clients stay.
#[derive(Debug)]
pub struct Server {
    ready: Mutex<Receiver<Peer>>,
    endpoint: Endpoint,
    path: Option<PathBuf>,
    stop: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts to listen. The socket file of a dead server is replaced; over TCP, port 0 selects a free port. An
    /// endpoint within TLS has an IP address for its host, and no pin: that follows from [`ServerConfig::tls`].
    ///
    /// # Errors
    /// The address is in use, the limits are invalid, or the system refuses; over TLS: nothing says who the server is.
    pub fn bind(to: &Endpoint, mut config: ServerConfig) -> Result<Self, ChannelError> {
        if !shared::ring_bytes_ok(config.limits.ring_bytes) {
            let source = io::Error::new(io::ErrorKind::InvalidInput, "rings of 128 KiB to 1 GiB, powers of two");
            return Err(ChannelError::io("make rings of that size")(source));
        }
        let (listener, endpoint, tls) = match to {
            Endpoint::Unix(path) => (listen(path)?, to.clone(), None),
            Endpoint::Tcp(address) => {
                let (listener, address) = listen_tcp(*address)?;
                (listener, Endpoint::Tcp(address), None)
            }
            Endpoint::Tls(wanted) => {
                let invalid = |why| ChannelError::io("listen")(io::Error::new(io::ErrorKind::InvalidInput, why));
                let ip = wanted.ip().filter(|_| wanted.pin.is_none());
                let ip = ip.ok_or_else(|| invalid("the host must be an IP address, without the digest of a key"))?;
                let tls = config.tls.take().ok_or_else(|| invalid("there is no certificate for TLS"))?;
                let (listener, address) = listen_tcp((ip, wanted.port).into())?;
                let address = TlsAddress { host: ip.to_string(), port: address.port(), pin: tls.pin() };
                (listener, Endpoint::Tls(address), Some(tls))
            }
        };
        let stop = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        let stop = Arc::new(stop.map_err(|e| ChannelError::io("make an event")(e.into()))?);
        let (send, ready) = std::sync::mpsc::sync_channel(config.clients_max);
        let acceptor = Acceptor::new(listener, to.is_network(), tls, config, Arc::clone(&stop), send);
        let thread = std::thread::Builder::new().name("ipc-accept".into()).spawn(move || acceptor.run());
        let thread = thread.map_err(ChannelError::io("start a thread"))?;
        let path = if let Endpoint::Unix(path) = to { Some(path.clone()) } else { None };
        Ok(Self { ready: Mutex::new(ready), endpoint, path, stop, thread: Some(thread) })
    }

    /// The address it listens at, with the selected port; over TLS with the digest of its key if programs know it by
    /// that.
    #[must_use]
    pub const fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The next client that was greeted and admitted; `None` when the time has passed.
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

    /// Ends the acceptor, and a waiting call of [`Self::accept`].
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

fn listen_tcp(address: SocketAddr) -> Result<(OwnedFd, SocketAddr), ChannelError> {
    let listener = TcpListener::bind(address).map_err(ChannelError::io("listen"))?;
    let address = listener.local_addr().map_err(ChannelError::io("ask for the port"))?;
    listener.set_nonblocking(true).map_err(ChannelError::io("set up the listener"))?;
    Ok((listener.into(), address))
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
            // Nobody listens: a killed server left it behind.
            rustix::fs::unlink(path).map_err(fail("remove an old socket"))?;
            rustix::net::bind(&sock, &address).map_err(fail("listen"))?;
        }
        other => other.map_err(fail("listen"))?,
    }
    rustix::net::listen(&sock, BACKLOG).map_err(fail("listen"))?;
    Ok(sock)
}

/// Connections that the system queues until they are accepted.
const BACKLOG: i32 = 64;
